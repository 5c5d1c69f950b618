# SPDX-License-Identifier: GPL-3.0-or-later
"""Static material physics against closed forms: bending, buckling, stretch, shear, catenary; on every kind of mesh.

    python -m taffeta.benchmarks.material [--section NAME ...] [--save]

Prints a table; --save puts the sections that ran into results/material.json, with the machine's name. A row without a
bound is there to compare; exit code 1 where a row misses its bound. Takes five minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from ..gpu_core.elasticity.bending import bending
from ..gpu_core.elasticity.choices import BendingForm
from ..gpu_core.scene.fabrics import FABRICS
from ..gpu_core.scene.scene import Material
from . import material_cases as cases
from .strips import Pattern, strip

RESULTS = Path(__file__).resolve().parent / "results" / "material.json"
LENGTH = 0.2  #: m
FORMS: tuple[BendingForm, ...] = get_args(BendingForm)
Meshes = tuple[tuple[Pattern, float], ...]
MESHES: Meshes = (
    ("one diagonal", 0), ("one diagonal", 45), ("one diagonal", 135), ("one diagonal", 30), ("one diagonal", 120),
    ("alternating", 0), ("alternating", 45), ("alternating", 30), ("equilateral", 0), ("equilateral", 30),
    ("stretched", 0), ("stretched", 90), ("stretched", 45), ("stretched", 30), ("delaunay", 0), ("random", 0),
)  # fmt: skip
FEW_MESHES: Meshes = (("one diagonal", 0), ("one diagonal", 135), ("delaunay", 0))
PATCHES: Meshes = (("one diagonal", 0), ("one diagonal", 30), ("alternating", 45), ("random", 0))
SQUARES: Meshes = (("one diagonal", 0), ("alternating", 0), ("delaunay", 0), ("random", 0), ("stretched", 30))
WOVEN = Material(0.12, 900.0, 400.0, 50.0, 1e-6, 0.0, softening=1.0)
KNIT = Material(0.187, 60.0, 35.0, 35.0, 1e-6, 0.0, softening=1.0)


@dataclass(frozen=True)
class Row:
    test: str
    mesh: str
    form: str
    measured: float
    expected: float
    bound: float | None = None  #: largest allowed relative error; None = for comparison

    @property
    def error(self) -> float:
        return self.measured / self.expected - 1.0

    @property
    def met(self) -> bool:
        return self.bound is None or abs(self.error) < self.bound


def _name(pattern: Pattern, degrees: float) -> str:
    return pattern if pattern in ("delaunay", "random") else f"{pattern} {degrees:g}°"


def _bound(form: str, bound: float) -> float | None:
    return bound if form == "plate" else None


def fields() -> Iterator[Row]:
    """Interior energy of prescribed curvature."""
    for pattern in get_args(Pattern):
        shape = strip(pattern, 0, LENGTH, LENGTH, LENGTH / 40)
        for form in FORMS:
            for degrees in (0, 30, 45, 90, 135):
                direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
                found = cases.rigidity_of_field(shape, form, np.outer(direction, direction))
                yield Row(f"cylinder along {degrees}°: D", pattern, form, found, 1.0, _bound(form, 0.03))
            twist = np.array([[0.0, 1.0], [1.0, 0.0]])
            found = cases.rigidity_of_field(shape, form, twist)
            yield Row("saddle: D(1 − ν), ν = 0", pattern, form, found, 1.0, _bound(form, 0.03))


def borders() -> Iterator[Row]:
    """Whole energy of a cylinder on a square of 20 and 40 cells: no moment acts at a free border, so a plate that knows
    it leaves out the last row; a form that does not may be too stiff there."""
    for cells in (20, 40):
        for pattern, _ in FEW_MESHES[::2]:
            shape = strip(pattern, 0, LENGTH, LENGTH, LENGTH / cells)
            for form in FORMS:
                for degrees in (0, 45):
                    direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
                    loss = cases.border_loss(shape, form, np.outer(direction, direction))
                    yield Row(f"whole square, {degrees}°, {cells} cells", pattern, form, 1.0 - loss, 1.0)


def strips() -> Iterator[Row]:
    """Small deflection of cantilevers: two wide, two narrow."""
    for pattern, degrees in MESHES:
        for cells, wide in ((20, 5), (40, 10), (40, 4), (40, 2)):
            shape = strip(pattern, degrees, LENGTH, LENGTH * wide / cells, LENGTH / cells)
            for form in FORMS:
                found = cases.rigidity_of_strip(shape, form)
                yield Row(
                    f"strip {cells} × {wide} cells: D", _name(pattern, degrees), form, found, 1.0, _bound(form, 0.03)
                )


def cantilevers() -> Iterator[Row]:
    """Large deflection against the elastica: drop/L, and the gravito-bending master curve's aspect drop/reach."""
    for pattern, degrees in MESHES:
        name = _name(pattern, degrees)
        for gamma, cells in ((1.0, 20), (10.0, 10), (10.0, 20), (10.0, 40), (100.0, 40)):
            shape = strip(pattern, degrees, LENGTH, 0.25 * LENGTH, LENGTH / cells)
            exact = cases.elastica_tip(gamma)
            for form in FORMS if (gamma, cells) == (10.0, 20) else ("plate",):
                try:
                    reach, drop = cases.cantilever(shape, form, gamma)
                except ArithmeticError:  # no equilibrium found: a bound missed, not the end of all the other cases
                    reach = drop = math.nan
                yield Row(f"Γ {gamma:g}, {cells} cells: drop/L", name, form, drop, exact[1], _bound(form, 0.03))
                aspect = exact[1] / exact[0]
                yield Row(f"Γ {gamma:g}, {cells} cells: aspect", name, form, drop / reach, aspect, _bound(form, 0.03))


