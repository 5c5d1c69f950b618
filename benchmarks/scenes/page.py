# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/theory/scenes.md from results/*.json, as `speed.page` fills those of performance.md."""

from __future__ import annotations

from collections.abc import Sequence

from ...sample_blends import FETCHED, NAMES
from ..speed import page, results
from ..speed.page import Row, markdown
from ..speed.paper import TABLE
from . import peers, suite

PAGE = results.ROOT / "docs" / "theory" / "scenes.md"


def write() -> None:
    """Fill the page's tables."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.filled(text, results.every(), TABLES), encoding="utf-8")


def _suite(rows: Sequence[Row]) -> str:
    """Each scene's rows, then the paper's of the same; and which of the paper's we have no sample of."""
    lines = []
    for scene in dict.fromkeys(row["scene"] for row in rows):
        lines += [suite.cells(row) for row in rows if row["scene"] == scene]
        if (cells := suite.paper_cells(scene)) is not None:
            lines.append(cells)
    missing = [scene for scene in TABLE if scene not in (*NAMES, *FETCHED)]
    text = f"\nOf the paper's scenes there is no sample yet: {', '.join(missing)}.\n" if missing else ""
    return markdown(suite.COLUMNS, lines) + text


def _peers(rows: Sequence[Row]) -> str:
    return markdown(peers.COLUMNS, map(peers.cells, rows))


TABLES: page.Tables = {"scenes": _suite, "peers": _peers}
