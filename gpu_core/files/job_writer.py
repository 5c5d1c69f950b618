# SPDX-License-Identifier: GPL-3.0-or-later
"""A job folder that is written while its scene is read: frames go to disk as they come, job.json comes last."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..scene.scene import Scene
from . import job
from .disk import disk_errors, make_folder, replace, sync_folder, write_whole
from .frame_spool import FrameSpool


class JobWriter(FrameSpool):
    """Begin a series for the positions of each collider (`job.positions_name`), append the frames, `seal` the scene
    that is made of them, `commit`. Until then, and where `close` comes first, the job that lies there stays as it is.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._names: list[str] = []
        self.content: dict[str, Any] = {}  #: `job.describe` of the scene, once it is sealed

    def seal(self, scene: Scene) -> None:
        """Let the thread validate the scene, and write and sync the rest of the job; `is_done` raises SceneError,
        DiskError. No frame is read or hashed twice but to validate it."""
        self.submit(lambda: self._seal(scene))

    def commit(self) -> None:
        """Put the sealed job where it belongs, in place of another. Raises DiskError.

        On Windows nobody may hold an array of the scene any more.
        """
        make_folder(self.folder)
        with disk_errors(self.folder):
            (self.folder / job.HEADER).unlink(missing_ok=True)  # from here until the end there is no job
            for name in self._names:
                replace(self.staging() / name, self.folder / name)
            sync_folder(self.folder)
        job.write_header(self.content, self.folder)
        self.close()

    def _seal(self, scene: Scene) -> None:
        scene.validate()
        written = {series.name: series for series in self.series if series.is_file}
        motions = {
            index: written[name].digest
            for index, collider in enumerate(scene.colliders)
            if (name := job.positions_name(index)) in written and written[name].array is collider.positions
        }
        self.content = job.describe(scene, motions)
        for name, write in job.parts(scene):
            if self.closed:
                return
            if name in {job.positions_name(index) for index in motions}:
                _sync(self.staging() / name)
            else:
                write_whole(self.staging() / name, write)
            self._names.append(name)
        self.series.clear()


def _sync(path: Path) -> None:
    with disk_errors(path), open(path, "r+b") as file:
        os.fsync(file.fileno())
