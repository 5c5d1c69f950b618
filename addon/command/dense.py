# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta bind`: let a dense mesh follow a cloth, or a light mesh that is made of it."""

from __future__ import annotations

from argparse import Namespace

import bpy

from ..device.answer import CommandError, Exit, Report
from ..scene import dense, light_mesh
from .file import failures, open_file, save


def bind(options: Namespace, report: Report) -> None:
    open_file(options, report)
    context = bpy.context
    item = _object(options.dense)
    with failures():
        if options.cloth is None:
            cloth = light_mesh.make(context, item, options.vertices or 0)
            if found := light_mesh.crossings(cloth):
                report.lines.append(f"{cloth.name} crosses itself in {found} places as it was made")
        else:
            cloth = _object(options.cloth)
        bound = dense.bind(context, item, cloth, options.as_shown)
    dense.hide_light(cloth, True)
    report.values |= {
        "dense": item.name, "cloth": cloth.name, "vertices": bound.vertices, "farthest": bound.farthest,
        "inexact": bound.inexact,
    }  # fmt: skip
    report.lines.append(f"{item.name} follows {cloth.name}: {bound.farthest:.4g} m off it at most")
    if bound.inexact:
        report.lines.append(f"{bound.inexact} of its vertices lie too far off to be held exactly")
    save(options.save_blend.resolve(), report)


def _object(name: str) -> bpy.types.Object:
    found = bpy.context.scene.objects.get(name)
    if found is None or found.type != "MESH":
        known = ", ".join(item.name for item in bpy.context.scene.objects if item.type == "MESH")
        raise CommandError(Exit.USAGE, f"There is no mesh {name!r}. There are: {known or 'none'}", name)
    return found
