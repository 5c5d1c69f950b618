# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong, by kind: an interface says it in its own way, a script by its exit code."""

from __future__ import annotations

from collections.abc import Mapping

from ..backend.errors import BackendError
from ..files.disk import DiskError
from ..files.errors import BusyError, CacheError, CompleteError, StaleError
from ..files.job import JobError
from ..scene.scene import SceneError
from .events import Failed

#: Errors that speak to the user; a subclass stands before its base.
KINDS: Mapping[type[Exception], str] = {
    SceneError: "scene",
    JobError: "scene",
    BackendError: "backend",
    DiskError: "disk",
    CompleteError: "nothing",
    BusyError: "busy",
    StaleError: "stale",
    CacheError: "damaged",
}


def kind_of(error: Exception, kinds: Mapping[type[Exception], str] = KINDS) -> str:
    """The kind of one of these errors, or nothing for another."""
    return next((kind for known, kind in kinds.items() if isinstance(error, known)), "")


def failed(error: Exception) -> Failed:
    """The event that says so. For an error of KINDS."""
    return Failed(kind_of(error), str(error), getattr(error, "object", ""))
