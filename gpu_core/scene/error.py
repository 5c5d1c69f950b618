# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene that cannot be simulated says."""

from __future__ import annotations

from ..messages import Told


class SceneError(Told, ValueError):
    """A scene that cannot be simulated. `object` names the culprit, `remedy` says what the user can do."""

    def __init__(self, object_name: str, problem: str, remedy: str) -> None:
        super().__init__(f"{object_name}: {problem}. {remedy}")
        self.object = object_name
        self.problem = problem
        self.remedy = remedy
