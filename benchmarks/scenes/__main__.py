# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample scenes at a size, in the columns of the paper's Table 1 and beside it; with --peers beside other solvers.

    python -m taffeta.benchmarks.scenes [--vertices N ...] [--scenes NAME ...] [--frames A:B] [--backend cuda] [--save]
    python -m taffeta.benchmarks.scenes --peers [--vertices N ...] [--limit SECONDS] [--methods NAME ...] [--save]

Every frame is judged by the exact check. --save puts each row into benchmarks/results as soon as it is measured, in
place of an earlier one of the same scene, size, frames and method, and writes docs/theory/scenes.md anew; --page alone
only writes the page. --peers takes the drape, the twist, the stack and the folding, and installs Newton into
build/peers/newton where it is not there.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence

from ...gpu_core.backend import Backend, BackendError, select
from ...sample_blends import FETCHED, NAMES
from ..speed import machine, results
from ..speed.page import Row
from . import page, peers, suite

#: Rows, the part of the results that they are, the table's columns, and the lines that a row is printed as.
Table = tuple[Iterator[Row], str, Sequence[str], Callable[[Row], list[list[str]]]]

SIZE = 10_000  #: vertices
KEYS = {"scenes": ("scene", "asked", "of"), "peers": ("scene", "asked", "of", "method")}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, nargs="+", metavar="N", help="10 000; with --peers 40 000 as well")
    parser.add_argument("--scenes", nargs="+", choices=(*NAMES, *FETCHED), metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--frames", default="", metavar="A:B", help="default: all")
    parser.add_argument("--backend", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--peers", action="store_true", help="the same scenes through other solvers, on the CPU")
    methods = list(peers.METHODS)
    names = "; ".join(methods)
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods, metavar="NAME", help=names)
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds of each run of --peers (3600)")
    parser.add_argument("--save", action="store_true", help="put the rows into results/ and write the page anew")
    parser.add_argument("--note", default="", help="what a reader of the numbers must know: a shared machine, say")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    return parser.parse_args()


def _suite(options: argparse.Namespace, backend: Backend) -> Table:
    rows = suite.suite(options.scenes or NAMES, options.vertices or [SIZE], options.frames, backend)
    return rows, "scenes", suite.COLUMNS, suite.lines


def _peers(options: argparse.Namespace) -> Table:
    names, sizes = options.scenes or [name for name in peers.SCENES if name in NAMES], options.vertices or peers.SIZES
    rows = peers.compare(names, sizes, options.frames, options.limit, options.methods)
    return rows, "peers", peers.COLUMNS, lambda row: [peers.cells(row)]


def main() -> None:
    options = _options()
    if options.page:
        page.write()
        return
    try:
        backend = select("cpu" if options.peers else options.backend)
    except BackendError as error:
        sys.exit(f"{error}. Nothing was measured")
    device = machine.name(backend)
    print(f"{device}, commit {results.commit()}, {results.versions()}")
    rows, part, columns, lines = _peers(options) if options.peers else _suite(options, backend)
    command = "python -m taffeta.benchmarks.scenes " + shlex.join(sys.argv[1:])
    print(" | ".join(columns))
    for row in rows:
        for cells in lines(row):
            print(" | ".join(cells), flush=True)
        if options.save:
            results.save(device, part, [row], KEYS[part], command, options.note)
    if options.save:
        page.write()


if __name__ == "__main__":
    main()
