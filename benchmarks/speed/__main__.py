# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures parts of docs/theory/performance.md, prints them, and with --save puts them into JSON and the page.

    python -m taffeta.benchmarks.speed [PART ...] [--backend cuda] [--save] [--note TEXT]

table     Table 1's columns for --scene (default: all) at --vertices, frames --first to --frames
floor     bytes, operations and time of an iteration and of a contact pass, at --vertices (default: 40 000, 340 000)
kernels   time of each kernel in the drape's last frame, at --vertices (default: 40 000)
iteration a conjugate-gradient iteration in that frame, and each of its kernels, at --vertices (default: 40 000)
scaling   a step of the drape and its memory at 2500 to 640 000 vertices (or --vertices ...)
threads   the same frames at 40 000 vertices (or --vertices ...) on 1, 2, 4, … and all threads of the CPU
million   a million vertices in 16 GiB of address space
modes     120 modes at 40 000 and 340 000 vertices (or --vertices ...)
host      what the host does for a step on a card, counted on the pretended one, 10 000 vertices
start     from the bake command to the first frame, 10 000 vertices

Without parts only the table is measured. `--page` alone writes the page anew from the JSON. Peers have commands of
their own: taffeta.benchmarks.blender_cloth, taffeta.benchmarks.newton_cloth.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ...gpu_core.backend import Backend, BackendError, select
from ...gpu_core.simulator import SolverError
from . import floor, host, iteration, kernels, machine, page, results, scaling, setup, table1
from .scenes import SCENES, built

Rows = list[dict[str, Any]]
Measure = Callable[[argparse.Namespace, Backend], Rows]

MILLION, LIMIT = 1_000_000, 16.0  #: vertices, GiB


def _table(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for name in options.scene or SCENES:
        for vertices in options.vertices or [SCENES[name].vertices]:
            scene = built(name, vertices, options.frames, options.preset)
            rows.append(asdict(table1.measure(name, scene, backend, options.first)))
            print(" | ".join(table1.cells(rows[-1])), flush=True)
        if (paper := table1.paper_cells(name)) is not None:
            print(" | ".join(paper), flush=True)
    return rows


def _floor(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for vertices in options.vertices or [40_000, 340_000]:
        try:
            for part in floor.floors(backend, vertices, options.frames):
                rows.append(asdict(part))
                print(" | ".join(page.floor_cells(rows[-1])), flush=True)
        except SolverError as error:
            print(f"{vertices} vertices: the rest was not measured, {error}")
    return rows


def _of_sizes(
    measure: Callable[[Backend, int, int], Sequence[Any]], cells: Callable[[dict[str, Any]], list[str]]
) -> Measure:
    """What is measured at a size in the last frame, and how a row of it is printed."""

    def rows_of(options: argparse.Namespace, backend: Backend) -> Rows:
        rows = []
        for vertices in options.vertices or [40_000]:
            rows += [asdict(part) for part in measure(backend, vertices, options.frames)]
        for row in rows:
            print(" | ".join(cells(row)), flush=True)
        return rows

    return rows_of


def _scaling(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for row in scaling.scaling(backend, options.vertices or scaling.SIZES):
        rows.append(asdict(row))
        said = f"{row.seconds_per_frame:.3f} s a frame, {row.step:.1f} ms a step, {row.memory:.0f} MiB"
        print(f"{row.vertices} vertices: {said}", flush=True)
    if len(rows) > 1:
        sizes = [row["vertices"] for row in rows]
        time, memory = (scaling.exponent(sizes, [row[key] for row in rows]) for key in ("seconds_per_frame", "memory"))
        print(f"exponents: time {time:.3f}, memory {memory:.3f}")
    return rows


def _threads(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for vertices in options.vertices or [40_000]:
        for row in scaling.threads(vertices):
            rows.append(row)
            print(f"{row['vertices']} vertices, {row['threads']} threads: {row['seconds_per_frame']:.3f} s a frame")
    return rows


def _million(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = [scaling.large(vertices, 2, LIMIT) for vertices in options.vertices or [MILLION]]
    for row in rows:
        print(f"{row['vertices']} vertices in {row['limit_gib']:g} GiB: {row['failed'] or 'done'}")
        for stage in row["stages"]:
            print(f"  {stage['stage']}: {stage['seconds']:.0f} s, peak {stage['peak']:.0f} MiB, now {stage['now']:.0f}")
        for path, size in row["holds"].items():
            print(f"  {path}: {size:.0f} MiB")
    return rows


def _modes(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for vertices in options.vertices or [40_000, 340_000]:
        rows.append(setup.modes(vertices))
        print(
            f"{rows[-1]['vertices']} vertices: computed in {rows[-1]['computed']:.2f} s, read in {rows[-1]['read']:.2f}"
        )
    return rows


def _start(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = [setup.first_frame(vertices) for vertices in options.vertices or [10_000]]
    for row in rows:
        print(", ".join(f"{frame} after {seconds:.2f} s" for frame, seconds in row["seconds"].items()))
    return rows


def _host(options: argparse.Namespace, backend: Backend) -> Rows:
    rows = []
    for vertices in options.vertices or [10_000]:
        rows += host.counts(vertices, options.first, options.frames)
    for row in rows:
        print(" | ".join(host.cells(row)), flush=True)
    return rows


#: Part to (function, which values of a row name it).
PARTS: dict[str, tuple[Measure, tuple[str, ...]]] = {
    "table": (_table, ("scene", "preset", "vertices")),
    "floor": (_floor, ("vertices", "part")),
    "kernels": (_of_sizes(kernels.kernels, kernels.cells), ("vertices", "kernel")),
    "iteration": (_of_sizes(iteration.iteration, iteration.cells), ("vertices", "kernel")),
    "scaling": (_scaling, ("vertices",)),
    "threads": (_threads, ("vertices", "threads")),
    "million": (_million, ("vertices",)),
    "modes": (_modes, ("vertices",)),
    "host": (_host, ("vertices", "stage")),
    "start": (_start, ("vertices",)),
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=", ".join(PARTS))
    parser.add_argument("--scene", action="append", choices=list(SCENES))
    parser.add_argument("--vertices", type=int, action="append", metavar="N")
    parser.add_argument("--first", type=int, default=4, help="first frame that is timed (4)")
    parser.add_argument("--frames", type=int, default=6, help="last frame (6)")
    parser.add_argument("--preset", choices=["default", "paper"], default="default")
    parser.add_argument("--backend", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--save", action="store_true", help="put the rows into results/ and write the page anew")
    parser.add_argument("--note", default="", help="what a reader of the numbers must know: a shared machine, say")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args()
    if not 2 <= options.first <= options.frames:
        parser.error("--first must be 2 or more and not after --frames")
    return options


def main() -> None:
    options = _options()
    if options.page:
        page.write()
        return
    try:
        backend = select(options.backend)
    except BackendError as error:
        sys.exit(f"{error}. Nothing was measured")
    device = machine.name(backend)
    print(f"{device}, commit {results.commit()}")
    command = "python -m taffeta.benchmarks.speed " + shlex.join(sys.argv[1:])
    for part in options.parts or ["table"]:
        measure, key = PARTS[part]
        if part == "table":
            print(" | ".join(table1.COLUMNS))
        rows = measure(options, backend)
        if options.save:
            print(results.save(host.DEVICE if part == "host" else device, part, rows, key, command, options.note))
    if options.save:
        page.write()


if __name__ == "__main__":
    main()
