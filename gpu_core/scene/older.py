# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in the words of older versions, which had two switches where there is a start policy now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SWITCHES = ("strict_start", "resolve_start")  #: refuse what crosses at the start, bring cloth out of bodies


def policy_of(switches: Mapping[str, Any]) -> str:
    """The start policy that those of the switches mean which are there. Raises TypeError where one is no truth."""
    if any(not isinstance(switches[name], bool) for name in SWITCHES if name in switches):
        raise TypeError("a switch that is neither true nor false")
    if switches.get("strict_start", False):
        return "refuse"
    return "resolve" if switches.get("resolve_start", False) else "tolerate"


def of_today(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON values, with a start policy for the switches of an older version."""
    rest = {name: value for name, value in settings.items() if name not in SWITCHES}
    return rest if len(rest) == len(settings) else {"start": policy_of(settings), **rest}


def of_before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON values, with the switches: what digests are made of, so that those of older jobs stay true."""
    rest = {name: value for name, value in settings.items() if name != "start"}
    if len(rest) == len(settings):
        return rest
    return {"strict_start": settings["start"] == "refuse", "resolve_start": settings["start"] == "resolve", **rest}
