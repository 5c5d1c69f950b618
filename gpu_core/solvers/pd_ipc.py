# SPDX-License-Identifier: GPL-3.0-or-later
"""The baseline `pd_ipc` (Lan 2022b; Lan 2024 §3, Fig. 9): `ndb` with weights by distance, a full CCD each iteration.

The log barrier of eq. 6 weighs a pair by the distance at the last feasible state, so each local–global iteration has to
end with a full CCD and the filter: partial CCD gives no distance.
"""

from __future__ import annotations

from dataclasses import replace

from .parameters import NEVER, NdbParameters

KAPPA = 1.0  #: κ/d̂² relative to the diagonal of H under the pair: the 0.1, 1 and 10 differ little (claims.md)


def pd_ipc(ndb: NdbParameters, kappa: float = KAPPA) -> NdbParameters:
    """The choices of `ndb` with the distance-based barrier, and as many iterations a step at most."""
    return ndb.replaced(
        law=replace(ndb.contact.law, distance=True, start=kappa, most=0, samples=0),
        inner_iterations=1,
        min_iterations=1,
        damped_after=NEVER,
        outer_iterations=ndb.limits.inner_iterations * ndb.limits.outer_iterations,
    )
