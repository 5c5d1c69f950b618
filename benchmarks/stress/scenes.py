# SPDX-License-Identifier: GPL-3.0-or-later
"""All stress scenes by name."""

from __future__ import annotations

from .folded import FOLDED
from .forced import FORCED
from .measured import MEASURED
from .piled import PILED
from .stress import Stress
from .struck import STRUCK

SCENES: dict[str, Stress] = {stress.name: stress for stress in (*FORCED, *FOLDED, *STRUCK, *PILED, *MEASURED)}
