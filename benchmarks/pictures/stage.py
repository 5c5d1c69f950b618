# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the parts of a picture into Blender and renders them with the samples' studio and materials."""

from __future__ import annotations

import os
from dataclasses import replace
from math import radians
from pathlib import Path

import bpy
import numpy as np
from scipy.spatial import cKDTree

from ...gpu_core.scene.arrays import Array, IntArray
from ...sample_blends.look import DYES, fabric, plaster, varnish, warning
from ...sample_blends.render import give_body, save_picture
from ...sample_blends.studio import light_and_film, look_at_all
from .part import Part, Picture

WIDTH = 1.0  #: m, of what is framed: small scenes are shown as large as the studio is made for
CREASE = radians(40.0)  #: sharper edges of colliders stay edges
MARGIN = 1.06  #: of the camera's distance, so that nothing touches the frame
INK = (0.015, 0.017, 0.02)
SOLE = 5e-4  #: m below the lowest vertex, half of the thickness that cloth is shown with


def render(picture: Picture, parts: list[Part], to: Path, percentage: int = 100) -> None:
    """Write `to` (PNG). percentage: of the film's size."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    foot, scale = _place(parts, picture)
    parts = [replace(part, positions=(part.positions - foot) * scale) for part in parts]
    corners = _taken_in(parts, picture.close)
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    light_and_film(
        tuple(middle.tolist()), 3.0, 1,
        azimuth=radians(picture.azimuth), elevation=radians(picture.elevation), film=picture.film,
    )  # fmt: skip
    for part in parts:
        _add(part, scale)
    look_at_all(corners, MARGIN)
    _set_file(bpy.context.scene.render)
    save_picture(to, percentage)


def _set_file(settings: bpy.types.RenderSettings) -> None:
    """Small files, since the repository keeps them: noise against banding is most of a denoised picture's bytes."""
    settings.dither_intensity, settings.image_settings.compression = 0.0, 100
    threads = os.environ.get("TAFFETA_THREADS")
    if threads:
        settings.threads_mode, settings.threads = "FIXED", int(threads)


def _place(parts: list[Part], picture: Picture) -> tuple[Array, float]:
    """(the point that becomes the studio's middle, at the height of the floor; the scale that makes it WIDTH wide)."""
    corners = _taken_in(parts, picture.close)
    low, high = corners.min(axis=0), corners.max(axis=0)
    scale = WIDTH / float((high - low).max())
    lowest = min(part.positions[:, 2].min() for part in parts if part.framed)
    return np.array([*(0.5 * (low + high))[:2], lowest - picture.raised / scale - SOLE]), scale


def _taken_in(parts: list[Part], close: float) -> Array:
    """(N, 3) the vertices that must be in the picture: all that are framed, or those about the most crowded place."""
    every = np.concatenate([part.positions for part in parts if part.framed])
    if close == 1.0:
        return every
    reach = 0.5 * close * float(np.ptp(every, axis=0).max())
    crowd = cKDTree(every)
    middle = every[np.argmax(crowd.query_ball_point(every, 0.2 * reach, return_length=True))]
    return np.asarray(every[crowd.query_ball_point(middle, reach)])


def _add(part: Part, scale: float) -> None:
    mesh = bpy.data.meshes.new(part.name)
    thing = bpy.data.objects.new(part.name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    if part.rest is None:
        mesh.from_pydata(part.positions.tolist(), [], part.triangles.tolist())
        mesh.shade_smooth()
        mesh.set_sharp_from_angle(angle=CREASE)
        mesh.materials.append(varnish() if part.look == "collider" else plaster(INK))
        return
    faces, marked = woven(part.rest, part.triangles, part.marked)
    mesh.from_pydata(part.positions.tolist(), [], faces)
    mesh.shade_smooth()
    hem = hem_distance(part.rest)
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", hem[np.concatenate(faces)].astype(np.float32).ravel())
    mesh.materials.append(fabric(*DYES[part.dye % len(DYES)]))
    mesh.materials.append(warning())
    mesh.polygons.foreach_set("material_index", marked.astype(np.int32))
    give_body(thing, scale)


def woven(rest: Array, triangles: IntArray, marked: np.ndarray | None = None) -> tuple[list[list[int]], np.ndarray]:
    """(faces, which of them are marked): triangles that share their longest edge at rest become a quad.

    Folds that are rounded over quads lie smooth; over the halves of a grid's cells they would show the diagonals.
    """
    corners = rest[triangles]
    length = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)  # of edge k: corner k to k + 1
    longest = length.argmax(axis=1)
    turned = triangles[np.arange(len(triangles))[:, None], (longest[:, None] + np.arange(3)) % 3]
    mark = np.zeros(len(triangles), bool) if marked is None else marked
    partner: dict[tuple[int, int], int] = {(int(a), int(b)): k for k, (a, b, _) in enumerate(turned)}
    faces, marks = [], []
    for k, (a, b, c) in enumerate(turned.tolist()):
        other = partner.get((b, a))
        if other is None:
            faces.append([a, b, c])
        elif k < other:
            faces.append([a, int(turned[other, 2]), b, c])
        else:
            continue
        marks.append(mark[k] or (other is not None and mark[other]))
    return faces, np.array(marks)


def hem_distance(rest: Array) -> Array:
    """(N, 2) distance from the nearest border along each axis of the flat rest shape, in its shorter width.

    A square's are 0 … 0.5 … 0, as the sample's own UVs; on a long strip the stripes keep their width all around.
    """
    low, high = rest.min(axis=0), rest.max(axis=0)
    axes = np.argsort(high - low)[1:]
    nearest = np.minimum(rest - low, high - rest)[:, axes]
    return np.asarray(np.minimum(nearest / (high - low)[axes].min(), 0.5))
