# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames of an earlier bake stay where one goes on, and whether they may."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...gpu_core.bake import extension
from ...gpu_core.files import cache, job
from ...gpu_core.files.cache import CacheState
from ...gpu_core.files.errors import StaleError
from ...gpu_core.files.program import program
from ...gpu_core.scene.differences import alike, differences
from ...gpu_core.scene.scene import SceneError, Settings
from ..cache import status


def require_same(folder: Path, content: Mapping[str, Any]) -> None:
    """Raises StaleError, which names what differs, where the frames so far are of another scene than the one that
    `job.describe` described so. The range may end elsewhere, and keys may differ later on."""
    state, reason, _ = cache.inspect(folder, job.digest_of(content), program())
    if state is not CacheState.STALE:
        return
    contents = cache.read_contents(folder)
    if contents.program != program() or not contents.scene:
        raise StaleError(f"This bake cannot be resumed: {reason}", "Bake from the start")
    longer = contents.frame_end != content["settings"]["frame_end"]
    before, after = (extension.numbers(entry) if longer else entry for entry in (contents.scene, content))
    found = differences(before, after)
    if not alike(found, contents.frames):  # otherwise the worker compares the motions, frame by frame
        raise StaleError(f"This bake cannot be resumed: {status.in_brief(found)}", "Bake from the start")


def kept(folder: Path, settings: Settings, frame: int) -> int:
    """How many frames of the cache stay where the bake goes on from this one."""
    first = settings.frame_start
    state, reason, done = cache.inspect(folder)
    if state not in (CacheState.READY, CacheState.PARTIAL):
        raise SceneError("Cache", f"there is nothing to go on from: {reason}", "Bake from the start")
    if not first <= frame < first + done or frame >= settings.frame_end:
        last = min(first + done, settings.frame_end) - 1
        raise SceneError("Cache", f"the bake can go on from frames {first} to {last}, not from {frame}", "Go there")
    return frame - first + 1
