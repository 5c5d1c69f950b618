# SPDX-License-Identifier: GPL-3.0-or-later
"""Where two objects meet: what holds there in place of what both say by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .arrays import Array
from .error import SceneError
from .limits import require_number


@dataclass(frozen=True)
class Encounter:
    """An exception for one pair of objects. Of several that hold at a moment the last one counts."""

    first: int  #: an object: the scene's cloths first, then its colliders
    second: int  #: another one, or the same cloth: with itself
    collides: bool = True
    friction: float | None = None  #: Coulomb μ of the pair; None = the mean of what both have
    since: int | None = None  #: the first frame at which it holds; None = from the start
    until: int | None = None  #: the last one; None = to the end
    keys: Mapping[str, Array] = field(default_factory=dict)  #: of friction, as `scene.Keys`

    def holds(self, frame: float) -> bool:
        """In a step that ends at this frame. Between `since` − 1 and `since` it does not yet."""
        return (self.since is None or frame >= self.since) and (self.until is None or frame <= self.until)


def validate_encounters(encounters: Sequence[Encounter], names: Sequence[str], cloths: int) -> None:
    """names: of all objects, of which so many are cloths. Raises SceneError."""
    for item in encounters:
        if not (0 <= item.first < len(names) and 0 <= item.second < len(names)):
            raise SceneError("Scene", "an exception names an object that does not exist", "Export the scene again")
        name, other = names[item.first], names[item.second]
        if min(item.first, item.second) >= cloths:
            raise SceneError(name, f"its exception with {other} says nothing: both are bodies", "Choose a cloth")
        if item.since is not None and item.until is not None and item.until < item.since:
            problem = f"its exception with {other} ends at frame {item.until}, before it begins at {item.since}"
            raise SceneError(name, problem, "Set the last frame to the first one or later")
        if item.friction is not None:
            require_number(name, "friction", item.friction)
        elif item.keys:
            raise SceneError(name, f"its exception with {other} has keys but no friction", "Set its friction")
