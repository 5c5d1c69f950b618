# SPDX-License-Identifier: GPL-3.0-or-later
"""One solver of NVIDIA's Newton on a drape, in Newton's own environment; called by taffeta.benchmarks.newton_cloth.

    PYTHON newton_peer.py JOB.npz OUT.npz   (PYTHON has `newton` installed, and knows nothing of Taffeta)

JOB: positions (N, 3), triangles (T, 3), centre (3,), radius, density, step, steps_per_frame, frames, first, solver,
iterations, device. OUT: frames (F, N, 3), seconds of each frame (the first compiles), versions.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

#: VBD: elasticity of Newton's example cloth_twist; Style3D: bending of cloth_style3d, stretch as VBD's. SI units;
#: contact distances are Taffeta's: particles of 1 mm, interaction below 1 mm, detection below 2 mm.
DISTANCE, DETECTION = 1.0e-3, 1.0e-3


def build(newton: Any, wp: Any, job: Any) -> tuple[Any, Any]:
    """(model, solver)."""
    solver_name = str(job["solver"])
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    common = {
        "pos": wp.vec3(0.0, 0.0, 0.0), "rot": wp.quat_identity(), "vel": wp.vec3(0.0, 0.0, 0.0), "scale": 1.0,
        "vertices": [wp.vec3(*map(float, p)) for p in job["positions"]],
        "indices": job["triangles"].ravel().tolist(), "density": float(job["density"]), "particle_radius": DISTANCE,
    }  # fmt: skip
    if solver_name == "style3d":
        from newton.solvers import style3d

        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
        stiffness = {"tri_aniso_ke": wp.vec3(1.0e3, 1.0e3, 1.0e2), "edge_aniso_ke": wp.vec3(2.0e-5, 1.0e-5, 5.0e-6)}
        style3d.add_cloth_mesh(builder, **common, **stiffness)
    else:
        builder.add_cloth_mesh(**common, tri_ke=1.0e3, tri_ka=1.0e3, tri_kd=2.0e-4, edge_ke=1.0e-3, edge_kd=1.0e-2)
        builder.color(include_bending=True)
    centre = wp.transform(wp.vec3(*map(float, job["centre"])), wp.quat_identity())
    builder.add_shape_sphere(body=-1, xform=centre, radius=float(job["radius"]))
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1.0e3, 1.0e-1, 0.4
    if solver_name == "style3d":
        config = newton.solvers.SolverStyle3D.Config(iterations=int(job["iterations"]))
        solver = newton.solvers.SolverStyle3D(model=model, config=config)
    else:
        solver = newton.solvers.SolverVBD(
            model, iterations=int(job["iterations"]), particle_enable_self_contact=True,
            particle_self_contact_margin=DISTANCE, particle_self_contact_gap=DETECTION,
        )  # fmt: skip
    return model, solver


def run(newton: Any, wp: Any, job: Any) -> tuple[list[Any], list[float]]:
    """Positions and wall time of each frame; the loop is that of Newton's examples."""
    model, solver = build(newton, wp, job)
    state, following, control = model.state(), model.state(), model.control()
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    frames, seconds = [], []
    for _ in range(int(job["frames"])):
        began = time.perf_counter()
        if hasattr(solver, "rebuild_bvh"):
            solver.rebuild_bvh(state)
        for _ in range(int(job["steps_per_frame"])):
            state.clear_forces()
            pipeline.collide(state, contacts)
            solver.step(state, following, control, contacts, float(job["step"]))
            state, following = following, state
        wp.synchronize()
        seconds.append(time.perf_counter() - began)
        frames.append(state.particle_q.numpy().copy())
        print(f"  frame {len(frames) + 1}: {seconds[-1]:.2f} s", flush=True)
    return frames, seconds


def main() -> None:
    import newton
    import warp as wp

    job = np.load(sys.argv[1])
    wp.config.quiet = True
    with wp.ScopedDevice(str(job["device"])):
        frames, seconds = run(newton, wp, job)
        name = str(wp.get_device().name)
    versions = f"newton {newton.__version__}, warp {wp.__version__}"
    np.savez(sys.argv[2], frames=np.array(frames), seconds=np.array(seconds), versions=versions, device=name)


if __name__ == "__main__":
    main()
