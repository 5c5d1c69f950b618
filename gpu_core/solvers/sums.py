# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertices on the device, in stages of fixed chunks: every device adds in the same order.

The kernel that has two vectors in its registers writes down what their product is the sum of, so that a chunk is added
up from one array. What the stages leave is added up by the one thread that makes use of it.
"""

from __future__ import annotations

from typing import Any

from ..backend import Backend, Launch, launch

CHUNK = 32  #: numbers per partial sum; a card needs threads more than it minds another stage
MOST = 256  #: of the numbers that the one thread adds up


class DotProduct:
    """Σ of a·b over `count` vertices. product: (count, 4) a's numbers times b's, which others fill in."""

    def __init__(self, backend: Backend, count: int) -> None:
        self.product = backend.xp.zeros((count, 4), backend.xp.float32)
        partial = backend.xp.zeros(-(-count // CHUNK), backend.xp.float32)
        chunks = {"product": self.product, "vertices": count, "chunk": CHUNK}
        self._launches = [launch("product_partial", len(partial), **chunks, partial=partial)]
        while len(partial) > MOST:
            sums = backend.xp.zeros(-(-len(partial) // CHUNK), backend.xp.float32)
            chunks = {"partial": partial, "chunks": len(partial), "chunk": CHUNK}
            self._launches.append(launch("partial_total", len(sums), **chunks, sum=sums))
            partial = sums
        self._partial = partial

    def used(self, kernel: str, /, **arguments: Any) -> list[Launch]:
        """The sum, and what a kernel of one element makes of it: it has it as `partial`, `chunks` of them."""
        used = launch(kernel, 1, partial=self._partial, chunks=len(self._partial), **arguments)
        return [*self._launches, used]
