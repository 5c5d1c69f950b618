# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertices on the device, in stages of fixed chunks: every device adds in the same order.

The kernel that has two vectors in its registers writes down what their product is the sum of, so that a chunk is added
up from one array. What the stages leave is added up by the one thread that makes use of it.
"""

from __future__ import annotations

from typing import Any

from ..backend import Backend, Launch, launch

CHUNK = 256  #: numbers per partial sum, as in `chunked.h`, and most of those that one thread adds up in the end


class DotProduct:
    """Σ of a·b over `count` vertices.

    A processor adds a chunk up from one end of the memory to the other. On a card the threads of neighbouring chunks
    read together, and what they read at once has to lie side by side: there it is the first of each chunk, then the
    second of each, and so on.
    """

    def __init__(self, backend: Backend, count: int) -> None:
        chunks = -(-count // CHUNK)
        #: where others put a's numbers times b's, one vector a vertex; as kernels have it
        self.product: dict[str, Any] = {
            "product_at": backend.xp.zeros((CHUNK * chunks, 4), backend.xp.float32),
            "stride": chunks if backend.asynchronous else 1,
        }
        partial = backend.xp.zeros(chunks, backend.xp.float32)
        self._launches = [launch("product_partial", chunks, **self.product, vertices=count, partial=partial)]
        while len(partial) > CHUNK:
            sums = backend.xp.zeros(-(-len(partial) // CHUNK), backend.xp.float32)
            self._launches.append(launch("partial_total", len(sums), partial=partial, chunks=len(partial), sum=sums))
            partial = sums
        self._partial = partial

    def used(self, kernel: str, /, **arguments: Any) -> list[Launch]:
        """The sum, and what a kernel of one element makes of it: it has it as `partial`, `chunks` of them."""
        used = launch(kernel, 1, partial=self._partial, chunks=len(self._partial), **arguments)
        return [*self._launches, used]
