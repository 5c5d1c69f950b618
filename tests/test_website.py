# SPDX-License-Identifier: GPL-3.0-or-later
"""`make site`: the README is the first page, what lies beside docs keeps its words alone, and no link leads nowhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from taffeta import website

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-site" / "bin" / "python"


def page(at: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=at))


def test_the_readme_s_links_are_those_of_a_page_in_docs():
    text = "[a](docs/manual/bake.md#cache) ![b](docs/pictures/x.png) [c](LICENSE) [d](#limits) [e](https://example.org)"
    assert website.first_page(text) == (
        "[a](manual/bake.md#cache) ![b](pictures/x.png) [c](../LICENSE) [d](#limits) [e](https://example.org)"
    )


@pytest.mark.parametrize(
    ("at", "text", "shown"),
    [
        ("manual/bake.md", "[a](live.md) [c](../../addon/x.py)", "[a](live.md) c"),
        ("manual/bake.md", "[a](../theory/ndb.md)", "[a](../theory/ndb.md)"),
        ("README.md", "[a](manual/bake.md#cache) [b](../LICENSE)", "[a](manual/bake.md#cache) b"),
        ("manual/messages/TAF-S001.md", "[a](../../theory/ndb.md)", "[a](../../theory/ndb.md)"),
    ],
)  # fmt: skip
def test_a_link_out_of_docs_keeps_its_words_alone(at, text, shown):
    assert website.on_page_markdown(text, page=page(at)) == shown


def test_every_page_of_the_manual_is_in_the_site_s_list():
    listed = set(re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {at for at in pages if not at.startswith("manual/messages/TAF-")} <= listed


@pytest.mark.skipif(not PYTHON.exists(), reason="`make site` has installed no generator here")
def test_the_site_is_built_and_strict_about_links(tmp_path):
    run = subprocess.run(
        [PYTHON, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "site" / "manual" / "messages" / "TAF-S001.html").is_file()
