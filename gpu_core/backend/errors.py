# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong with a device."""

from ..messages import Told


class BackendError(Told, RuntimeError):
    """A backend that cannot be used. `problem` and `remedy` are for the user."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class NoDeviceError(BackendError):
    """There is nothing that could be used, and nothing is wrong with that."""
