# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of an increment is taken where it stretches cords more than Newton's matrix knows.

A stiff cord that moves across itself meets nothing at first, and k δ⁴ / 8ℓ² then; a slack one is not in the matrix at
all, and may be drawn taut. An increment that is taken whole leaves such a rope with a thousand times the energy it had,
and the next one throws it. So the energy of cords is looked at on 1, 1/2, 1/4, … of an increment, all else is taken as
the matrix has it, and the share that lowers their sum most is taken: the whole one, where no cord surprises.
"""

from __future__ import annotations

from typing import Any

from ..backend import Backend, Launch, launch
from ..backend.signatures import CHUNK
from ..elasticity.cord import CordEnergy

SHARES = 12  #: 1 to 1/2048


class CordSearch:
    """Along the increments of Newton's matrix. N vertices."""

    def __init__(self, backend: Backend, cord: CordEnergy | None, x: Any, increment: Any, scalar: Any) -> None:
        """cord: None = all increments are taken whole. x: (V, 4) m. increment: (N, 4) m, of conjugate gradients.
        scalar: (9,) of theirs, see `conjugate_gradient.h`."""
        xp = backend.xp
        self.share = xp.ones(1, xp.float32)  #: of the increment
        self.launches: list[Launch] = []  #: what sets it
        if cord is None or not cord.threads:
            return
        chunks = -(-cord.threads // CHUNK)
        surprise, sums = xp.zeros(SHARES * chunks * CHUNK, xp.float32), xp.zeros(SHARES * chunks, xp.float32)
        self.launches = [
            launch(
                "cord_surprise", cord.threads, x=x, increment=increment, **cord.law, shares=SHARES,
                room=chunks * CHUNK, surprise=surprise,
            ),
            launch("each_number", len(surprise), number=surprise, partial=sums),
            launch("increment_share", 1, surprise=sums, shares=SHARES, chunks=chunks, scalar=scalar, share=self.share),
        ]  # fmt: skip
