# SPDX-License-Identifier: GPL-3.0-or-later
"""A layout that checks every property, operator and icon it is asked for, and remembers them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import bpy


@dataclass
class RecordingLayout:
    """Stands in for UILayout, which only Blender can make while it draws a window."""

    shown: list[tuple[str, str]] = field(default_factory=list)
    use_property_split: bool = False
    use_property_decorate: bool = True
    ui_units_x: float = 0.0
    enabled: bool = True

    def row(self, align: bool = False) -> RecordingLayout:
        return replace(self)  # one list for all

    def column(self, align: bool = False, heading: str = "") -> RecordingLayout:
        return replace(self)

    def separator(self):
        pass

    def popover(self, panel, text="", icon="NONE"):
        assert hasattr(bpy.types, panel), panel
        known_icon(icon)
        self.shown.append(("popover", text))

    def menu(self, name, icon="NONE"):
        assert hasattr(bpy.types, name), name
        known_icon(icon)
        self.shown.append(("menu", name))

    def prop(self, data, name, expand=False, text=None, icon="NONE", slider=False):
        known_icon(icon)
        assert name in data.bl_rna.properties, (data, name)
        self.shown.append(("prop", name))

    def prop_search(self, data, name, search_data, search_name):
        assert name in data.bl_rna.properties, (data, name)
        assert search_name in search_data.bl_rna.properties
        self.shown.append(("prop", name))

    def operator(self, identifier, text=None, icon="NONE"):
        category, name = identifier.split(".")
        operator = getattr(getattr(bpy.ops, category), name).get_rna_type()
        known_icon(icon)
        self.shown.append(("operator", identifier))
        self.shown.append(("button" if self.enabled else "grey", operator.name if text is None else text))
        return OperatorProperties({prop.identifier for prop in operator.properties})

    def box(self):
        return self

    def label(self, text="", icon="NONE"):
        known_icon(icon)
        self.shown.append(("label", text))

    def progress(self, factor, text):
        assert 0 <= factor <= 1
        self.shown.append(("progress", text))

    def texts(self) -> str:
        return " ".join(text for kind, text in self.shown if kind in ("label", "progress"))

    def buttons(self, kind: str = "button") -> list[str]:
        """kind: or "grey", those that cannot be pressed."""
        return [text for found, text in self.shown if found == kind]


class OperatorProperties:
    def __init__(self, names: set[str]) -> None:
        object.__setattr__(self, "names", names)

    def __setattr__(self, name, value):
        assert name in self.names, name


def known_icon(icon):
    assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items, icon
