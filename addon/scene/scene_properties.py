# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user sets for the whole scene: `scene.taffeta`."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ...gpu_core.scene.scene import Settings
from ...gpu_core.scene.settings import MOST_BUDGET, MOST_SAMPLES
from .encounter_properties import EncounterProperties
from .shown import KEYED, UNKEYED, shown, shown_length

#: The methods by the names of the scripts' `preset`, in the order of the panel.
METHODS = {
    "DEFAULT": ("NEWTON", "Newton", "The energies' curvature in every iteration: the most robust, for any scene"),
    "SUBSPACE": (
        "SUBSPACE",
        "Subspace Reuse",
        "A constant matrix with a subspace that every step reuses (Lan 2024), and Newton where that finds no end",
    ),
    "PAPER": ("PUBLISHED", "As Published", "What the paper prints, for comparison: slower, and cloth falls too slowly"),
}


def _get_method(chosen: SceneProperties) -> int:
    return list(METHODS).index(chosen.preset)


def _set_method(chosen: SceneProperties, index: int) -> None:
    chosen.preset = list(METHODS)[index]


class SceneProperties(bpy.types.PropertyGroup):
    """`scene.taffeta`; names and units as `gpu_core.scene.scene.Settings`."""

    time_scale: FloatProperty(
        name="Time Scale",
        description="Seconds that pass for the cloth in a second of the animation: less is slow motion",
        default=Settings.time_scale,
        min=0.01,
        max=100.0,
        soft_max=4.0,
        precision=2,
        step=1,
        options=KEYED,
    )
    step_rate: FloatProperty(
        name="Steps per Second",
        description="Solver steps per second of scene time, rounded to whole steps per frame",
        default=Settings.step_rate,
        min=1.0,
        max=1e6,
        soft_min=48.0,
        soft_max=600.0,
        precision=0,
        step=2400,
        options=UNKEYED,
    )
    tolerance: FloatProperty(
        name="Tolerance (m/s)",
        description="A step has converged when no vertex is still corrected faster than this: smaller is slower and "
        "nearer to the exact solution",
        default=Settings.tolerance,
        min=1.0e-5,
        soft_min=1.0e-3,
        soft_max=1.0,
        precision=4,
        step=0.1,
        options=UNKEYED,
    )
    tolerance_shown: shown(
        "tolerance_shown",
        "Tolerance",
        "A step has converged when no vertex is still corrected faster than this: smaller is slower and "
        "nearer to the exact solution",
        soft_max=1.0,
        precision=3,
        step=1,
        unit="VELOCITY",
        options=UNKEYED,
    )
    solver: EnumProperty(
        name="Solver",
        description="The method that computes the motion",
        items=(("NDB", "NDB", "Non-distance barriers; by default solved with Newton's method"),),
        default="NDB",
        options=UNKEYED,
    )
    preset: EnumProperty(
        name="Variant",
        description="The method, by the name that it has in older scripts and files",
        items=[(name, shown, text) for name, (_, shown, text) in METHODS.items()],
        default="DEFAULT",
        options=UNKEYED,
    )
    method: EnumProperty(
        name="Method",
        description="How the solver looks for the end of a step",
        items=[(*entry, index) for index, entry in enumerate(METHODS.values())],
        get=_get_method,
        set=_set_method,
        options=UNKEYED,
    )
    backend: EnumProperty(
        name="Device",
        description="Where the solver runs",
        items=(
            ("AUTO", "Automatic", "The graphics card if there is a usable one, else the processor"),
            ("CPU", "CPU", "The processor"),
            ("CUDA", "CUDA", "An NVIDIA graphics card"),
        ),
        default="AUTO",
        options=UNKEYED,
    )
    start: EnumProperty(
        name="Tangled Start",
        description="What becomes of cloth that begins inside a body, or crosses itself or other cloth",
        items=(
            (
                "RESOLVE",
                "Untangle",
                "It is brought out of bodies, of itself and of other cloth before the first frame. What cannot be is "
                "named, and left alone until it separates",
            ),
            ("TOLERATE", "Leave", "What crosses is left alone until it separates by itself"),
            ("REFUSE", "Refuse", "Nothing is baked where meshes cross when the bake begins"),
        ),
        default="RESOLVE",
        options=UNKEYED,
    )
    samples_per_frame: IntProperty(
        name="Samples per Frame",
        description="Places of bodies and pins that are read from each frame to the next. In between they go straight: "
        "what turns fast needs some to stay round",
        default=Settings.samples_per_frame,
        min=1,
        max=MOST_SAMPLES,
        soft_max=16,
        options=UNKEYED,
    )
    frame_budget: IntProperty(
        name="Frame Budget",
        description="So many iterations a frame may take; the report of a frame says how many it took. What is left "
        "over then: a little accuracy, and perhaps the strain limit, never a crossing. 0: as many as it needs",
        default=Settings.frame_budget,
        min=0,
        max=MOST_BUDGET,
        soft_max=5000,
        options=UNKEYED,
    )
    preroll: IntProperty(
        name="Pre-Roll",
        description="So many frames are simulated before the first one and not stored: the cloth settles, or comes "
        "along from a rest pose. Live does without them",
        default=Settings.preroll,
        min=0,
        max=10000,
        soft_max=100,
        options=UNKEYED,
    )
    preroll_from: EnumProperty(
        name="Pre-Roll From",
        description="What bodies and pins do in the frames of the pre-roll",
        items=(
            ("ANIMATION", "Animation", "What the frames before the first one show: a pose that was keyed there"),
            (
                "REST_POSE",
                "Rest Pose",
                "Armatures begin in rest position, and all vertices go straight from there to the first frame",
            ),
            ("STILL", "Still", "They stand as in the first frame, and the cloth settles"),
        ),
        default="ANIMATION",
        options=UNKEYED,
    )
    collider_detail: EnumProperty(
        name="Colliders As",
        description="Whether cloth meets the bodies as the viewport has them or as they render: which modifiers, and "
        "how many levels of Subdivision",
        items=(
            ("VIEWPORT", "In Viewport", "With the modifiers and levels that the viewport shows"),
            ("RENDER", "Rendered", "With the modifiers and levels of a render: slower to read"),
        ),
        default="VIEWPORT",
        options=UNKEYED,
    )
    encounters: CollectionProperty(
        name="Collision Exceptions",
        description="Pairs of objects that do not collide, rub with a friction of their own, or do so for a time; of "
        "several for a pair the last one counts",
        type=EncounterProperties,
        options=UNKEYED,
    )
    encounter_index: IntProperty(name="Exception", description="The one that is shown", min=0, options={"HIDDEN"})
    live_steps: IntProperty(
        name="Steps per Frame",
        description="Solver steps of a frame in Live: one is fastest and damps most",
        default=2,
        min=1,
        soft_max=8,
        options=UNKEYED,
    )
    live_coarseness: FloatProperty(
        name="Coarseness",
        description="How many times the bake's tolerance is good enough for Live",
        default=5.0,
        min=0.1,
        soft_min=1.0,
        soft_max=10.0,
        precision=1,
        step=100,
        options=UNKEYED,
    )
    live_timeline: BoolProperty(
        name="Play Timeline",
        description="Let the timeline run with Live, to its end; otherwise it stands still, and the cloth settles",
        default=True,
        options=UNKEYED,
    )
    grab_radius: FloatProperty(
        name="Grab Radius (m)",
        description="How far along the cloth the mouse takes hold of it, fading outwards",
        default=0.1,
        min=0.0,
        soft_max=0.5,
        precision=3,
        step=1,
        options=UNKEYED,
    )
    grab_radius_shown: shown_length(
        "grab_radius_shown", "Grab Radius", "How far along the cloth the mouse takes hold of it, fading outwards", 0.5
    )
    grab_strength: FloatProperty(
        name="Grab Strength",
        description="How firmly the mouse holds the cloth: strong is quick and stretches it more",
        default=0.5,
        min=0.0,
        max=0.99,
        precision=2,
        step=1,
        options=UNKEYED,
    )
    cache_folder: StringProperty(
        name="Cache Folder",
        description="Where the bake is written; empty means taffeta_cache beside the .blend file. "
        "A leading // is the .blend file's folder",
        subtype="DIR_PATH",
        # Blender 4.5 warns about // paths without this option, Blender 4.2 does not know it.
        options={"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else UNKEYED,
    )
    cache_key: StringProperty(
        name="Cache Key",
        description="Folder name of this scene's caches, kept when the scene is renamed",
        options={"HIDDEN"},
    )
