# SPDX-License-Identifier: GPL-3.0-or-later
"""F1 leads from each control to a heading of the manual that exists, in a file that the extension brings."""

from __future__ import annotations

import re
import tomllib

import bpy
import pytest

from taffeta.addon.interface import manual_map
from taffeta.tests.addon.interface.test_controls import PLACES, ROOT, controls, operators


def headings(page: str) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    text = (manual_map.MANUAL / page).read_text(encoding="utf-8")
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def asked() -> list[str]:
    groups = {place: group.__name__ for place, group in PLACES.items()}
    properties = [f"bpy.types.{groups[path.rpartition('.')[0]]}.{path.rpartition('.')[2]}" for path, _ in controls()]
    return [*properties, *(f"bpy.ops.{operator.bl_idname}" for operator in operators())]


def test_every_control_has_a_page_and_a_heading(addon):
    for name in asked():
        url = bpy.types.WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False)
        assert url is not None, name
        assert url.startswith(manual_map.MANUAL.as_uri()), url
        page, _, heading = url.rpartition("/")[2].partition("#")
        assert not heading or heading in headings(page), url


@pytest.mark.parametrize("page", sorted({page.partition("#")[0] for _, page in manual_map.PAGES}))
def test_the_page_is_there_and_the_extension_brings_it(page):
    assert (manual_map.MANUAL / page).is_file()
    with open(ROOT / "blender_manifest.toml", "rb") as file:
        excluded = tomllib.load(file)["build"]["paths_exclude_pattern"]
    assert not {"/docs/", "/docs/manual/", "*.md"} & set(excluded)
