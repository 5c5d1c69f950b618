# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of a page that are written anew between two marks, `<!-- table NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from pathlib import Path

SUBSPACE = Path(__file__).resolve().parents[1] / "docs" / "theory" / "subspace.md"


def put(page: Path, name: str, table: str) -> None:
    """Write the table of that name. Raises ValueError where the page has no place for it."""
    page.write_text(filled(page.read_text(encoding="utf-8"), name, table), encoding="utf-8")


def filled(text: str, name: str, table: str) -> str:
    """A page's text with the table in its place."""
    new, count = re.subn(
        rf"(<!-- table {name} -->\n).*?(<!-- end -->)",
        lambda marks: f"{marks[1]}{table}{marks[2]}",
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        raise ValueError(f"the page has {count} places for the table {name}")
    return new