def upright() -> Iterator[Row]:
    for pattern, degrees in MESHES:
        for cells in (10, 20, 40):
            shape = strip(pattern, degrees, LENGTH, 0.25 * LENGTH, LENGTH / cells)
            for form in FORMS if cells == 20 else ("plate",):
                found = cases.buckling(shape, form)
                test, name = f"upright strip, {cells} cells: Γ", _name(pattern, degrees)
                yield Row(test, name, form, found, cases.GREENHILL, _bound(form, 0.03))


def stretches() -> Iterator[Row]:
    """Patch tests under tractions: stretch along warp, weft and bias, and shear, small and at 5 %."""
    for (pattern, degrees), cells in zip(PATCHES, (4, 8, 4, 8), strict=True):
        shape = strip(pattern, degrees, 0.1, 0.1, 0.1 / cells)
        name = f"{_name(pattern, degrees)}, {cells} cells"
        for label, fabric in (("woven", WOVEN), ("knit", KNIT)):
            warp, weft, shear = fabric.stretch_warp, fabric.stretch_weft, fabric.shear
            for strain in (1e-3, 0.05):
                for direction, turned, stiffness in (("warp", 0.0, warp), ("weft", 90.0, weft)):
                    pull = strain * stiffness
                    found = pull / (cases.traction(shape, fabric, turned, (pull, 0, 0, 0))[0, 0] - 1.0)
                    yield Row(f"{label}, {direction}, {strain:.1%}: Y", name, "", found, stiffness, 0.01)
            bias = 4.0 / (1.0 / warp + 1.0 / weft + 1.0 / shear)
            pull = 1e-3 * bias
            found = pull / (cases.traction(shape, fabric, 45.0, (pull, 0, 0, 0))[0, 0] - 1.0)
            yield Row(f"{label}, bias, 0.1%: Y", name, "", found, bias, 0.01)
            force = 1e-3 * shear
            deformed = cases.traction(shape, fabric, 0.0, (0, force, force, 0))
            yield Row(f"{label}, 1e-3 rad: G", name, "", force / (deformed[0, 1] + deformed[1, 0]), shear, 0.01)


def fabrics() -> Iterator[Row]:
    """What each preset's numbers become: softening lowers Y on purpose below the strain limit."""
    from ..gpu_core.elasticity.membrane import constraint_stiffness

    for fabric in FABRICS:
        rotation, warp, weft, _ = constraint_stiffness(vars(fabric.material))
        yield Row(f"{fabric.name}: warp Y", "", "", rotation + warp, fabric.stretch.warp)
        yield Row(f"{fabric.name}: weft Y", "", "", rotation + weft, fabric.stretch.weft)
        yield Row(f"{fabric.name}: G", "", "", 0.5 * rotation, fabric.shear)


def catenaries() -> Iterator[Row]:
    for pattern, degrees in FEW_MESHES:
        for cells in (20, 40, 80):
            shape = strip(pattern, degrees, 1.0, 0.05, 1.0 / cells)
            for span in (0.8, 0.95):
                stretch = 2000.0
                exact = cases.elastic_catenary(span, cases.DENSITY * cases.GRAVITY / stretch)
                found = cases.catenary_sag(shape, span, stretch)
                name = _name(pattern, degrees)
                yield Row(f"catenary, span {span}, {cells} cells: sag/L", name, "plate", found, exact, 0.01)


def locking() -> Iterator[Row]:
    """A real fabric: the flat triangles' own resistance to bending (membrane locking) comes on top of D."""
    cotton = FABRICS[0].material
    length = float((10.0 * cotton.bend / (cotton.density * cases.GRAVITY)) ** (1.0 / 3.0))
    exact = cases.elastica_tip(10.0)[1]
    for pattern, degrees in FEW_MESHES:
        for cells in (5, 10, 20):
            shape = strip(pattern, degrees, length, 0.5 * length, length / cells)
            for softening in (1.0, cotton.softening):
                drop = cases.cantilever_of(shape, "plate", replace(cotton, softening=softening))[1]
                test = f"cotton, Y × {softening:g}, edge {1e3 * length / cells:.1f} mm: drop/L"
                yield Row(test, _name(pattern, degrees), "plate", drop, exact)


