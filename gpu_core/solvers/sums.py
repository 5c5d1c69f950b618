# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertices on the device, in stages of fixed chunks: every device adds in the same order.

The kernel that has two vectors in its registers gives their product, and its launch adds a chunk of them up
(backend/signatures.py). What the stages leave is added up by the one thread that makes use of it.
"""

from __future__ import annotations

from typing import Any

from ..backend import Backend, Launch, launch
from ..backend.signatures import CHUNK


class DotProduct:
    """Σ of a·b over `count` vertices. CHUNK is also the most numbers that one thread adds up in the end."""

    def __init__(self, backend: Backend, count: int) -> None:
        partial = backend.xp.zeros(-(-count // CHUNK), backend.xp.float32)
        #: where the kernel that gives the products has its sums, as its launch takes it
        self.product: dict[str, Any] = {"partial": partial}
        self._launches: list[Launch] = []
        while len(partial) > CHUNK:
            sums = backend.xp.zeros(-(-len(partial) // CHUNK), backend.xp.float32)
            self._launches.append(launch("each_number", len(partial), number=partial, partial=sums))
            partial = sums
        self._partial = partial

    def used(self, kernel: str, /, **arguments: Any) -> list[Launch]:
        """The sum, and what a kernel of one element makes of it: it has it as `partial`, `chunks` of them."""
        used = launch(kernel, 1, partial=self._partial, chunks=len(self._partial), **arguments)
        return [*self._launches, used]
