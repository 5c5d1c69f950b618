# SPDX-License-Identifier: GPL-3.0-or-later
"""One solver of NVIDIA's Newton, in Newton's own environment; called by benchmarks.newton_cloth and benchmarks.scenes.

    PYTHON newton_peer.py JOB.npz OUT.npz   (PYTHON has `newton` installed, and knows nothing of Taffeta)

JOB: positions (N, 3), triangles (T, 3), cloth_starts and triangle_starts (C + 1,), density (C,), friction, gravity
(3,), held (P,), targets (F, P, 3) of each frame, until (P,), the number of frames they are held in, step,
steps_per_frame, frames (F − 1), bodies with body_K_points and body_K_triangles, or a sphere of centre (3,) and radius,
solver, iterations, limit in seconds, device; for Style3D panels (N, 2), where the pattern is not x and y of the
positions. OUT: frames (F − 1, N, 3), or as many as there was time for, the seconds of each, their sums wall and user
(CPU time), threads, versions. Kernels are compiled before the clock runs.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

#: VBD: elasticity of Newton's example cloth_twist; Style3D: bending of cloth_style3d, stretch as VBD's. SI units;
#: contact distances are Taffeta's: particles of 1 mm, interaction below 1 mm, detection below 2 mm.
DISTANCE, DETECTION = 1.0e-3, 1.0e-3
#: Pairs a vertex and an edge: those of cloth_twist, which needs more than the default.
VERTEX_PAIRS, EDGE_PAIRS = 64, 128


def build(newton: Any, wp: Any, job: Any) -> tuple[Any, Any]:
    """(model, solver)."""
    style3d = str(job["solver"]) == "style3d"
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=tuple(map(float, job["gravity"])))
    if style3d:
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
    for index in range(len(job["density"])):
        _add_cloth(wp, builder, job, index, style3d)
    if not style3d:
        builder.color(include_bending=True)
    _add_bodies(newton, wp, builder, job)
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1.0e3, 1.0e-1, float(job["friction"])
    if style3d:
        config = newton.solvers.SolverStyle3D.Config(iterations=int(job["iterations"]))
        return model, newton.solvers.SolverStyle3D(model=model, config=config)
    return model, newton.solvers.SolverVBD(
        model, iterations=int(job["iterations"]), particle_enable_self_contact=True,
        particle_self_contact_margin=DISTANCE, particle_self_contact_gap=DETECTION,
        particle_vertex_contact_buffer_size=VERTEX_PAIRS, particle_edge_contact_buffer_size=EDGE_PAIRS,
    )  # fmt: skip


def _add_cloth(wp: Any, builder: Any, job: Any, index: int, style3d: bool) -> None:
    first, last = job["cloth_starts"][index : index + 2]
    triangles = job["triangles"][slice(*job["triangle_starts"][index : index + 2])]
    common = {
        "pos": wp.vec3(0.0, 0.0, 0.0), "rot": wp.quat_identity(), "vel": wp.vec3(0.0, 0.0, 0.0), "scale": 1.0,
        "vertices": [wp.vec3(*map(float, p)) for p in job["positions"][first:last]],
        "indices": triangles.ravel().tolist(), "density": float(job["density"][index]), "particle_radius": DISTANCE,
    }  # fmt: skip
    if style3d:
        from newton.solvers import style3d as cloth

        stiffness = {"tri_aniso_ke": wp.vec3(1.0e3, 1.0e3, 1.0e2), "edge_aniso_ke": wp.vec3(2.0e-5, 1.0e-5, 5.0e-6)}
        panels = job["panels"][first:last].tolist() if "panels" in job else None
        cloth.add_cloth_mesh(builder, **common, **stiffness, panel_verts=panels)
    else:
        builder.add_cloth_mesh(**common, tri_ke=1.0e3, tri_ka=1.0e3, tri_kd=2.0e-4, edge_ke=1.0e-3, edge_kd=1.0e-2)


def _add_bodies(newton: Any, wp: Any, builder: Any, job: Any) -> None:
    if "radius" in job:
        centre = wp.transform(wp.vec3(*map(float, job["centre"])), wp.quat_identity())
        builder.add_shape_sphere(body=-1, xform=centre, radius=float(job["radius"]))
    for index in range(int(job["bodies"])):
        points, triangles = job[f"body_{index}_points"], job[f"body_{index}_triangles"]
        mesh = newton.Mesh(points.astype(np.float32), triangles.ravel().astype(np.int32), compute_inertia=False)
        builder.add_shape_mesh(body=-1, mesh=mesh)


class Run:
    """A solver with its states; the loop is that of Newton's examples."""

    def __init__(self, newton: Any, wp: Any, job: Any) -> None:
        self.wp, self.job, self.steps = wp, job, int(job["steps_per_frame"])
        self.model, self.solver = build(newton, wp, job)
        self.state, self.following, self.control = self.model.state(), self.model.state(), self.model.control()
        self.pipeline = newton.CollisionPipeline(self.model)
        self.contacts = self.pipeline.contacts()
        self.active, self.flag = self.model.particle_flags.numpy().copy(), int(newton.ParticleFlags.ACTIVE)

    def frame(self, number: int) -> None:
        """From frame `number` to the next, numbered from 0."""
        if hasattr(self.solver, "rebuild_bvh"):
            self.solver.rebuild_bvh(self.state)
        held = self._hold(number)
        for step in range(1, self.steps + 1):
            self._move(held, number, step / self.steps)
            self.state.clear_forces()
            self.pipeline.collide(self.state, self.contacts)
            self.solver.step(self.state, self.following, self.control, self.contacts, float(self.job["step"]))
            self.state, self.following = self.following, self.state
        self.wp.synchronize()

    def _hold(self, number: int) -> Any:
        """(P,) which of the held ones are so still at this frame's end; the others are let go."""
        held = self.job["until"] > number + 1
        flags = self.active.copy()
        flags[self.job["held"][held]] &= ~self.flag
        self.model.particle_flags.assign(flags)
        return held

    def _move(self, held: Any, number: int, share: float) -> None:
        if not held.any():
            return
        before, after = self.job["targets"][number : number + 2, held]
        for state in (self.state, self.following):
            places = state.particle_q.numpy()
            places[self.job["held"][held]] = (1.0 - share) * before + share * after
            state.particle_q.assign(places)


def run(newton: Any, wp: Any, job: Any) -> tuple[list[Any], list[float], float]:
    """Positions and wall time of each frame, and the CPU time of all."""
    Run(newton, wp, job).frame(0)  # compiles
    going = Run(newton, wp, job)
    frames: list[Any] = []
    seconds: list[float] = []
    before = os.times().user
    while len(frames) < int(job["frames"]) and sum(seconds) < float(job["limit"]):
        began = time.perf_counter()
        going.frame(len(frames))
        seconds.append(time.perf_counter() - began)
        frames.append(going.state.particle_q.numpy().copy())
        print(f"  frame {len(frames) + 1}: {seconds[-1]:.2f} s", flush=True)
    return frames, seconds, os.times().user - before


def main() -> None:
    import newton
    import warp as wp

    job = dict(np.load(sys.argv[1]))
    wp.config.quiet = True
    with wp.ScopedDevice(str(job["device"])):
        frames, seconds, user = run(newton, wp, job)
        name = str(wp.get_device().name)
    versions = f"newton {newton.__version__}, warp {wp.__version__}"
    np.savez(
        sys.argv[2], frames=np.array(frames), seconds=np.array(seconds), wall=sum(seconds), user=user, threads=1,
        versions=versions, device=name,
    )  # fmt: skip


if __name__ == "__main__":
    main()
