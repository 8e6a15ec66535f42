"""A contact's force with its derivative, beside the barrier and friction potentials of ipctk, in one run.

    pip install ipctk==1.6.1
    python benches/beside_ipctk.py          # builds and runs `cargo bench --bench sample` in turns with ipctk

One thread. ipctk: N x N vertices of a wavy sheet above a half-space, gradient and Hessian (without projection) of the barrier and of
the lagged friction potential, assembled over all vertices as its interface does it. osculate: as many samples on a half-space, force
(elastic, damping, Coulomb, viscous) and its 3x3 derivative, not assembled. So ipctk's figure holds the assembly of a sparse
matrix, ours does not; what assembly costs here is in `benches/toss.rs` and `benches/pile.rs`.
"""

import re
import statistics
import subprocess
import time

import ipctk
import numpy as np

SIDE = 200
DISTANCE = 2e-3
ROUNDS = 5


def scene():
    """Vertices of a sheet within the barrier's distance of the half-space z < 0, and how they move."""
    rng = np.random.default_rng(1)
    x, y = (a.ravel() * 0.01 for a in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    vertices = np.asfortranarray(np.stack([x, y, rng.uniform(0.1, 0.45, x.size) * DISTANCE], axis=1))
    corner = (np.arange(SIDE - 1)[:, None] * SIDE + np.arange(SIDE - 1)).ravel()
    lower = np.stack([corner, corner + SIDE, corner + 1], axis=1)
    upper = np.stack([corner + 1, corner + SIDE, corner + SIDE + 1], axis=1)
    faces = np.asfortranarray(np.concatenate([lower, upper]).astype(np.int32))
    mesh = ipctk.CollisionMesh(vertices, ipctk.edges(faces), faces)
    mesh.planes = [ipctk.Hyperplane(np.array([0.0, 0.0, 1.0]), np.zeros(3))]
    velocities = np.asfortranarray(rng.uniform(-0.2, 0.2, vertices.shape))
    return mesh, vertices, velocities


def works():
    """What is timed, by name, and the number of contacts."""
    mesh, vertices, velocities = scene()
    normal = ipctk.NormalCollisions()
    normal.build(mesh, vertices, DISTANCE)
    barrier, friction = ipctk.BarrierPotential(DISTANCE, 1e4), ipctk.FrictionPotential(1e-3)
    tangential = ipctk.TangentialCollisions()
    tangential.build(mesh, vertices, normal, barrier, 0.5)
    contacts = SIDE * SIDE
    if (len(normal), len(tangential)) != (contacts, contacts):
        raise SystemExit(f"every vertex is a contact: {len(normal)} and {len(tangential)} instead of {contacts}")
    none = ipctk.PSDProjectionMethod.NONE
    return contacts, {
        "ipctk barrier, gradient": lambda: barrier.gradient(normal, mesh, vertices),
        "ipctk barrier, Hessian": lambda: barrier.hessian(normal, mesh, vertices, none),
        "ipctk friction, gradient": lambda: friction.gradient(tangential, mesh, velocities),
        "ipctk friction, Hessian": lambda: friction.hessian(tangential, mesh, velocities, none),
    }


def ours():
    """ns a sample of force and derivative at volume, as the benchmark prints it."""
    out = subprocess.run(
        ["cargo", "bench", "--locked", "--bench", "sample"], check=True, capture_output=True, text=True
    ).stdout
    count, rest = re.search(r"(\d+) samples on a half-space(.*)", out, re.DOTALL).groups()
    return int(count), float(re.search(r"force and 3×3 +([\d.]+) ns", rest).group(1))


def main():
    ipctk.set_num_threads(1)
    contacts, timed = works()
    times = {name: [] for name in timed}
    here = []
    for _ in range(ROUNDS):
        count, nano = ours()
        if count != contacts:
            raise SystemExit(f"{count} samples beside {contacts} contacts: make them as many")
        here.append(nano)
        for name, work in timed.items():
            for _ in range(5):
                begin = time.process_time()
                work()
                times[name].append((time.process_time() - begin) / contacts * 1e9)
    print(f"{contacts} contacts, one thread, ns a contact, medians of {ROUNDS} turns")
    total = 0.0
    for name, measured in times.items():
        total += statistics.median(measured)
        print(f"  {name:28s} {statistics.median(measured):8.1f}")
    print(f"  {'osculate, force and 3x3':28s} {statistics.median(here):8.1f}")
    print(f"  ipctk's four together are {total / statistics.median(here):.1f} x ours")


if __name__ == "__main__":
    main()
