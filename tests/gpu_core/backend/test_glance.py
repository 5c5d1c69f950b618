# SPDX-License-Identifier: GPL-3.0-or-later
"""What a glance at a launch's arguments lets through is what a look at each of them lets through."""

from __future__ import annotations

import numpy as np
import pytest

from taffeta.gpu_core.backend import cpu as cpu_backend
from taffeta.gpu_core.backend import launches
from taffeta.gpu_core.backend.launches import Launch
from taffeta.gpu_core.backend.signatures import signatures

from .small_bakes import SCENES, bake


@pytest.fixture(scope="module")
def bound():
    """One launch of each kernel, as a simulation binds it; and of how many launches a glance was not sure."""
    seen, unsure = {}, []
    with pytest.MonkeyPatch.context() as patch:
        examine, checked = launches._examine, launches.checked

        def noted(item):
            seen[item.kernel] = item
            return checked(item)

        def examined(item, signature):
            unsure.append(item.kernel)
            examine(item, signature)

        patch.setattr(cpu_backend, "checked", noted)
        patch.setattr(launches, "_examine", examined)
        for name in ("all there is", "a balloon", "every field"):
            scene, _, parameters = SCENES[name]
            bake(cpu_backend.CpuBackend(), scene, 1, parameters)
    return seen, unsure


def test_a_glance_is_enough_for_what_a_simulation_binds(bound):
    seen, unsure = bound
    assert len(seen) > 60
    assert unsure == []


def test_what_is_wrong_is_seen_at_a_glance(bound):
    wrong = 0
    for item in bound[0].values():
        for name in item.arguments:
            for value in _changed(item.arguments[name]):
                bad = Launch(item.kernel, item.elements, {**item.arguments, name: value})
                if _refused(bad):
                    assert not launches._fits(bad), (item.kernel, name, value)
                    wrong += 1
        missing = dict(list(item.arguments.items())[1:])
        for bad in (Launch(item.kernel, item.elements, missing), Launch(item.kernel, -1, item.arguments)):
            assert _refused(bad)
            assert not launches._fits(bad)
    assert wrong > 1000


def _changed(value):
    if not isinstance(value, np.ndarray):
        return "1", None, np.ones(1), 1.5 * value, -7
    flat = value.reshape(-1)
    with np.errstate(invalid="ignore"):
        whole = value.astype(np.int32)
    return (
        value.tolist(),
        value.astype(np.float64),
        whole,
        flat,
        flat[:-1],
        flat[:0],
        value[::2],
        value.T,
    )


def _refused(item):
    try:
        launches._examine(item, signatures()[item.kernel])
    except (TypeError, ValueError):
        return True
    return False
