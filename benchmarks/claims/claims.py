"""The claims, in the order of the page."""

from __future__ import annotations

from . import barrier, partial_ccd, projection, reuse, strip, tablecloth
from .claim import Claim

CLAIMS: tuple[Claim, ...] = (strip.CLAIM, tablecloth.CLAIM, reuse.CLAIM, projection.CLAIM, barrier.CLAIM, partial_ccd.CLAIM)
