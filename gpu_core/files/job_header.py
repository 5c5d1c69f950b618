# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every value of a job's header has the type that it should have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from ..scene.air import FieldWeights
from ..scene.older import of_today
from ..scene.scene import Material, Settings
from ..scene.settings import SolverName, SolverPreset, StartPolicy
from ..scene.shape import Shape
from .job_values import FIELD_ARRAYS, encounter_of, field_of, keys_of, number, place, restored, text, truth, whole


def checked(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header. Raises some Exception where a value is of the wrong type."""
    text(header["digest"])
    _require_settings(restored(Settings, of_today(header["settings"])))
    if not isinstance(header["cloths"], list) or not isinstance(header["colliders"], list):
        raise TypeError("no list of objects")
    for entry in header["cloths"]:
        text(entry["key"])
        restored(Material, entry["material"])
        restored(FieldWeights, entry.get("field_weights", {}))
        restored(Shape, entry.get("form", {}))
        truth(entry["self_collision"])
        whole(entry.get("layer", 0))
        for body in entry.get("meets", ()):
            place(body)
        for maximum in entry.get("painted", {}).values():
            number(maximum)
    for entry in header["colliders"]:
        number(entry["friction"])
        place(entry.get("drawn", 0))
    text(header.get("threads", ""))
    keys_of(header)
    for entry in [*header["cloths"], *header["colliders"]]:
        number(entry["thickness"])
    fields, groups = header.get("fields", []), [group for entry in header["cloths"] for group in entry.get("pins", [])]
    for entry in groups:
        number(entry["strength"])
    for entry in header.get("encounters", ()):
        encounter_of(entry)
    for entry in fields:
        field_of(entry, {name: np.zeros((1, 3)) for name in FIELD_ARRAYS})
    for entry in [*header["cloths"], *header["colliders"], *fields, *groups]:
        keys_of(entry)
        text(entry["name"])
        for name, digest in entry["arrays"].items():
            text(name), text(digest)
    return dict(header)


def _require_settings(settings: Settings) -> None:
    """Of what `Settings.validate` takes as it is. Raises ValueError."""
    named = ((settings.solver, SolverName), (settings.preset, SolverPreset), (settings.start, StartPolicy))
    if any(name not in get_args(choices) for name, choices in named):
        raise ValueError("a name that nothing has")
    frames = (settings.begins, settings.frame_start, settings.frame_end)
    if max(map(abs, frames)) >= 2**31 or len(settings.gravity) != 3:
        raise ValueError("a frame that no file can name, or no vector")
