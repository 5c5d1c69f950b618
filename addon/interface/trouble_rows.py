# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks find, in rows with buttons that select what it is about and that put it right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import bpy

from ..cache import place, status
from ..scene import roster
from ..scene.checks import Trouble, troubles
from ..scene.gather import Members
from ..scene.mends import MENDS
from .physics import message

ROWS_SHOWN = 20


def draw_troubles(layout: bpy.types.UILayout, context: bpy.types.Context, of: bpy.types.Object | None = None) -> int:
    """How many there are. of: only those of this object."""
    present = roster.members(context.scene)
    every = chain(_of_shared(context.scene, present), troubles(context.scene, present))
    found = [trouble for trouble in every if of is None or trouble.name == of.name]
    for trouble in found[:ROWS_SHOWN]:
        message(layout, context, trouble.text if of else f"{trouble.name}: {trouble.text}", trouble.icon)
        _draw_mends(layout, context, trouble, of)
    draw_rest(layout, len(found))
    return len(found)


def _of_shared(scene: bpy.types.Scene, present: Members) -> Iterator[Trouble]:
    """Of cloths that a bake would refuse because they play another scene's."""
    for cloth in present.cloths:
        if other := status.shared(scene, cloth):
            yield Trouble(cloth.name, place.shared_problem(other))


def draw_rest(layout: bpy.types.UILayout, count: int) -> None:
    if count > ROWS_SHOWN:
        layout.label(text=f"and {count - ROWS_SHOWN} more")


def _draw_mends(
    layout: bpy.types.UILayout, context: bpy.types.Context, trouble: Trouble, of: bpy.types.Object | None
) -> None:
    """The one that puts it right has the row's width for its words."""
    if of is not None and not trouble.mend:
        return
    row = layout.row(align=True)
    if of is None and trouble.name in context.scene.objects:
        text = "" if trouble.mend else "Select"
        row.operator("taffeta.select", text=text, icon="RESTRICT_SELECT_OFF").name = trouble.name
    if trouble.mend:
        button = row.operator("taffeta.mend", text=MENDS[trouble.mend][0], icon="MODIFIER")
        button.name, button.how = trouble.name, trouble.mend
