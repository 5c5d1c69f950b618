"""The claims, in the order of the page."""

from __future__ import annotations

from . import projection, strip
from .claim import Claim

CLAIMS: tuple[Claim, ...] = (strip.CLAIM, projection.CLAIM)
