# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the kernels' signatures from their one source text and writes the launch wrappers of each device.

A kernel is `KERNEL void name(int element, …)` in gpu_core/kernels/*.h: what one element does. The first argument is the
element's index; the wrapper loops over it (CPU) or takes it from the thread (CUDA). Each array says how long it is:

    const vec *x OF(vertices), const int *start OF(count + 1), const float *modes OF(rank * vertices)

`count` is the launch's, the name of an int parameter its value: then the array has at least so many elements. Any other
name is one number for all arrays of the launch that use it.

A `KERNEL float` gives a number for its element, and its launches have an array `partial` as well: the sums of CHUNK
such numbers, from the first to the last of them on every device. A `BLOCK_KERNEL void name(int element, int thread,
int threads, …)` says what each of the threads does that have an element together: on a card a block of them, else one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
HEADERS = (
    "membrane.h",
    "bending.h",
    "threads.h",
    "plasticity.h",
    "pressure.h",
    "motion.h",
    "air.h",
    "relaxation.h",
    "curvature.h",
    "multilevel.h",
    "chunked.h",
    "conjugate_gradient.h",
    "change.h",
    "subspace.h",
    "broad_phase.h",
    "additive_ccd.h",
    "candidates.h",
    "pinch.h",
    "barrier.h",
)
CHUNK = 256  #: as in `chunked.h`
WHOLE_BLOCK = 1024  #: threads of a BLOCK_KERNEL on a card
_KERNEL = re.compile(
    r"^(BLOCK_)?KERNEL (void|float) (\w+)\(int ?\w*,?\s*((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\n", re.MULTILINE
)
_PARTIAL = f", float *partial OF((count + {CHUNK - 1}) / {CHUNK})"
_INCLUDE = re.compile(r'#include "(\w+\.h)"')
_WORD = re.compile(r"[A-Za-z_]\w*")
_ELEMENT_TYPES = {"float": np.dtype(np.float32), "int": np.dtype(np.int32), "vec": np.dtype(np.float32)}


@dataclass(frozen=True)
class Length:
    """How many elements an array has: `scale` times a symbol plus `offset`, or a product of known symbols."""

    text: str
    symbol: str
    scale: int
    offset: int
    value: Callable[[Mapping[str, int]], int] = field(compare=False)
    product: bool = False  #: `value` alone knows


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel after the element index."""

    name: str
    base: str  #: float, int or vec
    pointer: bool
    constant: bool
    dtype: np.dtype[Any]
    length: Length

    @property
    def declaration(self) -> str:
        return f"{'const ' if self.constant else ''}{self.base} {'*' if self.pointer else ''}{self.name}"


@dataclass(frozen=True)
class Signature:
    name: str
    parameters: tuple[Parameter, ...]
    summed: bool = False  #: what it gives is added up, chunk by chunk, into its last parameter
    block: bool = False  #: a BLOCK_KERNEL

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(parameter.name for parameter in self.parameters)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names in the order in which a launch takes them."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def number_kinds(self) -> tuple[tuple[int, type[np.number[Any]]], ...]:
        """(where in that order, as what a launch takes it) of each number."""
        kinds: dict[str, type[np.number[Any]]] = {"float": np.float32, "int": np.int32}
        return tuple((k, kinds[p.base]) for k, p in enumerate(self.parameters) if not p.pointer)

    @cached_property
    def passed(self) -> tuple[str, ...]:
        """What the kernel's own function has, besides its element."""
        return self.order[:-1] if self.summed else self.order

    @cached_property
    def arrays(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.pointer)

    @cached_property
    def numbers(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if not parameter.pointer)


def signature(name: str, arguments: str, summed: bool = False, block: bool = False) -> Signature:
    """Of a kernel, from the text between its parentheses after the element index. Raises ValueError."""
    if block:
        arguments = arguments.removeprefix("int thread, int threads,")
    if summed:
        arguments += _PARTIAL
    parts = [" ".join(part.split()) for part in arguments.split(",") if part.strip()]
    known = {"count", *(part.split()[-1] for part in parts if part.startswith("int ") and "*" not in part)}
    made = Signature(name, tuple(_parameter(part) for part in parts), summed, block)
    for parameter in made.arrays:
        if parameter.length.product and not set(_WORD.findall(parameter.length.text)) <= known:
            raise ValueError(f"{name}: {parameter.length.text} must be known from the count and the int parameters")
    return made


def _parameter(text: str) -> Parameter:
    match = re.fullmatch(r"(const )?(float|int|vec) (\*?)(\w+)(?: OF\((.*)\))?", text)
    if match is None:
        raise ValueError(f"cannot read the kernel argument {text!r}")
    if match[2] == "vec" and not match[3]:
        raise ValueError(f"the kernel argument {text!r} must be a pointer: structs by value differ between devices")
    if bool(match[3]) != bool(match[5]):
        raise ValueError(f"the kernel argument {text!r} must say how long it is if it is an array, and only then")
    length = _length(match[5] or "1")
    return Parameter(match[4], match[2], bool(match[3]), bool(match[1]), _ELEMENT_TYPES[match[2]], length)


def _length(text: str) -> Length:
    names = sorted(set(_WORD.findall(text)))
    code = compile(text.replace("/", "//"), text, "eval")
    value = lambda known: int(eval(code, {}, known))  # noqa: E731 - the text is our own headers'
    if len(names) < 2 and "<<" not in text and "/" not in text:
        symbol = names[0] if names else "count"
        offset, next_, third = (value({symbol: k}) for k in range(3))
        if third - next_ == next_ - offset:
            return Length(text, symbol, next_ - offset, offset, value)
    return Length(text, "", 0, 0, value, product=True)


@cache
def signatures() -> dict[str, Signature]:
    """All kernels by name."""
    found: dict[str, Signature] = {}
    for header in HEADERS:
        text = (KERNELS / header).read_text(encoding="utf-8")
        kernels = _KERNEL.findall(text)
        if len(kernels) != text.count("KERNEL void") + text.count("KERNEL float"):
            raise ValueError(f"cannot read every kernel of {header}")
        for block, gives, name, arguments in kernels:
            found[name] = signature(name, arguments, gives == "float", bool(block))
    return found


def include_text() -> str:
    return "".join(f'#include "{header}"\n' for header in HEADERS)


def inlined_text() -> str:
    """What a preprocessor makes of `include_text`, each header once, and the names for what a compiler says of them.

    CuPy keeps compiled kernels by the text that it was given: what a header says has to be in there.
    """
    seen: set[str] = set()

    def inlined(header: str) -> str:
        if header in seen:
            return "\n"
        seen.add(header)
        lines = [f'#line 1 "{header}"\n']
        for number, line in enumerate((KERNELS / header).read_text(encoding="utf-8").splitlines(), start=1):
            if match := _INCLUDE.match(line):
                lines += [inlined(match[1]), f'#line {number + 1} "{header}"\n']
            else:
                lines.append("\n" if line.startswith("#pragma once") else f"{line}\n")
        return "".join(lines)

    return "".join(map(inlined, HEADERS)) + '#line 1 "launches"\n'


def cuda_source() -> str:
    """The text that NVRTC compiles, whole: one __global__ wrapper a kernel."""
    text = [inlined_text()]
    for signature in signatures().values():
        declared = "".join(f", {parameter.declaration}" for parameter in signature.parameters)
        passed = "".join(f", {name}" for name in signature.passed)
        form = _ALL_THREADS if signature.block else _CHUNK_ADDED_UP if signature.summed else _EACH
        text.append(form.format(name=signature.name, declared=declared, passed=passed, most=WHOLE_BLOCK))
    return "\n".join(text)


_EACH = """extern "C" __global__ void launch_{name}(int elements{declared})
{{
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element < elements) {name}(element{passed});
}}
"""
#: A chunk is a block: its threads' numbers lie side by side before the first of them adds them up.
_CHUNK_ADDED_UP = """extern "C" __global__ void __launch_bounds__(CHUNK) launch_{name}(int elements{declared})
{{
    __shared__ __align__(16) float given[CHUNK];
    int element = blockIdx.x * CHUNK + threadIdx.x;
    given[threadIdx.x] = element < elements ? {name}(element{passed}) : 0.0f;
    BARRIER();
    if (threadIdx.x == 0) {{
        float sum = 0.0f;
        for (int k = 0; k < CHUNK; ++k) sum += given[k];
        partial[blockIdx.x] = sum;
    }}
}}
"""
_ALL_THREADS = """extern "C" __global__ void __launch_bounds__({most}) launch_{name}(int elements{declared})
{{
    {name}(blockIdx.x, threadIdx.x, blockDim.x{passed});
}}
"""


def _from_slot(parameter: Parameter, index: int) -> str:
    if parameter.pointer:
        return f"({'const ' if parameter.constant else ''}{parameter.base} *)slot[{index}].pointer"
    return f"slot[{index}].{'real' if parameter.base == 'float' else 'integer'}"


def cpu_source() -> str:
    """The text of the CPU library: one loop over a range of elements a kernel, and a table of them by name."""
    text = [include_text(), '#include "thread_pool.h"\n']
    for signature in signatures().values():
        slots = [_from_slot(parameter, k) for k, parameter in enumerate(signature.parameters)]
        passed = "".join(f", {slot}" for slot in slots[: len(signature.passed)])
        form = _ONE_THREAD if signature.block else _RANGE_ADDED_UP if signature.summed else _RANGE
        text.append(form.format(name=signature.name, passed=passed, partial=slots[-1]))
    rows = "".join(f'    {{"{name}", range_{name}}},\n' for name in signatures())
    text.append(f"static const Entry kernels[] = {{\n{rows}}};\n")
    text.append(
        'extern "C" TAFFETA_EXPORT Range taffeta_kernel(const char *name)\n{\n'
        "    for (const Entry &entry : kernels)\n"
        "        if (!strcmp(entry.name, name)) return entry.range;\n    return nullptr;\n}\n"
    )
    return "\n".join(text)


_RANGE = """static void range_{name}(int first, int last, const Slot *slot)
{{
    for (int element = first; element < last; ++element) {name}(element{passed});
}}
"""
#: A range begins where a chunk does: `Launch::whole`.
_RANGE_ADDED_UP = """static void range_{name}(int first, int last, const Slot *slot)
{{
    for (int element = first; element < last;) {{
        int chunk = element / CHUNK, end = (chunk + 1) * CHUNK < last ? (chunk + 1) * CHUNK : last;
        float sum = 0.0f;
        for (; element < end; ++element) sum += {name}(element{passed});
        ({partial})[chunk] = sum;
    }}
}}
"""
_ONE_THREAD = """static void range_{name}(int first, int last, const Slot *slot)
{{
    for (int element = first; element < last; ++element) {name}(element, 0, 1{passed});
}}
"""
