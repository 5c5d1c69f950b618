# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/theory/performance.md from results/*.json: what stands between its markers is written anew.

A marker is `<!-- table NAME -->`, the end `<!-- end -->`; everything else on the page is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import host, kernels, results, scaling, table1

PAGE = results.ROOT / "docs" / "theory" / "performance.md"
BLOCK = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

ELSEWHERE = ("recycling",)  # written by its own command, benchmarks.recycling

Row = dict[str, Any]
Tables = Mapping[str, Callable[[Sequence[Row]], str]]  # by the part of the results: its rows as Markdown


def write() -> None:
    """Fill the page's tables."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), results.every()), encoding="utf-8")


def filled(text: str, machines: Sequence[dict[str, Any]], tables: Tables | None = None) -> str:
    """A page with the tables of all machines. Raises KeyError where it asks for a table that does not exist.

    tables: None = those of this page.
    """
    own = TABLES if tables is None else tables
    return BLOCK.sub(lambda found: found[0] if found[2] in ELSEWHERE else _filled(found, machines, own), text)


def _filled(found: re.Match[str], machines: Sequence[dict[str, Any]], tables: Tables) -> str:
    return found[1] + _tables(found[2], machines, tables) + found[3]


def _tables(name: str, machines: Sequence[dict[str, Any]], tables: Tables) -> str:
    if name == "blender":
        return blender()
    parts = [
        f"{machine['machine']}. {_measured(rows)}\n\n{tables[name](rows)}\n"
        for machine in machines
        if (rows := machine["parts"].get(name))
    ]
    if name in ON_CUDA and not any("NVIDIA" in m["machine"] and m["parts"].get(name) for m in machines):
        parts.append(UNMEASURED)
    return "\n" + "\n".join(parts or ["Not measured yet.\n"]) + "\n"


ON_CUDA = ("table", "floor")
UNMEASURED = "CUDA: not measured. `python -m taffeta.benchmarks.speed table floor --backend cuda --save`\n"


def _measured(rows: Iterable[Row]) -> str:
    """Commands, commits and notes of the rows, each once."""
    facts = {
        f"`{m['command']}`, commit {m['commit']}" + (f", {m['note']}" if m["note"] else "")
        for m in (row["measured"] for row in rows)
    }
    return "; ".join(sorted(facts))


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _table(rows: Sequence[Row]) -> str:
    lines: list[Sequence[str]] = [table1.cells(row) for row in rows]
    lines += [cells for scene in dict.fromkeys(row["scene"] for row in rows) if (cells := table1.paper_cells(scene))]
    return markdown(table1.COLUMNS, lines)


FLOOR = (
    "part",
    "vertices",
    "contacts",
    "MB",
    "Mflop",
    "working set, MB",
    "triad, GB/s",
    "floor, ms",
    "reached, ms",
    "×",
)


def floor_cells(row: Row) -> list[str]:
    return [
        row["part"], f"{row['vertices']}", f"{row['contacts']}",
        *(f"{row[key]:.3g}" for key in ("megabytes", "operations", "working_set", "bandwidth", "floor", "reached")),
        f"{row['reached'] / row['floor']:.1f}",
    ]  # fmt: skip


def _floor(rows: Sequence[Row]) -> str:
    peak = max(row["peak"] for row in rows)
    return f"Peak of a matrix product: {peak:.0f} GFLOP/s.\n\n" + markdown(FLOOR, map(floor_cells, rows))


def _scaling(rows: Sequence[Row]) -> str:
    head = (
        "vertices",
        "s/frame",
        "ms/step",
        "MiB",
        "Newton iterations / step",
        "CG iterations / step",
        "contacts",
        "µs / (frame · vertex)",
    )
    lines = [
        [f"{r['vertices']}", f"{r['seconds_per_frame']:.2f}", f"{sum(r['milliseconds'].values()):.1f}",
         f"{r['memory']:.0f}", f"{r['iterations']:.1f}", f"{r['gradients']:.0f}", f"{r['contacts']:.0f}",
         f"{1e6 * r['seconds_per_frame'] / r['vertices']:.0f}"]
        for r in rows
    ]  # fmt: skip
    if len(rows) < 2:
        return markdown(head, lines)
    sizes = [row["vertices"] for row in rows]
    power = scaling.exponent(sizes, [row["seconds_per_frame"] for row in rows])
    one = scaling.exponent(sizes, [r["seconds_per_frame"] / max(1e-9, r["gradients"] + r["iterations"]) for r in rows])
    memory = scaling.exponent(sizes, [row["memory"] for row in rows])
    (small, large), (less, more) = sizes[-2:], (row["memory"] for row in rows[-2:])
    each = table1.MEBIBYTE / 1000.0 * (more - less) / (large - small)
    text = (
        f"Exponent {power:.3f} (target: below 1.15); of the time per iteration, linear and nonlinear, {one:.3f}. Of "
        f"the memory, the interpreter's included, {memory:.3f}; a vertex more takes {each:.1f} kB."
    )
    return f"{markdown(head, lines)}\n{text}\n"


def _threads(rows: Sequence[Row]) -> str:
    alone = {row["vertices"]: row["seconds_per_frame"] for row in rows if row["threads"] == 1}
    lines = []
    for row in rows:
        part = row["milliseconds"]
        faster = alone.get(row["vertices"], float("nan")) / row["seconds_per_frame"]
        broad, solve = part["broad"], part["residual"] + part["matrix"] + part["gradients"]
        lines.append([f"{row['vertices']}", f"{row['threads']}", f"{row['seconds_per_frame']:.2f}", f"{faster:.2f} ×",
                      f"{sum(part.values()):.1f}", f"{broad:.1f}", f"{solve:.1f}"])  # fmt: skip
    return markdown(("vertices", "threads", "s/frame", "faster", "ms/step", "of it broad phase", "of it solve"), lines)


def _million(rows: Sequence[Row]) -> str:
    parts = []
    for row in rows:
        outcome = f"not done ({row['failed']})" if row["failed"] else "done"
        parts.append(f"{row['vertices']} vertices in {row['limit_gib']:g} GiB of address space: {outcome}.\n\n")
        stages = [[s["stage"], f"{s['seconds']:.0f}", f"{s['peak']:.0f}", f"{s['now']:.0f}"] for s in row["stages"]]
        parts.append(markdown(("stage reached", "s since start", "peak, MiB", "now, MiB"), stages))
        if row["holds"]:
            held = ", ".join(f"`{path}` {size:.0f}" for path, size in row["holds"].items())
            parts.append(f"\nLargest arrays between frames, MiB: {held}.\n")
    return "".join(parts)


def _modes(rows: Sequence[Row]) -> str:
    lines = [[f"{r['vertices']}", f"{r['modes']}", f"{r['computed']:.2f}", f"{r['read']:.2f}"] for r in rows]
    return markdown(("vertices", "modes", "computed, s", "read from disk, s"), lines)


def _start(rows: Sequence[Row]) -> str:
    lines = [[f"{r['vertices']}", *(f"{r['seconds'][f'frame {k}']:.2f}" for k in (1, 2))] for r in rows]
    return markdown(("vertices", "frame 1 (start pose), s", "frame 2 (first simulated), s"), lines)


def _kernels(rows: Sequence[Row]) -> str:
    parts = []
    for vertices in sorted({row["vertices"] for row in rows}):
        own = sorted((r for r in rows if r["vertices"] == vertices), key=lambda row: -row["milliseconds"])
        whole, launches = (sum(row[key] for row in own) for key in ("milliseconds", "launches"))
        parts.append(markdown(kernels.COLUMNS, map(kernels.cells, own[: kernels.SHOWN])))
        parts.append(f"\nAll {len(own)}: {whole:.1f} ms a step in {launches:.0f} launches.\n")
    return "\n".join(parts)


def _iteration(rows: Sequence[Row]) -> str:
    """A column a size."""
    sizes, names = sorted({row["vertices"] for row in rows}), dict.fromkeys(row["kernel"] for row in rows)
    taken = {(row["kernel"], row["vertices"]): f"{row['microseconds']:.1f}" for row in rows}
    lines = [[name, *(taken.get((name, size), "") for size in sizes)] for name in names]
    return markdown(("µs", *(f"{size} vertices" for size in sizes)), lines)


def _host(rows: Sequence[Row]) -> str:
    head = ("stage", "array operations", "launches", "graph launches", "graphs built", "waits", "uploads", "copies")
    return markdown(head, [host.cells(row) for row in rows])


def _newton(rows: Sequence[Row]) -> str:
    head = ("", "vertices", "threads", "iterations", "s/frame", "their time ÷ Taffeta's", "frames that intersect",
            "largest stretch", "mean height at the end, mm")  # fmt: skip
    ours = {(r["vertices"], r["threads"]): r["seconds_per_frame"] for r in rows if r["method"] == "Taffeta"}
    lines = []
    for r in rows:
        times = [f"{r['seconds_per_frame'] / seconds:.1f} ({threads} thr.)"
                 for (vertices, threads), seconds in ours.items() if vertices == r["vertices"]]  # fmt: skip
        lines.append([
            r["method"], f"{r['vertices']}", f"{r['threads']}", r["iterations"], f"{r['seconds_per_frame']:.2f}",
            "" if r["method"] == "Taffeta" else ", ".join(times),
            f"{r['intersecting_frames']} of {r['last'] - r['first'] + 1}, at most {r['most_intersections']}",
            f"{r['largest_stretch']:.3f}", f"{1e3 * r['mean_height']:.0f}",
        ])  # fmt: skip
    versions = ", ".join(sorted({r["versions"] for r in rows} - {""}))
    return f"{versions}.\n\n{markdown(head, lines)}"


def blender() -> str:
    """From the results of taffeta.benchmarks.blender_cloth."""
    files = sorted(results.RESULTS.glob("blender_cloth-*.json"))
    head = (
        "",
        "vertices",
        "frames",
        "threads",
        "s/frame",
        "Taffeta's time ÷ Blender's",
        "frames that intersect",
        "largest stretch",
    )
    parts = []
    for path in files:
        content = json.loads(path.read_text(encoding="utf-8"))
        lines = [
            [row["method"], f"{run['vertices']}", f"{run['frames']}", f"{run['threads']}",
             f"{row['seconds_per_frame']:.2f}",
             f"{run['ratios'][row['method']]:.2f} ×" if row["method"] in run["ratios"] else "",
             f"{row['intersecting_frames']}", f"{row['largest_stretch']:.3f}"]
            for run in content["runs"] for row in run["rows"]
        ]  # fmt: skip
        notes = "; ".join(sorted({f"commit {run['commit']} {run['note']}".strip() for run in content["runs"]}))
        parts.append(f"{content['processor']}, Blender {content['blender']}; {notes}\n\n{markdown(head, lines)}\n")
    return "\n" + "\n".join(parts)


TABLES: Tables = {
    "table": _table,
    "floor": _floor,
    "scaling": _scaling,
    "threads": _threads,
    "million": _million,
    "modes": _modes,
    "start": _start,
    "kernels": _kernels,
    "iteration": _iteration,
    "host": _host,
    "newton": _newton,
}