def simulator() -> Iterator[Row]:
    """The product's own solver against the static solution of the same mesh, after 6 s, by its tolerance."""
    length = 0.06
    material = replace(cases.isotropic(200.0, cases.DENSITY * cases.GRAVITY * length**3 / 10.0), air_drag=1.0)
    for pattern, degrees in FEW_MESHES:
        shape = strip(pattern, degrees, length, 0.4 * length, length / 16)
        exact = cases.cantilever_of(shape, "plate", material)[1]
        for tolerance in (0.015, 2e-3, 2e-5):
            _, drop, speed = cases.settled_tip(shape, material, 6.0, tolerance)
            test = f"simulator, tolerance {1e3 * tolerance:g} mm/s ({1e3 * speed:.2f} mm/s left): drop/L"
            yield Row(test, _name(pattern, degrees), "plate", drop, exact, 0.03)


def costs() -> Iterator[Row]:
    """Per vertex: rows, their entries, entries of the Hessian; and λ_max(D⁻¹Q), which bounds the relaxation.

    Relative to the hinge form, the paper's."""
    for pattern, degrees in SQUARES:
        shape = strip(pattern, degrees, 1.0, 1.0, 1.0 / 40)
        cloth = cases.sheet(shape, cases.isotropic(1.0, 1.0), shape.clamp[:0])
        found = {form: _cost(cloth, form) for form in FORMS}
        for form in FORMS:
            for what, value, reference in zip(
                ("rows", "entries of K", "entries of Q", "λ_max(D⁻¹Q)"), found[form], found["hinge"], strict=True
            ):
                yield Row(f"cost: {what}", _name(pattern, degrees), form, value, reference)


def _cost(cloth: cases.Cloth, form: BendingForm) -> tuple[float, float, float, float]:
    part, count = bending(cloth, form), len(cloth.positions)
    scale = sparse.diags_array(part.hessian.diagonal() ** -0.5)
    matrix = scale @ part.hessian @ scale
    largest = linalg.eigsh(matrix, k=1, which="LA", tol=1e-3, v0=np.ones(count), return_eigenvectors=False)[0]
    return part.rows.shape[0] / count, part.rows.nnz / count, part.hessian.nnz / count, float(largest)


SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    section.__name__: section
    for section in (
        fields, borders, strips, cantilevers, upright, stretches, fabrics, catenaries, locking, costs, simulator
    )
}  # fmt: skip


def processor() -> str:
    """The CPU's name."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        found = re.search(r"model name\s*:\s*(.+)", lines.read())
    return found[1].strip() if found else platform.machine()


def run(names: list[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for name in names:
        print(f"\n{name}\n{'':46}{'mesh':20}{'form':8}{'measured':>11}{'expected':>11}{'error':>9}{'bound':>7}")
        began, found[name] = time.perf_counter(), []
        for row in SECTIONS[name]():
            found[name].append(row)
            verdict = "" if row.bound is None else f"{row.bound:7.0%}{'' if row.met else '  MISSED'}"
            print(
                f"{row.test:46}{row.mesh:20}{row.form:8}{row.measured:11.5g}{row.expected:11.5g}"
                f"{row.error:9.2%}{verdict}",
                flush=True,
            )
        print(f"{time.perf_counter() - began:.0f} s")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--section", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--save", action="store_true", help="put the sections into the JSON")
    options = parser.parse_args()
    found = run(options.section)
    missed = [row for rows in found.values() for row in rows if not row.met]
    print(f"\n{len(missed)} of {sum(row.bound is not None for rows in found.values() for row in rows)} bounds missed")
    if options.save:
        _save(found)
    sys.exit(bool(missed))


def _save(found: dict[str, list[Row]]) -> None:
    """Sections that ran give way; all others stay as they are in the file."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["sections"] if RESULTS.exists() else {}
    new = {name: [_entry(row) for row in rows] for name, rows in found.items()}
    sections = {name: {**kept, **new}[name] for name in SECTIONS if name in kept or name in new}
    missed = sum(not row["met"] for rows in sections.values() for row in rows)
    content = {"processor": processor(), "missed": missed, "sections": sections}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _entry(row: Row) -> dict[str, object]:
    """As JSON can hold it: null where nothing was found."""
    numbers = {"measured": row.measured, "expected": row.expected, "error": row.error}
    found = {name: None if math.isnan(value) else float(value) for name, value in numbers.items()}
    return {**asdict(row), **found, "met": bool(row.met)}


if __name__ == "__main__":
    main()
