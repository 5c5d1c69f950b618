# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: measured or estimated numbers of real cloth, in SI units.

Sources by tag: W11 Wang, O'Brien, Ramamoorthi 2011; P14 Penava et al. 2014; C17 Clyde, Teran, Tamstorf 2017; H16 denim
study, J. Textiles 2016; MIT Bouman et al. 2013; M21 Memon et al. 2021; PPF the ppf-contact-solver calibration;
KES the Kawabata range; E an estimate. Warp comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .scene import Material

#: Contact cannot resolve a thinner sheet reliably, so thinner fabrics keep this distance, m.
THINNEST_CONTACT = 1.0e-3

#: Up to this strain limit the limit carries the load and the stretch below it is softened against locking; fabrics
#: that stretch further live in their measured stiffness, which must stay as it is.
SOFTENED_STRAIN_LIMIT = 0.10

#: Curvature that is left when cloth was bent and let go, M/D with M its friction moment, 1/m: the middle of 23 to 54,
#: six denims (H16). Taken for all yarns (E): no other fabric's friction was found beside its D.
RESIDUAL_CURVATURE = 39.0


#: The numbers that make a fabric; with another thickness or air it keeps its name.
FABRIC_NUMBERS = (
    "density", "stretch_warp", "stretch_weft", "shear", "bend", "bend_friction", "strain_limit", "softening",
    "friction", "stretch_damping", "shear_damping", "bend_damping", "stretch_yield",
    "bend_yield",
)  # fmt: skip

SINGLE_PRECISION = 1.0e-6  #: relative: Blender's properties are float32


class Directions(NamedTuple):
    """A number along warp and along weft."""

    warp: float
    weft: float


@dataclass(frozen=True)
class Fabric:
    """One preset. `stretch` and `shear` in N/m, `bend` (flexural rigidity D) in N·m, `bend_friction` in N."""

    identifier: str
    name: str
    density: float  #: kg/m²
    thickness: float  #: m
    stretch: Directions
    shear: float
    bend: Directions
    bend_friction: float  #: moment per width at which yarns slide
    friction: float  #: Coulomb μ, cloth on cloth
    skin_friction: float  #: Coulomb μ, cloth on dry skin
    strain_limit: float  #: 0.06 = 6 %; 0 = the fabric has none
    source: str

    @property
    def material(self) -> Material:
        """The solver's material; its bending is isotropic, so D is the mean of warp and weft."""
        softened = 0 < self.strain_limit <= SOFTENED_STRAIN_LIMIT
        return Material(
            density=self.density,
            stretch_warp=self.stretch.warp,
            stretch_weft=self.stretch.weft,
            shear=self.shear,
            bend=_mean(self.bend),
            bend_friction=self.bend_friction,
            strain_limit=self.strain_limit,
            softening=Material.softening if softened else 1.0,
            friction=self.friction,
        )

    @property
    def contact_thickness(self) -> float:
        """Distance the solver keeps between mid-surfaces, m."""
        return max(self.thickness, THINNEST_CONTACT)


def _fabric(
    name: str,
    density: float,
    thickness: float,
    stretch: tuple[float, float],
    shear: float,
    bend: tuple[float, float],
    friction: tuple[float, float],
    strain_limit: float,
    source: str,
    *,
    yarns: bool = True,
) -> Fabric:
    identifier = name.upper().replace(" ", "_")
    warp_weft, rigidity = Directions(*stretch), Directions(*bend)
    rubbing = RESIDUAL_CURVATURE * _mean(rigidity) if yarns else 0.0
    return Fabric(
        identifier, name, density, thickness, warp_weft, shear, rigidity, rubbing, *friction, strain_limit, source
    )


def _mean(number: Directions) -> float:
    return 0.5 * (number.warp + number.weft)


