# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender scene to `gpu_core.scene.scene.Scene`: evaluated meshes, world space, SI units.

A cloth is the mesh as it is just above our Mesh Cache modifier, where the bake begins; a collider is the mesh as
Blender shows it at each frame. Properties of ours are SI at any unit scale; lengths of the scene follow its unit scale.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from ...gpu_core.files.frame_spool import FrameSeries, FrameSpool
from ...gpu_core.files.job import positions_name
from ...gpu_core.files.job_values import acting, encounter_values, plain
from ...gpu_core.scene.air import WEIGHTS, FieldWeights
from ...gpu_core.scene.differences import flat
from ...gpu_core.scene.scene import Scene, Settings
from . import encounters, fields, keyed, keys, modifier, painted, pin_properties, preroll, retiming, sewn_to
from .bodies import Body, bodies, carries
from .morph import Begin, Morph
from .reader import ClothReader, ColliderReader, PlayedReader, Reader, material, shape
from .render_settings import as_rendered
from .sampled import CORDS, FOLDS, SEAMS, SURFACE, Samples, gravity, number, of_cloth

FrameRange = tuple[int, int]
KINDS = ("cloths", "colliders", "fields")
LOOK = 0.01  #: s that one look at the spool may take


class Members(NamedTuple):
    """Who takes part in a scene."""

    cloths: list[bpy.types.Object]
    colliders: list[bpy.types.Object]  #: objects with that role
    bodies: list[Body]  #: what collides: these, and what they or others instance
    fields: list[bpy.types.Object]  #: objects with a force field
    followers: list[bpy.types.Object]  #: meshes that a cloth is to carry along (`dense`)


def members(scene: bpy.types.Scene) -> Members:
    """In one look at each object, for scenes of thousands."""
    roles: dict[str, list[bpy.types.Object]] = {"NONE": [], "CLOTH": [], "COLLIDER": []}
    carriers, blowing, followers = [], [], []
    for item in scene.objects:
        if fields.has_field(item):
            blowing.append(item)
        roles[item.taffeta.role].append(item)
        if item.type == "EMPTY" and carries(item):
            carriers.append(item)
        if item.type == "MESH" and item.taffeta.follows is not None:
            followers.append(item)
    return Members(roles["CLOTH"], roles["COLLIDER"], bodies(roles["COLLIDER"], carriers), blowing, followers)


def cloth_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return members(scene).cloths


