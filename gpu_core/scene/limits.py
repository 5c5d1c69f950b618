# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values a number may have, whoever it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .error import SceneError

#: Numbers that are above 0; all others may be 0 or more, if `RANGES` does not say otherwise.
POSITIVE = frozenset(
    (
        "density",
        "stretch_warp",
        "stretch_weft",
        "softening",
        "thickness",
        "time_scale",
        "cord_stiffness",
        "cord_density",
    )
)
LEAST = float(np.finfo(float).tiny)
ANY = (-np.inf, np.inf)
SHARE = (0.0, 1.0)
RANGES = {
    "gravity": ANY, "pin_strength": SHARE, "strength": SHARE, "shrink": (-9.0, 0.9), "cord_shrink": (-9.0, 0.9),
    "fold_angle": (-np.pi, np.pi), "pressure": ANY, "fluid_density": ANY,
}  # fmt: skip


def require_numbers(name: str, values: Mapping[str, float]) -> None:
    """Raises SceneError at the first that may not be; name: whose they are."""
    for key, value in values.items():
        require_number(name, key, value)


def require_number(name: str, key: str, value: float | Sequence[float], when: str = "") -> None:
    """key: a field of `Material`, `Shape`, `Cloth`, `PinGroup`, `Collider` or `Settings`; `_max`: where painted."""
    number, values = key.removesuffix("_max"), np.asarray(value)
    low, high = RANGES.get(number, (LEAST if number in POSITIVE else 0.0, np.inf))
    if (np.isfinite(values) & (values >= low) & (values <= high)).all():
        return
    allowed = "0 or more" if low == 0.0 else f"{low:g} to {high:g}"
    remedy = f"Set {key} to {allowed}"
    if (low, high) == ANY:
        remedy = f"Set {key} to finite numbers"
    elif number in POSITIVE:
        remedy = f"Set {key} above 0"
    raise SceneError(name, f"{key} is {value}{when}", remedy)
