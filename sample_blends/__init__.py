# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each built by the script of its name at any size. But for those in `FETCHED` nothing is downloaded."""

from __future__ import annotations

from importlib import import_module

NAMES = (
    "bending_strip", "cape", "card_shuffle", "cloth_blender", "drape_on_sphere", "drawstring_waist",
    "flag_in_a_gust", "folding", "hanging_sheet", "jeans", "knot", "lumpy_body", "moving_sphere", "needles",
    "pleated_skirt", "reef_knot", "ribbons", "sewn_shirt", "stack_on_teapot", "tablecloth_pull", "teapot_spout",
    "twisted_cylinder", "twisting_cloth",
)  # fmt: skip
#: Of a package that pip fetches once, with its checksum.
FETCHED = ("character", "fashion_show", "kicking", "layered_dress", "tie")

SMALL = 1000  #: vertices of a small one, where its script does not say `SMALL`


class NotFetchedError(RuntimeError):
    """The package of a sample cannot be had; the text says why."""


def build(name: str, vertices: int) -> None:
    """Build the sample `name` (one of NAMES or FETCHED) in the current, emptied Blender session.

    The cloth gets about `vertices` vertices. Raises KeyError for an unknown name, NotFetchedError
    where the package cannot be had.
    """
    if name not in (*NAMES, *FETCHED):
        raise KeyError(name)
    import_module(f".{name}", __package__).build(vertices)


def small(name: str) -> int:
    """Vertices at which the sample `name` shows what it is for, and no more."""
    return int(getattr(import_module(f".{name}", __package__), "SMALL", SMALL))