def own_cloths(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The cloths that a bake simulates: what is linked from another file may play the cache of that file's bake."""
    return [item for item in cloth_objects(scene) if item.library is None]


def gather(
    context: bpy.types.Context,
    frames: FrameRange | None = None,
    simulated: Sequence[bpy.types.Object] | None = None,
    played: Collection[str] | None = None,
    into: FrameSpool | None = None,
    with_preroll: bool = True,
) -> Scene:
    """Read the whole scene at once.

    Args:
        frames: first and last frame of the animation; None takes what the scene's range shows.
        simulated: the cloths that are simulated; None takes all that are not linked. The others act as colliders where
            they play a cache, and otherwise take no part.
        played: names of the others that may act as colliders; None: all of them.
        into: takes the frames, as a `JobWriter` does, which can commit afterwards; it is closed where reading fails.
            None: what is large lies in Blender's temporary folder for as long as the scene is in use.
        with_preroll: read the frames of the pre-roll too, and let the scene begin there.

    Raises:
        SceneError: names the object and the remedy.
        DiskError: the frames of what moves cannot be written, or do not fit.
    """
    steps = gather_by_frame(context, frames, simulated, played, into, with_preroll)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value


def gather_by_frame(
    context: bpy.types.Context,
    frames: FrameRange | None = None,
    simulated: Sequence[bpy.types.Object] | None = None,
    played: Collection[str] | None = None,
    into: FrameSpool | None = None,
    with_preroll: bool = True,
) -> Generator[float, None, Scene]:
    """Read one frame at each `next`, which gives the share done in 0..1; the return value is the Scene.

    A generator, so that the interface can read a little between redraws. What Blender is not needed for – world space,
    hashes, files, validation – is left to the spool's thread; no `next` waits long for it. Modifiers and the current
    frame are put back as soon as the last frame is read, or when it is closed.
    """
    spool = into or FrameSpool(Path(bpy.app.tempdir))
    try:
        scene = yield from _read(context, frames, simulated, played, spool, with_preroll)
        spool.seal(scene)
        while not spool.is_done(LOOK):
            yield 1.0
    except BaseException:
        spool.close()
        raise
    if into is None:
        spool.close()
    return scene


def _read(
    context: bpy.types.Context,
    frames: FrameRange | None,
    simulated: Sequence[bpy.types.Object] | None,
    played: Collection[str] | None,
    spool: FrameSpool,
    with_preroll: bool,
) -> Generator[float, None, Scene]:
    """The scene, not validated yet; see `gather_by_frame`."""
    scene = context.scene
    settings = gather_settings(scene, frames)
    if not with_preroll:
        settings = replace(settings, preroll=0)
    settings.validate()
    cloth_keys, begin = keys.assign(cloth_objects(scene)), _series(scene, settings, spool)
    with ExitStack() as undo:
        undo.enter_context(_current_frame_kept(scene))
        undo.enter_context(retiming.unstretched(scene))
        simulated = own_cloths(scene) if simulated is None else list(simulated)
        players = [item for item in cloth_objects(scene) if item not in simulated and modifier.find(item)]
        if played is not None:
            players = [item for item in players if item.name in played]
        cloths = [ClothReader(item, settings, begin, cloth_keys[item.name_full]) for item in simulated]
        kinds = [
            *((ColliderReader, body) for body in members(scene).bodies),
            *((PlayedReader, Body(item)) for item in players),
        ]
        for side in cloths:
            side.sewn = {group for item in simulated if (group := sewn_to.group_of(item, side.item))}
        colliders = [kind(body, settings, begin, positions_name(index)) for index, (kind, body) in enumerate(kinds)]
        blowing = [fields.FieldReader(item) for item in members(scene).fields if fields.acts(item)]
        for item in scene.objects:
            if item.taffeta.role != "NONE":
                item.update_tag()  # else what a script has set lately may not reach the evaluated object
        for item in simulated:
            undo.enter_context(modifier.suspended(modifier.simulated(item)))
        for item in players:  # as it was baked, without what refines it for the picture
            undo.enter_context(modifier.suspended(list(item.modifiers)[modifier.place(item) + 1 :]))
        if scene.taffeta.collider_detail == "RENDER":
            undo.enter_context(as_rendered(scene, [body.item for body in members(scene).bodies]))
        readers: list[Reader | fields.FieldReader] = [*cloths, *colliders, *blowing]
        samples = Samples(("gravity", "time_scale"))
        bodies = [body for _, body in kinds]
        met = encounters.chosen(scene, simulated, bodies)
        rubbing = [Samples(("friction",)) for _ in met]
        for count, frame in enumerate(settings.simulated, start=1):
            for between in subframes(settings, frame):
                with preroll.shown(scene, settings, between):
                    for moving in (*cloths, *colliders):
                        moving.read_between(context.evaluated_depsgraph_get(), between)
            with preroll.shown(scene, settings, frame):
                samples.add([gravity(scene), number(scene.taffeta.time_scale)])
                for own, friction in zip(met, rubbing, strict=True):
                    friction.see(own.entry)
                for reader in readers:
                    reader.read(context.evaluated_depsgraph_get(), frame)
            yield count / len(settings.simulated)
            while not spool.has_room(LOOK):
                yield count / len(settings.simulated)
    while not spool.is_done(LOOK):
        yield 1.0
    blown = [reader.item for reader in blowing]
    return Scene(
        cloths=tuple(
            replace(
                reader.finish(),
                fields=fields.acting(reader.item, blown) if blown else None,
                meets=encounters.meets(reader.item, bodies),
            )
            for reader in cloths
        ),
        colliders=tuple(reader.finish() for reader in colliders),
        settings=replace(settings, **samples.first),
        keys=samples.keys(),
        fields=tuple(reader.finish() for reader in blowing),
        threads=sewn_to.threads(cloths),
        encounters=tuple(
            encounters.encounter(own, {**friction.first, "keys": friction.keys()})
            for own, friction in zip(met, rubbing, strict=True)
        ),
    )


def _series(scene: bpy.types.Scene, settings: Settings, spool: FrameSpool) -> Begin:
    """What begins the series that the readers fill."""

    def begin(file: str = "", samples: int = 1) -> FrameSeries | Morph:
        series = spool.begin((len(settings.simulated) - 1) * samples + 1, file)
        return Morph(series, settings.preroll * samples) if preroll.morphs(scene, settings.preroll) else series

    return begin


def subframes(settings: Settings, frame: int) -> list[float]:
    """The moments between the frame before this one and it at which what moves is read."""
    if frame == settings.begins:
        return []
    return [frame - 1 + count / settings.samples_per_frame for count in range(1, settings.samples_per_frame)]


def gather_settings(scene: bpy.types.Scene, frames: FrameRange | None = None) -> Settings:
    chosen = scene.taffeta
    first, last = frames or retiming.frame_range(scene)
    return Settings(
        frame_start=first,
        frame_end=last,
        preroll=chosen.preroll,
        samples_per_frame=chosen.samples_per_frame,
        frame_budget=chosen.frame_budget,
        fps=scene.render.fps / scene.render.fps_base,
        step_rate=number(chosen.step_rate),
        gravity=gravity(scene),
        time_scale=number(chosen.time_scale),
        start=chosen.start.lower(),
        tolerance=number(chosen.tolerance),
        solver=chosen.solver.lower(),
        preset=chosen.preset.lower(),
        backend=chosen.backend.lower(),
    )


def gather_numbers(
    scene: bpy.types.Scene,
    present: Members,
    simulated: Collection[str],
    played: Collection[str],
    frames: FrameRange | None = None,
    held: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What `job.describe` says of the scene, without the arrays: cheap enough for drawing.

    Args:
        present: the scene's members.
        simulated: cache keys of the cloths that were baked.
        played: names of cloths that acted as colliders.
        frames: as for `gather`.
        held: what was said of it before; stands for what only evaluating the scene can tell, such as drivers.
    """
    assigned = keys.assign(present.cloths)
    items = [item for item in present.cloths if assigned[item.name_full] in simulated]
    players = [item for item in present.cloths if item.name in played and item not in items]
    settings, blown = gather_settings(scene, frames), [item for item in present.fields if fields.acts(item)]
    over = [preroll.source(scene, settings, frame) for frame in settings.simulated]
    known = {(kind, entry.get("key", entry["name"])): entry for kind in KINDS for entry in (held or {}).get(kind, ())}

    def of_cloth_now(item: bpy.types.Object) -> dict[str, Any]:
        key = assigned[item.name_full]
        before = known.get(("cloths", key), {})
        numbers, changing = keyed.numbers(item, "cloth", of_cloth(item), over, flat(before))
        maxima = {name: numbers[f"{name}_max"] for name in painted.groups(item)}
        return {
            "name": item.name,
            "key": key,
            "thickness": numbers["thickness"],
            "pin_strength": numbers["pin_strength"],
            "self_collision": item.taffeta.cloth.self_collision,
            "layer": item.taffeta.cloth.layer,
            **({} if (meets := encounters.meets(item, met)) is None else {"meets": list(meets)}),
            **_sewing(item, numbers),
            **_pin_groups(item, over, before.get("pins", ())),
            "material": plain(material(numbers)),
            "form": plain(shape(numbers)),
            **acting(FieldWeights(**{name: numbers[name] for name in WEIGHTS}), fields.acting(item, blown)),
            **({"painted": maxima} if maxima else {}),
            **changing,
        }

    def of_body_now(name: str, item: bpy.types.Object, part: str) -> dict[str, Any]:
        numbers, changing = keyed.numbers(item, part, SURFACE, over, known.get(("colliders", name), {}))
        return {"name": name, **numbers, **changing}

    def of_field_now(item: bpy.types.Object) -> dict[str, Any]:
        numbers, changing = keyed.field_numbers(item, over, known.get(("fields", item.name), {}))
        return {"name": item.name, **fields.choices(item.field), **numbers, **changing}

    met = [*present.bodies, *map(Body, players)]
    before = {**(held or {}).get("settings", {}), "keys": (held or {}).get("keys", {})}
    now, changing = keyed.scene_numbers(scene, over, before)
    return {
        "settings": {**plain(settings), **now},
        **changing,
        "cloths": [of_cloth_now(item) for item in items],
        "colliders": [
            *(of_body_now(body.name, body.owner, "collider") for body in present.bodies),
            *(of_body_now(item.name, item, "cloth") for item in players),
        ],
        **({"fields": [of_field_now(item) for item in blown]} if blown else {}),
        **_encounters(scene, encounters.chosen(scene, items, met), over, (held or {}).get("encounters", ())),
    }


def _encounters(
    scene: bpy.types.Scene, met: Sequence[encounters.Chosen], over: Sequence[int], held: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """As `job.describe` says it."""
    said = []
    for count, own in enumerate(met):
        before = held[count] if count < len(held) else {}
        numbers, changing = keyed.numbers(scene, f"encounters[{own.place}]", ("friction",), over, before)
        kept = changing if own.entry.use_friction else {}
        said.append({**encounter_values(encounters.encounter(own, numbers)), **kept})
    return {"encounters": said} if said else {}


def _pin_groups(item: bpy.types.Object, over: Sequence[int], held: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """As `job.describe` says it."""
    said = []
    for count, (index, pins) in enumerate(pin_properties.chosen(item)):
        before = held[count] if count < len(held) else {}
        numbers, changing = keyed.numbers(item, f"cloth.pins[{index}]", ("strength",), over, before)
        said.append({"name": pins.group, **numbers, **changing})
    return {"pins": said} if said else {}


def _sewing(item: bpy.types.Object, numbers: Mapping[str, Any]) -> dict[str, float]:
    """As `job.describe` says it."""
    keyed = {name: numbers[name] for name in (*SEAMS, *FOLDS, *CORDS) if name in numbers}
    return {"sewing_time": number(item.taffeta.cloth.sewing_time), **keyed} if sewn_to.sews(item) else keyed


@contextmanager
def _current_frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)
