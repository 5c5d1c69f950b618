# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each built by the script of its name at any size. But for those in `FETCHED` nothing is downloaded."""

from __future__ import annotations

from importlib import import_module

NAMES = (
    "cape", "drape_on_sphere", "drawstring_waist", "first_garment", "flag_in_a_gust", "hanging_sheet", "jeans",
    "moving_sphere", "pleated_skirt", "sewn_shirt", "tablecloth_pull",
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
