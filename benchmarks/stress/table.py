# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of docs/theory/stress.md, made of results/stress.json."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .scenes import SCENES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "theory" / "stress.md"
BEGIN, END = "<!-- stress.json -->\n", "<!-- end -->\n"
HEAD = (
    "| scene | what is hard | vertices | frames | intersect | released frames | late, unfinished / steps | stretch "
    "| smallest gap, mm | Newton iterations / step | s / frame |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
)


def write(entries: list[dict[str, Any]]) -> None:
    """Put the table of `entries` (of stress.json) between the page's two marks."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(f"{BEGIN}.*{END}", page, re.DOTALL)
    if found is None:
        raise ValueError(f"{PAGE} has no {BEGIN.strip()} … {END.strip()}")
    PAGE.write_text(page[: found.start()] + BEGIN + markdown(entries) + END + page[found.end() :], encoding="utf-8")


def markdown(entries: list[dict[str, Any]]) -> str:
    """One row a scene, in the order of the suite; a line before it says where and of which commits the rows are."""
    order = list(SCENES)
    rows = sorted(entries, key=lambda e: (order.index(e["scene"]), e["vertices"], e["limit"] or 0.0, e["rubs"]))
    where = ", ".join(
        sorted({f"{row['processor']}, {row['threads']} thread(s), commit {row['commit']}" for row in rows})
    )
    return f"{where}.\n\n{HEAD}{''.join(_line(row) for row in rows)}"


def _line(row: dict[str, Any]) -> str:
    stress = SCENES[row["scene"]]
    hard = (stress.build.__doc__ or "").partition("\n")[0].rstrip(".")
    limit = f", limit {1.0 + row['limit']:g}" if row["limit"] else ""
    friction = ", yarn friction" if row["rubs"] else ""
    name = f"`{row['scene']}`{' (squeezes)' if stress.squeezes else ''}{limit}{friction}"
    frames = f"{row['frames_done']} of {row['frames']}" if row["cut_off"] else f"{row['frames']}"
    crossing = len(set(row["intersecting_exact"]) | set(row["intersecting_ipctk"]) | set(row["faults"]))
    cells = (
        name, hard, row["vertices"], frames, crossing, row["released_frames"],
        f"{row['late_steps']}, {row['unfinished_steps']} / {row['steps']}", f"{row['largest_stretch']:.3f}",
        f"{1e3 * row['smallest_gap']:.3f}", f"{row['iterations_per_step']:.1f}", f"{row['seconds_per_frame']:.2f}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |\n"
