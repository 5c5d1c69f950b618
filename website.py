# SPDX-License-Identifier: GPL-3.0-or-later
"""What MkDocs needs to know of this repository (mkdocs.yml): its README is the first page; sources have no page."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
PICTURE = re.compile(r"(!\[[^\]]*\]\()([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the README."""
    from mkdocs.structure.files import File

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "README.md", content=first_page(text)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Leave of a link to a file that is no page – a source, say – its words alone."""
    return LINK.sub(lambda link: kept(link, PurePosixPath(page.file.src_uri).parent), markdown)


def first_page(readme: str) -> str:
    """The README as a page of the folder docs."""
    inside = LINK.sub(lambda link: f"[{link[1]}]({within(link[2])})", readme)
    return PICTURE.sub(lambda picture: f"{picture[1]}{within(picture[2])})", inside)


def within(target: str) -> str:
    """Of a path from the repository's root the one from docs."""
    if ":" in target or target.startswith("#"):
        return target
    return target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"


def kept(link: re.Match[str], folder: PurePosixPath) -> str:
    """The link, or its words where it leads out of docs."""
    words, target = link[1], link[2]
    if ":" in target or target.startswith("#"):
        return link[0]
    depth = len(folder.parts)
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return words
    return link[0]
