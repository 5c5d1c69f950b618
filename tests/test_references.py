# SPDX-License-Identifier: GPL-3.0-or-later
"""What the repository's files refer to is there: pages, their sections, links, and the paths that pages name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = re.compile(r"[\w./-]*?([\w-]+\.md)\b")
SECTION = re.compile(r"docs/theory/method\.md((?:,? §\d+)+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """Of a heading, as a browser of the repository makes it."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def test_every_page_that_is_named_is_there():
    names = {path.name for path in tracked("*.md")}
    files = tracked("*.py", "*.h", "*.md", "*.toml", "Makefile")
    missing = {(str(path.relative_to(ROOT)), name) for path in files for name in PAGE.findall(text(path))}
    assert sorted(pair for pair in missing if pair[1] not in names) == []


def test_every_section_of_the_method_that_is_cited_is_there():
    there = set(re.findall(r"^## (\d+) ", text(ROOT / "docs/theory/method.md"), re.MULTILINE))
    cited = {
        (str(path.relative_to(ROOT)), number)
        for path in tracked("*.py", "*.h", "*.md")
        for sections in SECTION.findall(text(path))
        for number in re.findall(r"\d+", sections)
    }
    assert cited
    assert sorted(pair for pair in cited if pair[1] not in there) == []


def test_every_link_of_a_page_leads_somewhere():
    broken = []
    for page in tracked("*.md"):
        for link in LINK.findall(text(page)):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, section = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            headings = re.findall(r"^#+ (.*)$", text(target), re.MULTILINE) if target.suffix == ".md" else []
            if not target.exists() or (section and section not in map(anchor, headings)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_every_path_that_the_architecture_names_is_there():
    page = text(ROOT / "docs/architecture.md")
    named = set(re.findall(r"`((?:addon|gpu_core|tests|benchmarks|sample_blends|docs)/[\w./]*)`", page))
    assert len(named) > 30
    assert sorted(name for name in named if "NAME" not in name and not (ROOT / name).exists()) == []
