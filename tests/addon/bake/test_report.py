# SPDX-License-Identifier: GPL-3.0-or-later
"""The log beside the cache and the report for the clipboard."""

from __future__ import annotations

import getpass
import re
from pathlib import Path

import bpy
import pytest

from taffeta.addon.bake import report, session
from taffeta.addon.bake.report import without_paths
from taffeta.addon.bake.state import Happening
from taffeta.gpu_core.bake.events import Checked, Frame
from taffeta.gpu_core.bake.log import words
from taffeta.tests.addon.baking import begin, end, folder, until_frame


def test_a_bake_leaves_a_log_that_tells_its_story(saved_scene):
    bpy.ops.taffeta.bake()
    log = (folder(saved_scene) / "bake.log").read_text(encoding="utf-8")
    for expected in ("Taffeta ", "Frames 1–4 at 24 fps", "Cloth Cloth: density 0.12", "Collider Floor: friction 0.4"):
        assert expected in log
    assert re.search(r"\d\d:\d\d:\d\d  start on cpu: ", log)
    assert re.search(r"frame 3: [\d.]+ s, 8 steps, \d+ iterations, \d+ contacts, .*largest stretch 1\.", log)
    assert log.rstrip().endswith("done")


def test_a_resumed_bake_goes_on_in_the_same_log_and_a_new_one_begins_anew(saved_scene):
    saved_scene.frame_end = 30
    bake = until_frame(begin(), 2)
    bake.handle(Happening.CANCEL)
    end(bake)
    bpy.ops.taffeta.bake(resume=True)
    log = (folder(saved_scene) / "bake.log").read_text(encoding="utf-8")
    assert log.index("cancelled") < log.rindex("start on cpu")
    bpy.ops.taffeta.bake()
    assert (folder(saved_scene) / "bake.log").read_text(encoding="utf-8").count("start on cpu") == 1


def test_a_frame_that_is_not_clean_has_its_codes_in_the_log():
    late = {"frame": 7, "seconds": 1.0, "steps": 8, "late_steps": 2, "unfinished_steps": 1}
    assert words(Frame(late, 7, 48)) == "frame 7: start state [TAF-F005, TAF-F008]"
    released = {"frame": 7, "seconds": 1.0, "steps": 8, "late_steps": 2, "released": ["Arm and Sleeve"]}
    assert words(Frame(released, 7, 48)) == "frame 7: start state [TAF-F004]"
    assert words(Frame({"frame": 7, "seconds": 1.0}, 7, 48)) == "frame 7: start state"


def test_troubles_of_a_frame_stand_in_the_log():
    event = Checked({"frame": 7, "intersections": 2, "findings": ["the edge 1–2 of Skirt meets …"]})
    assert words(event) == "frame 7: 2 intersections [TAF-F001]; the edge 1–2 of Skirt meets …"
    assert words(Checked({"frame": 7, "intersections": 0, "findings": []})) == ""


def test_the_report_names_versions_device_scene_and_troubles(saved_scene):
    bpy.ops.taffeta.bake()
    bpy.data.objects["Cloth"].taffeta.cloth.density = 0.5
    text = report.text(saved_scene, session.state())
    for expected in (
        f"Blender {bpy.app.version_string}",
        "Last bake: Baked 4 frames",
        "Device: cpu, ",
        "Cache of Cloth, 25 vertices: stale, Cloth: density is 0.5, was 0.12",
        "Certificates: none of 4 frames intersects",
        "Collider Floor",
        "Log, the last ",
    ):
        assert expected in text


def test_the_report_holds_no_personal_path(saved_scene, tmp_path):
    saved_scene.taffeta.cache_folder = str(tmp_path / "in the way")
    (tmp_path / "in the way").write_text("a file")
    with pytest.raises(RuntimeError):
        bpy.ops.taffeta.bake()
    saved_scene.taffeta.cache_folder = ""
    bpy.ops.taffeta.bake()
    text = report.text(saved_scene, session.state())
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text
    assert not re.search(rf"\b{getpass.getuser()}\b", text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/mnt/jane/films/shot 10/Cloth.pc2 is cut off", "…/Cloth.pc2 is cut off"),
        (r"C:\Users\Jane\films\shot.blend holds it", "…/shot.blend holds it"),
        (r"\\server\jane\shot.blend", "…/shot.blend"),
        ("9 / 12 frames, 0.5 m/s, 3/4, and/or", "9 / 12 frames, 0.5 m/s, 3/4, and/or"),
        ("File “/opt/blender/4.5/python/x.py”, line 3", "File “…/x.py”, line 3"),
    ],
)
def test_folders_go_and_everything_else_stays(line, expected):
    assert without_paths(line) == expected


def test_the_button_copies_the_report(saved_scene):
    bpy.ops.taffeta.bake()
    assert bpy.ops.taffeta.copy_report() == {"FINISHED"}
    # in background Blender has no clipboard of its own to read it back from
