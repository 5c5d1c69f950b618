# SPDX-License-Identifier: GPL-3.0-or-later
"""Another method beside Newton's, scene by scene in one run: results/stress_subspace.json, and a table of
docs/theory/subspace.md."""

from __future__ import annotations

from typing import Any

from .scenes import SCENES

HEAD = (
    "| scene | crossings | unfinished steps | longest edge | slowest ÷ median frame | iterations a step "
    "| whole run, s |\n"
    "|---|---|---|---|---|---|---|\n"
)


def table(entries: list[dict[str, Any]]) -> str:
    """One row for each scene that both methods have run, "subspace (Newton)" in its cells; then the totals."""
    by = {(row["scenario"], row["method"]): row for row in map(_named, entries)}
    order = [(scene, rubs) for rubs in (False, True) for scene in SCENES]
    pairs = [
        (by[key, "subspace"], by[key, "default"]) for key in order if (key, "subspace") in by and (key, "default") in by
    ]
    where = sorted(
        {f"{row['processor']}, {row['threads']} thread(s), commit {row['commit']}" for pair in pairs for row in pair}
    )
    head = f"{', '.join(where)}. {pairs[0][0]['vertices']} vertices or so; Newton in brackets.\n\n{HEAD}"
    return f"{head}{''.join(map(_line, pairs))}\n{_sum(pairs)}\n"


def _named(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "scenario": (row["scene"], row["rubs"])}


def crossings(row: dict[str, Any]) -> int:
    """Frames with a crossing that no report has named."""
    return len(set(row["intersecting_exact"]) | set(row["intersecting_ipctk"]) | set(row["faults"]))


def spread(row: dict[str, Any]) -> float:
    """The slowest frame over the median one."""
    return float(row["slowest_frame"] / max(row["median_frame"], 1e-9))


def seconds(row: dict[str, Any]) -> float:
    return float(row["seconds_per_frame"] * row["frames_done"])


def _line(pair: tuple[dict[str, Any], dict[str, Any]]) -> str:
    mine, newton = pair
    stress = SCENES[mine["scene"]]
    name = f"`{mine['scene']}`{' (squeezes)' if stress.squeezes else ''}{', yarn friction' if mine['rubs'] else ''}"
    if mine["cut_off"]:
        name += f", {mine['frames_done']} of {mine['frames']} frames"
    cells = (
        name,
        *(
            f"{show(mine)} ({show(newton)})"
            for show in (
                crossings,
                lambda row: f"{row['unfinished_steps']} of {row['steps']}",
                lambda row: f"{row['largest_stretch']:.3f}",
                lambda row: f"{spread(row):.1f}",
                lambda row: f"{row['iterations_per_step']:.1f}",
                lambda row: f"{seconds(row):.1f}",
            )
        ),
    )
    return f"| {' | '.join(cells)} |\n"


def _sum(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """What the table comes to."""
    roomy = [(mine, newton) for mine, newton in pairs if not SCENES[mine["scene"]].squeezes]
    parts = []
    for name, rows, free in (
        ("Subspace reuse", [mine for mine, _ in pairs], [mine for mine, _ in roomy]),
        ("Newton", [newton for _, newton in pairs], [newton for _, newton in roomy]),
    ):
        parts.append(
            f"{name}: {sum(map(crossings, rows))} frames with a crossing that nothing names, "
            f"{sum(not row['cut_off'] for row in rows)} of {len(rows)} runs to their end, "
            f"{sum(row['unfinished_steps'] for row in rows)} of {sum(row['steps'] for row in rows)} steps unfinished "
            f"({sum(row['unfinished_steps'] for row in free)} where there is room), longest edge where there is room "
            f"{max(row['largest_stretch'] for row in free):.3f}, slowest ÷ median frame there "
            f"{max(map(spread, free)):.1f}, {sum(map(seconds, rows)):.0f} s."
        )
    return "\n\n".join(parts)
