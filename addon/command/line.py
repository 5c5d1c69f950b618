# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: bake, cancel, check, free, bind, export, job, run, fetch, info, explain, sample.

It ends with one of the codes of `device.answer.Exit`. With --json standard output is one JSON object and nothing else.
"""

from __future__ import annotations

import argparse
import re
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path

from ..device.answer import CommandError, Exit, Report, standard_output
from .interruption import interruptible, listening

FRAMES = re.compile(r"(-?\d+):(-?\d+)")
ASSIGNMENT = re.compile(r"(.+?)\.([a-z_]+)=(.*)")  #: a name of an object may have dots too
BLEND_KINDS = ("shape-keys", "absolute-shape-keys", "mesh", "velocity")  #: what `export` can make within a .blend

MESHES = ("both", "cloth", "dense")

Command = Callable[[argparse.Namespace, Report], None]


def main(
    arguments: Sequence[str], program: str, registered: Callable[[], AbstractContextManager[None]] = nullcontext
) -> int:
    """Run one command and return the exit code.

    registered: within it the add-on's properties exist, where nobody has registered them so far.
    """
    parser = _parser(program)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # Blender's own process must not be left by argparse
        return int(stop.code or 0)
    with standard_output(options.json) as output, listening():
        report = Report(options.command)
        try:
            _follow(options, report, registered)
        except CommandError as failure:
            report.fail(failure)
        report.write(output, options.json)
    return report.exit_code


def _follow(
    options: argparse.Namespace, report: Report, registered: Callable[[], AbstractContextManager[None]]
) -> None:
    """Raises CommandError for whatever goes wrong: a script must not take a fault of ours for an answer."""
    try:
        if options.command in IN_BLENDER:
            with registered(), interruptible():
                IN_BLENDER[options.command](options, report)
        else:
            with interruptible():
                COMMANDS[options.command](options, report)
    except CommandError:
        raise
    except KeyboardInterrupt as error:
        raise CommandError(Exit.CANCELLED, "Cancelled") from error
    except MemoryError as error:
        raise CommandError(Exit.FAULT, "Out of memory. Bake fewer frames, or coarser meshes") from error
    except Exception as error:
        traceback.print_exception(error)
        text = f"{type(error).__name__}: {error}. This is a fault of Taffeta: please report it with the lines above"
        raise CommandError(Exit.FAULT, text) from error


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Taffeta: penetration-free cloth.")
    commands = parser.add_subparsers(dest="command", required=True)

    bake = commands.add_parser("bake", help="simulate the cloth of a .blend file into its cache")
    _add_scene(bake)
    _add_frames(bake)
    _add_bake(bake, "default: taffeta_cache beside the .blend")
    _add_save(bake, "save the scene playing its cache")

    cancel = commands.add_parser("cancel", help="end the bake of a .blend file that another process runs")
    _add_scene(cancel)
    cancel.add_argument("--cache", type=_folder, metavar="DIR", help="of that bake, where it has one of its own")

    check = commands.add_parser("check", help="look for intersections in every baked frame")
    _add_scene(check)
    _add_frames(check)

    free = commands.add_parser("free", help="delete the caches of a .blend file")
    _add_scene(free)
    _add_save(free, "save the scene without them")

    bind = commands.add_parser("bind", help="let a dense mesh follow a cloth")
    _add_scene(bind)
    bind.add_argument("--dense", required=True, metavar="NAME", help="the mesh that is shown")
    light = bind.add_mutually_exclusive_group()
    light.add_argument("--cloth", metavar="NAME", help="that is simulated; default: a light mesh made of the dense one")
    light.add_argument("--vertices", type=_positive, metavar="N", help="of the light mesh that is made, about")
    bind.add_argument("--as-shown", action="store_true", help="as both are at the file's current frame")
    bind.add_argument("--save-blend", type=Path, required=True, metavar="OUT.blend", help="save the scene so")

    export = commands.add_parser("export", help="turn a whole cache into something that needs none")
    _add_scene(export)
    _add_frames(export)
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="FILE.abc, FILE.usdc or FILE.blend")
    export.add_argument("--as", dest="kind", choices=BLEND_KINDS, help="what the cloth is in FILE.blend")
    export.add_argument(
        "--object", dest="objects", action="append", default=[], metavar="NAME", help="default: every cloth"
    )
    export.add_argument("--frame", type=int, metavar="N", help="of the mesh; default: the file's current one")
    export.add_argument("--modifiers", action="store_true", help="Alembic, USD: with the modifiers after the cache")
    export.add_argument("--meshes", choices=MESHES, default="both", help="Alembic, USD: of cloth and what follows it")
    export.add_argument("--velocity", action="store_true", help="Alembic, USD: with velocities, for motion blur")

    job = commands.add_parser("job", help="hand the scene over to another machine")
    _add_scene(job)
    _add_frames(job)
    job.add_argument("--out", type=Path, required=True, metavar="JOB", help="folder")

    run = commands.add_parser("run", help="bake a job folder, without Blender")
    run.add_argument("job", type=Path, metavar="JOB")
    _add_bake(run, "default: JOB/cache")

    fetch = commands.add_parser("fetch", help="bring the bake of a job folder back to its .blend file")
    _add_scene(fetch)
    fetch.add_argument("--from", dest="folder", type=Path, required=True, metavar="JOB", help="or its cache folder")
    _add_save(fetch, "save the scene playing its cache")

    info = commands.add_parser("info", help="versions and devices")
    info.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="auto", help="for the self-test")
    info.add_argument("--self-test", action="store_true", help="simulate and check a small drape, ten seconds at most")

    explain = commands.add_parser("explain", help="what a message means, and what helps")
    explain.add_argument("message", nargs="?", default="", metavar="CODE", help="TAF-S001, or a message in quotes")

    sample = commands.add_parser("sample", help="build a sample scene")
    sample.add_argument("name", metavar="NAME")
    sample.add_argument("--vertices", type=_positive, required=True, metavar="N", help="of the cloth, about")
    sample.add_argument("--out", type=Path, required=True, metavar="FILE.blend")

    for command in commands.choices.values():
        command.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _add_scene(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, nargs="?", metavar="FILE.blend", help="default: the file open in Blender")
    command.add_argument(
        "--set", dest="assignments", type=_assignment, action="append", default=[], metavar="OBJECT.PROPERTY=VALUE",
        help="for this command, or with --save-blend for good; “scene” stands for the scene",
    )  # fmt: skip


def _add_frames(command: argparse.ArgumentParser) -> None:
    command.add_argument("--frames", type=_frames, metavar="A:B", help="first and last frame; default: as in the file")


def _add_bake(command: argparse.ArgumentParser, place: str) -> None:
    command.add_argument("--backend", choices=("auto", "cpu", "cuda"), help="where the solver runs")
    command.add_argument("--cache", type=_folder, metavar="DIR", help=place)
    command.add_argument("--resume", action="store_true", help="continue after the last frame in the cache")


def _add_save(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--save-blend", type=Path, metavar="OUT.blend", help=what)


def _assignment(text: str) -> tuple[str, str, str]:
    match = ASSIGNMENT.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not OBJECT.PROPERTY=VALUE, such as Cloth.density=0.2")
    return match[1], match[2], match[3]


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("is empty: name a folder")
    return Path(text)


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


def _info(options: argparse.Namespace, report: Report) -> None:
    from ..device.info import info

    info(report, options.backend if options.self_test else "")


def _run(options: argparse.Namespace, report: Report) -> None:
    from .run import run

    run(options, report)


def _explain(options: argparse.Namespace, report: Report) -> None:
    from .explain import explain

    explain(options, report)


def _from(module: str, function: str) -> Command:
    """A command of another module, which imports bpy and so is imported only when it is called."""

    def command(options: argparse.Namespace, report: Report) -> None:
        getattr(import_module(f"{__package__}.{module}"), function)(options, report)

    return command


COMMANDS: dict[str, Command] = {"run": _run, "info": _info, "explain": _explain}
IN_BLENDER: dict[str, Command] = {  #: those that need bpy, and our properties in it
    "bake": _from("scene", "bake"),
    "cancel": _from("scene", "cancel"),
    "check": _from("scene", "check"),
    "free": _from("scene", "free"),
    "bind": _from("dense", "bind"),
    "export": _from("export", "export"),
    "job": _from("job", "write"),
    "fetch": _from("job", "fetch"),
    "sample": _from("scene", "sample"),
}
