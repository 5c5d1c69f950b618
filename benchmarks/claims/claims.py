# SPDX-License-Identifier: GPL-3.0-or-later
"""The claims, in the order of the page."""

from __future__ import annotations

from . import barrier, choices, forwarding, matrix, partial_ccd, projection, reuse, strip, tablecloth, tolerance
from .claim import Claim

CLAIMS: tuple[Claim, ...] = tuple(
    module.CLAIM
    for module in (
        strip,
        tablecloth,
        reuse,
        projection,
        barrier,
        partial_ccd,
        forwarding,
        tolerance,
        choices,
        matrix,
    )
)
