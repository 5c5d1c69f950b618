# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each built by the script of its name: nothing is downloaded, every size is possible."""

from __future__ import annotations

from importlib import import_module

NAMES = (
    "cape", "drape_on_sphere", "drawstring_waist", "flag_in_a_gust", "hanging_sheet", "jeans", "moving_sphere",
    "pleated_skirt", "sewn_shirt", "tablecloth_pull",
)  # fmt: skip


def build(name: str, vertices: int) -> None:
    """Build the sample `name` (one of NAMES) in the current, emptied Blender session.

    The cloth gets about `vertices` vertices. Raises KeyError for an unknown name.
    """
    if name not in NAMES:
        raise KeyError(name)
    import_module(f".{name}", __package__).build(vertices)
