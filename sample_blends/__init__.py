# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each built by the script of its name at any size. But for those in `FETCHED` nothing is downloaded."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import bpy

NAMES = (
    "bending_strip", "cape", "card_shuffle", "cloth_blender", "drape_on_sphere", "drawstring_waist",
    "first_garment", "flag_in_a_gust", "folding", "hanging_sheet", "jeans", "knot", "lumpy_body", "moving_sphere",
    "needles", "pleated_skirt", "reef_knot", "ribbons", "sewn_shirt", "stack_on_teapot", "tablecloth_pull",
    "teapot_spout", "twisted_cylinder", "twisting_cloth",
)  # fmt: skip
#: Of a package that pip fetches once, with its checksum.
FETCHED = ("character", "fashion_show", "kicking", "layered_dress", "tie")

SMALL = 1000  #: vertices of a small one, where its script does not say `SMALL`
SMALL_WORDS = {"a", "an", "and", "at", "in", "of", "off", "on", "over", "the", "to", "with"}


class NotFetchedError(RuntimeError):
    """The package of a sample cannot be had; the text says why."""


def build(name: str, vertices: int) -> None:
    """Build the sample `name` (one of NAMES or FETCHED) in the current scene, which is empty.

    The cloth gets about `vertices` vertices. Raises KeyError for an unknown name, NotFetchedError
    where the package cannot be had.
    """
    _script(name).build(vertices)


def add_scene(name: str, vertices: int, window: bpy.types.Window) -> bpy.types.Scene:
    """Build a sample in a new scene of the open file, and show that; all else in the file stays. Raises as `build`."""
    scene: bpy.types.Scene = bpy.data.scenes.new(label(name))
    window.scene = scene
    build(name, vertices)
    return scene


def small(name: str) -> int:
    """Vertices at which the sample `name` shows what it is for, and no more."""
    return int(getattr(_script(name), "SMALL", SMALL))


def label(name: str) -> str:
    """What people call it: Flag in a Gust."""
    first, *rest = name.split("_")
    return " ".join([first.capitalize(), *(word if word in SMALL_WORDS else word.capitalize() for word in rest)])


def summary(name: str) -> str:
    """What happens in it: the first paragraph of its script, without a full stop."""
    paragraph = (_script(name).__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(paragraph.split()).removesuffix(".")


def _script(name: str) -> ModuleType:
    if name not in (*NAMES, *FETCHED):
        raise KeyError(name)
    return import_module(f".{name}", __package__)
