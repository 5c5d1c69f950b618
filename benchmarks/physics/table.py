"""Results as lines of a terminal and as a page."""

from __future__ import annotations

import platform
from typing import Any

from .result import DEFAULT, TIGHT, Result

VERDICT = {True: "holds", False: "FAILS", None: "–"}

PAGE = """# Physics against closed forms

Written by `python -m taffeta.benchmarks.physics --save` on {processor}; the scenarios, with where each reference comes
from, are in `benchmarks/physics/`. "default" is the scene's own tolerance ({default:g} m/s); "tight" is {tight:g} m/s,
with up to 60 iterations between two full CCDs. Rows without a bound are reported only; an empty cell was not run.

## What the numbers rest on

**When a step counts as converged.** A fixed tolerance hides whatever is slower than it: at 0.1 m/s a sheet on a finely
meshed slope stood still above the friction angle (threshold μ 0.8 found at +20 %), and settled cloth moved at 0.2 to
3 mm/s for ten thousand steps. So ‖Δx‖ (root mean square over a cloth) must also be below a tenth of the change of the
cloth's velocity in the step, down to 2 mm/s (`acceleration_share`, `finest`). A drape of 1600 vertices takes 7 % more
iterations for it in its first second, a third more (4 instead of 3) when it calms down.

**Momentum.** What conjugate gradients leave has a mean: colliding sheets lost 8e-4 of Σm|v| and a thrown sheet flew
4–10 mm beside its parabola. `solvers/momentum.py` puts the rigid motion of cloth that no pin and no body holds back
where inertia has it. 1e-6 also needs v = Δx/h by division: (1/h) h is not 1 in float32.

**Creep.** Edge–edge pairs that meet near an end of an edge are made and broken by rounding, and each takes friction's
anchor with it: 0.13 mm/s at 98 % of the friction angle. Their stiffness now fades over the last 5 % of an edge, where
vertex–triangle pairs bear the load.

![Four sheets on four slopes](../pictures/theory/incline.png)
*`incline` of `python -m taffeta.benchmarks.pictures`, μ = 0.3, 1.25 s after the start at the black line; from the back
to the front tan θ = 0.9, 0.98, 1.02 and 1.1 μ: moved by 0.03, 0.03, 42 and 219 mm.*

![A card house that stands, and one that falls](../pictures/theory/card_house.png)
*`card_house`, 0.21 s after the start: with μ = 0.5 it stands (and does after 2 s, 98.6 mm high), with μ = 0.05 it
falls; tan(15°)/2 = 0.134 is needed.*

**What does not hold.** A drape that is unstable (which way does a corner fold?) amplifies whatever the tolerance
leaves: at the default, other numbers of the vertices, or the mirror image, may fold elsewhere. The sheet held by two
corners comes taut with a jerk that these steps do not resolve: its order nears 1 only slowly. Cotton and denim drape
more than measured fabrics of that name: their presets' bending lengths are 1.6 and 1.8 cm.
"""


def processor() -> str:
    """The CPU's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
            return next(names, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()


def row_text(result: Result, solve: str) -> str:
    """One line of at most 140 characters."""
    error, bound = _error(result.error, result.relative), _error(result.bound, result.relative)
    numbers = f"{result.measured:11.5g}{result.reference:11.5g} {result.unit:14}{error:>10}{bound:>9}"
    return f"{result.quantity[:62]:63}{solve:8}{numbers}  {VERDICT[result.holds]}"


def markdown(content: dict[str, Any]) -> str:
    """The page of a physics.json."""
    parts = [PAGE.format(processor=content["processor"], default=DEFAULT.tolerance, tight=TIGHT.tolerance)]
    themes: dict[str, dict[str, dict[str, Any]]] = {}
    for row in content["rows"]:
        theme = themes.setdefault(row["scenario"].partition(".")[0], {})
        theme.setdefault(row["quantity"], {})[row["solve"]] = row
    for name, quantities in themes.items():
        parts.append(f"\n## {name.capitalize()}\n\n")
        parts.append("| | measured, default | measured, tight | reference | bound | default | tight |\n")
        parts.append("|---|---|---|---|---|---|---|\n")
        parts += [_line(quantity, solves) for quantity, solves in quantities.items()]
    return "".join(parts)


def _line(quantity: str, solves: dict[str, dict[str, Any]]) -> str:
    some = next(iter(solves.values()))
    measured = [_measured(solves[s]["measured"]) if s in solves else "" for s in ("default", "tight")]
    verdicts = [VERDICT[solves[s]["holds"]] if s in solves else "" for s in ("default", "tight")]
    unit = f", {some['unit']}" if some["unit"] else ""
    cells = [quantity + unit, *measured, f"{some['reference']:.4g}", _error(some["bound"], some["relative"]), *verdicts]
    return f"| {' | '.join(cells)} |\n"


def _measured(value: float | None) -> str:
    return "none in range" if value is None else f"{value:.4g}"


def _error(value: float | None, relative: bool) -> str:
    if value is None:
        return "–"
    return f"{100 * value:+.2f} %".replace("+", "") if relative else f"{value:.3g}"
