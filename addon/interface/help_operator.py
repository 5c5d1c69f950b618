# SPDX-License-Identifier: GPL-3.0-or-later
"""The question mark beside a message: its page of the manual, which comes with the extension."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ...gpu_core.messages import INDEX, PAGES, catalogue, plain


class TAFFETA_OT_help(bpy.types.Operator):
    bl_idname = "taffeta.help"
    bl_label = "What This Means"
    bl_description = "Open the manual's page for this message: what it means, why, and what helps"
    bl_options = {"INTERNAL"}

    code: StringProperty(name="Code", description="Of the message, such as TAF-S001", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        found = catalogue().get(properties.code)
        if found is None:
            return cls.bl_description
        mends = "\n".join(f"{number}. {mend}" for number, mend in enumerate(found.mends, start=1))
        return plain(f"{found.code}: {found.meaning}\n{mends}\nA click opens its page of the manual")

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = catalogue().get(self.code)
        bpy.ops.wm.url_open(url=(found.page if found else PAGES / INDEX).as_uri())
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_help,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
