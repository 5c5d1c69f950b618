"""The command line: bake, check, info, sample.

Exit codes: 0 done, 1 a checked frame intersects, 2 usage, 3 the scene, its device or its disk must be mended,
4 nothing to do, 5 cancelled, 6 solver failure. With --json standard output is one JSON object and nothing else.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .report import CommandError, Report, standard_output

FRAMES = re.compile(r"(-?\d+):(-?\d+)")


def main(arguments: Sequence[str], program: str) -> int:
    """Run one command and return the exit code."""
    parser = _parser(program)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # Blender's own process must not be left by argparse
        return int(stop.code or 0)
    with standard_output(options.json) as output:
        report = Report(options.command)
        try:
            COMMANDS[options.command](options, report)
        except CommandError as failure:
            report.fail(failure)
        report.write(output, options.json)
    return report.exit_code


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Taffeta: penetration-free cloth.")
    commands = parser.add_subparsers(dest="command", required=True)

    bake = commands.add_parser("bake", help="simulate the cloth of a .blend file into its cache")
    _add_file(bake)
    bake.add_argument("--backend", choices=("auto", "cpu", "cuda"), help="where the solver runs")
    bake.add_argument("--cache", type=Path, metavar="DIR", help="default: taffeta_cache beside the .blend")
    bake.add_argument("--save-blend", type=Path, metavar="OUT.blend", help="save the scene playing its cache")
    bake.add_argument("--resume", action="store_true", help="continue after the last frame in the cache")

    check = commands.add_parser("check", help="look for intersections in every baked frame")
    _add_file(check)

    info = commands.add_parser("info", help="versions and devices")
    info.add_argument("--self-test", action="store_true", help="simulate and check a small drape, ten seconds at most")

    sample = commands.add_parser("sample", help="build a sample scene")
    sample.add_argument("name", metavar="NAME")
    sample.add_argument("--vertices", type=_positive, required=True, metavar="N", help="of the cloth, about")
    sample.add_argument("--out", type=Path, required=True, metavar="FILE.blend")

    for command in (bake, check, info, sample):
        command.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _add_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, nargs="?", metavar="FILE.blend", help="default: the file open in Blender")
    command.add_argument("--frames", type=_frames, metavar="A:B", help="first and last frame; default: as in the file")


def _frames(text: str) -> tuple[int, int]:
    match = FRAMES.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B, such as 1:48")
    return int(match[1]), int(match[2])


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _bake(options: argparse.Namespace, report: Report) -> None:
    from .command_scene import bake, registered

    with registered():
        bake(options, report)


def _check(options: argparse.Namespace, report: Report) -> None:
    from .command_scene import check, registered

    with registered():
        check(options, report)


def _sample(options: argparse.Namespace, report: Report) -> None:
    from .command_scene import registered, sample

    with registered():
        sample(options, report)


def _info(options: argparse.Namespace, report: Report) -> None:
    from .command_info import info

    info(report, options.self_test)


COMMANDS: dict[str, Any] = {"bake": _bake, "check": _check, "info": _info, "sample": _sample}
