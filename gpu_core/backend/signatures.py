"""Reads the kernels' signatures from their one source text and writes the launch wrappers of each device.

A kernel is `KERNEL void name(int element, …)` in gpu_core/kernels/*.h: what one element does. The first argument is the
element's index; the wrapper loops over it (CPU) or takes it from the thread (CUDA).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
HEADERS = (
    "membrane.h",
    "bending.h",
    "motion.h",
    "relaxation.h",
    "curvature.h",
    "multilevel.h",
    "conjugate_gradient.h",
    "change.h",
    "subspace.h",
    "broad_phase.h",
    "additive_ccd.h",
    "candidates.h",
    "barrier.h",
)
_KERNEL = re.compile(r"^KERNEL void (\w+)\(int (\w+)(?:,\s*([^)]*))?\)", re.MULTILINE | re.DOTALL)
_ELEMENT_TYPES = {"float": np.dtype(np.float32), "int": np.dtype(np.int32), "vec": np.dtype(np.float32)}


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel after the element index."""

    name: str
    base: str  #: float, int or vec
    pointer: bool
    constant: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        return _ELEMENT_TYPES[self.base]

    @property
    def declaration(self) -> str:
        return f"{'const ' if self.constant else ''}{self.base} {'*' if self.pointer else ''}{self.name}"


@dataclass(frozen=True)
class Signature:
    name: str
    parameters: tuple[Parameter, ...]


def _parameter(text: str) -> Parameter:
    match = re.fullmatch(r"(const )?(float|int|vec) (\*?)(\w+)", " ".join(text.split()))
    if match is None:
        raise ValueError(f"cannot read the kernel argument {text!r}")
    if match[2] == "vec" and not match[3]:
        raise ValueError(f"the kernel argument {text!r} must be a pointer: structs by value differ between devices")
    return Parameter(match[4], match[2], bool(match[3]), bool(match[1]))


@cache
def signatures() -> dict[str, Signature]:
    """All kernels by name."""
    found: dict[str, Signature] = {}
    for header in HEADERS:
        for name, _, arguments in _KERNEL.findall((KERNELS / header).read_text(encoding="utf-8")):
            found[name] = Signature(name, tuple(_parameter(part) for part in arguments.split(",") if part.strip()))
    return found


def include_text() -> str:
    return "".join(f'#include "{header}"\n' for header in HEADERS)


def cuda_source() -> str:
    """The text that NVRTC compiles: one __global__ wrapper a kernel."""
    text = [include_text()]
    for signature in signatures().values():
        declared = "".join(f", {parameter.declaration}" for parameter in signature.parameters)
        passed = "".join(f", {parameter.name}" for parameter in signature.parameters)
        text.append(
            f'extern "C" __global__ void launch_{signature.name}(int elements{declared})\n'
            "{\n    int element = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"    if (element < elements) {signature.name}(element{passed});\n}}\n"
        )
    return "\n".join(text)


def _from_slot(parameter: Parameter, index: int) -> str:
    if parameter.pointer:
        return f"({'const ' if parameter.constant else ''}{parameter.base} *)slot[{index}].pointer"
    return f"slot[{index}].{'real' if parameter.base == 'float' else 'integer'}"


def cpu_source() -> str:
    """The text of the CPU library: one loop over a range of elements a kernel, and a table of them by name."""
    text = [include_text(), '#include "thread_pool.h"\n']
    for signature in signatures().values():
        passed = "".join(f", {_from_slot(p, k)}" for k, p in enumerate(signature.parameters))
        text.append(
            f"static void range_{signature.name}(int first, int last, const Slot *slot)\n"
            f"{{\n    for (int element = first; element < last; ++element) {signature.name}(element{passed});\n}}\n"
        )
    rows = "".join(f'    {{"{name}", range_{name}}},\n' for name in signatures())
    text.append(f"static const Entry kernels[] = {{\n{rows}}};\n")
    text.append(
        'extern "C" TAFFETA_EXPORT Range taffeta_kernel(const char *name)\n{\n'
        "    for (const Entry &entry : kernels)\n"
        "        if (!strcmp(entry.name, name)) return entry.range;\n    return nullptr;\n}\n"
    )
    return "\n".join(text)