# fmt: off
FABRICS: tuple[Fabric, ...] = (
    _fabric("Cotton", 0.120, 0.25e-3, (4500, 2800), 80, (6.0e-6, 4.0e-6), (0.40, 0.40), 0.06,
            "poplin: stretch C17, shear P14 and C17, strain limit P14, bend KES and PPF"),
    _fabric("Denim", 0.324, 0.75e-3, (6000, 3200), 120, (2.2e-5, 1.6e-5), (0.50, 0.45), 0.05,
            "density and bend W11 and H16, stretch C17, shear H16"),
    _fabric("Silk", 0.083, 0.18e-3, (1800, 770), 50, (1.0e-6, 0.8e-6), (0.25, 0.30), 0.08,
            "habotai, charmeuse: C17, bend near PPF"),
    _fabric("Satin", 0.120, 0.22e-3, (2500, 1500), 40, (2.5e-6, 2.0e-6), (0.25, 0.30), 0.06,
            "E, between silk and polyester"),
    _fabric("Chiffon", 0.045, 0.12e-3, (600, 500), 15, (3.0e-7, 3.0e-7), (0.30, 0.30), 0.06, "E"),
    _fabric("Linen", 0.152, 0.35e-3, (6000, 5000), 90, (1.4e-5, 1.2e-5), (0.40, 0.40), 0.04,
            "density and bend MIT, rest E"),
    _fabric("Wool", 0.235, 0.55e-3, (6000, 4000), 30, (8.0e-6, 6.0e-6), (0.40, 0.45), 0.085,
            "suiting: density, thickness, shear, strain limit P14, stretch reduced from P14, bend PPF"),
    _fabric("Jersey Knit", 0.187, 0.60e-3, (60, 35), 35, (5.5e-6, 3.5e-6), (0.40, 0.40), 0.40,
            "W11; thickness and strain limit E; stiffens fivefold by 17 % stretch"),
    _fabric("Rib Knit", 0.276, 0.90e-3, (130, 85), 80, (1.1e-5, 0.8e-5), (0.45, 0.40), 0.60,
            "W11; thickness and strain limit E"),
    _fabric("Polyester", 0.165, 0.25e-3, (2900, 1300), 30, (9.0e-6, 6.0e-6), (0.30, 0.35), 0.065,
            "woven: P14, bend W11"),
    _fabric("Leather", 0.50, 0.80e-3, (15000, 15000), 3000, (4.0e-5, 4.0e-5), (0.50, 0.50), 0.05,
            "garment: thickness M21, rest E", yarns=False),
    _fabric("Latex", 0.38, 0.40e-3, (600, 600), 200, (1.1e-5, 1.1e-5), (0.80, 0.90), 0.0,
            "0.4 mm sheet: E from 1.5 MPa, Poisson 0.5, 950 kg/m³; stretches to 200 %, so no limit", yarns=False),
    _fabric("Felt", 0.35, 2.0e-3, (3000, 3000), 1000, (1.5e-4, 1.5e-4), (0.50, 0.45), 0.10, "2 mm craft felt: E",
            yarns=False),
    _fabric("Canvas", 0.35, 0.55e-3, (9000, 3500), 450, (6.0e-5, 4.5e-5), (0.45, 0.45), 0.04, "C17, bend MIT"),
    _fabric("Tulle", 0.020, 0.30e-3, (250, 150), 15, (3.0e-6, 2.0e-6), (0.30, 0.35), 0.15, "E, stands off the body"),
    _fabric("Nylon Ripstop", 0.0585, 0.09e-3, (6000, 5000), 150, (6.0e-6, 5.0e-6), (0.25, 0.30), 0.04,
            "density MIT, bend half of MIT, rest E"),
    _fabric("Velvet", 0.20, 1.0e-3, (1500, 1200), 50, (1.2e-5, 1.0e-5), (0.50, 0.45), 0.08,
            "density raised from MIT, bend MIT, rest E"),
)
# fmt: on
COTTON = FABRICS[0]  #: what a new cloth is made of


def named(name: str) -> Fabric:
    """The preset of that name, in whatever case. Raises KeyError."""
    return {fabric.name.lower(): fabric for fabric in FABRICS}[name.lower()]


def fabric_of(numbers: Mapping[str, float]) -> Fabric | None:
    """The preset that has these FABRIC_NUMBERS, which may be rounded to float32; None if they are somebody's own.

    A number that is not there is 0, as what older versions did not know of.
    """
    return next((fabric for fabric in FABRICS if _has(fabric.material, numbers)), None)


def _has(material: Material, numbers: Mapping[str, float]) -> bool:
    return all(
        abs(numbers.get(name, 0.0) - getattr(material, name)) <= SINGLE_PRECISION * getattr(material, name)
        for name in FABRIC_NUMBERS
    )
