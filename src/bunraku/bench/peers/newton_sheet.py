"""A sheet in NVIDIA Newton's SolverVBD on the CPU, in a process of its own: an order as JSON in, a result as JSON out.

Needs newton, warp-lang and NumPy, nothing of bunraku. The membrane is neo-Hookean with the Lamé constants of the
sheet, which is bunraku's law at small strains; the hinges carry (D / cell) × edge length × angle²/2, the right bending
energy of a sheet rolled along its mesh. No damping, no drag. Contact with the ball by vertices, at the sheet's
thickness. Self-collision is felt within twice the thickness. Between two looks for near pairs nothing may move by more
than 0.425 of the distance looked at (its guarantee of no intersections), once a step here: so that distance is what the
fastest vertex needs, else the sheet falls too slowly.
"""

import json
import sys
import time

import numpy as np


def model_of(newton, wp, order):
    """The sheet, its pins and the ball."""
    cloth, points = order["cloth"], np.array(order["points"])
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=(0.0, -order["gravity"], 0.0))
    young, poisson = cloth["stretching"], cloth["poisson"]
    builder.add_cloth_mesh(
        pos=wp.vec3(0.0, 0.0, 0.0), rot=wp.quat_identity(), scale=1.0, vel=wp.vec3(0.0, 0.0, 0.0),
        vertices=[wp.vec3(*point) for point in points], indices=np.array(order["faces"]).ravel().tolist(),
        density=cloth["weight"], tri_ke=young / (2.0 * (1.0 + poisson)), tri_ka=young * poisson / (1.0 - poisson**2),
        tri_kd=0.0, tri_drag=0.0, tri_lift=0.0, edge_ke=cloth["bending"] / order["cell"], edge_kd=0.0,
        particle_radius=cloth["thickness"],
    )  # fmt: skip
    for pin in order["pins"]:
        builder.particle_mass[pin] = 0.0
        builder.particle_flags[pin] = int(builder.particle_flags[pin]) & ~int(newton.ParticleFlags.ACTIVE)
    if order["ball"]:
        rough = newton.ModelBuilder.ShapeConfig(ke=1e3, kd=0.0, mu=cloth["friction"])
        where = wp.transform(wp.vec3(*order["ball"]["centre"]), wp.quat_identity())
        builder.add_shape_sphere(-1, xform=where, radius=order["ball"]["radius"], cfg=rough)
    builder.color(include_bending=True)
    model = builder.finalize(device="cpu")
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1e3, 0.0, cloth["friction"]
    return model


def frames_of(newton, wp, order):
    """The points of every frame and the seconds each took."""
    model, setting = model_of(newton, wp, order), order["setting"]
    touch = {}
    if order["self_collision"]:
        margin = 2.0 * order["cloth"]["thickness"]
        looked = order["fastest"] / (order["rate"] * setting["substeps"]) / 0.425
        touch = {
            "particle_self_contact_margin": margin, "particle_self_contact_gap": max(margin, looked - margin),
            "particle_vertex_contact_buffer_size": 64, "particle_edge_contact_buffer_size": 128,
        }  # fmt: skip
    solver = newton.solvers.SolverVBD(
        model, iterations=setting["iterations"], particle_enable_self_contact=order["self_collision"], **touch
    )
    now, after, control = model.state(), model.state(), model.control()
    pipeline = newton.CollisionPipeline(model) if order["ball"] else None
    contacts = pipeline.contacts() if pipeline else None
    dt = 1.0 / (order["rate"] * setting["substeps"])
    frames, seconds, begun = [now.particle_q.numpy().copy()], [], time.perf_counter()
    while len(seconds) < order["frames"] and time.perf_counter() - begun < order["limit"]:
        begin = time.perf_counter()
        for _ in range(setting["substeps"]):
            now.clear_forces()
            if pipeline:
                pipeline.collide(now, contacts)
            solver.step(now, after, control, contacts, dt)
            now, after = after, now
        frames.append(now.particle_q.numpy().copy())
        seconds.append(time.perf_counter() - begin)
        if len(seconds) == 1:  # it compiled
            begun = time.perf_counter()
    return np.array(frames, dtype=float), seconds


def main():
    """Read, simulate, write."""
    order = json.load(sys.stdin)
    import newton  # pyright: ignore[reportMissingImports]
    import warp as wp  # pyright: ignore[reportMissingImports]

    wp.config.quiet = True
    frames, seconds = frames_of(newton, wp, order)
    np.save(order["out"], frames)
    sys.stdout.write("\nRESULT " + json.dumps({"seconds": seconds, "version": f"Newton {newton.__version__}"}) + "\n")


if __name__ == "__main__":
    main()
