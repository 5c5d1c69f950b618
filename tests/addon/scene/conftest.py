# SPDX-License-Identifier: GPL-3.0-or-later
"""What several tests of reading a scene begin with."""

from __future__ import annotations

import pytest

HELD = [0, 4, 20]  #: vertices of the sheet


@pytest.fixture
def cape(make_cloth):
    """A sheet with one group of pins beside an empty first one."""
    item = make_cloth("Cape")
    item.vertex_groups.new(name="Held").add(HELD, 1.0, "REPLACE")
    item.taffeta.cloth.pins.add().group = "Held"
    return item
