#!/usr/bin/env python3
"""The toss of `toss.rs` in other engines, in turns with it: microseconds of processor time a step, medians and ratios.

pip install mujoco==4.0.0 superdex-physics==1.0.1 superdex-physics-fp64==1.0.1 numpy      (Python 3.12)
python benches/beside_toss.py [ROUNDS]

A cube of 0.1 m and 0.37 kg tumbles onto a plane, 500 steps of 2 ms, friction 0.3, all else the default of each engine. Ours is converged to
1e-10; how many steps of SuperDex Physics are not converged is said. An engine that is not installed is skipped, and said to be.
"""

import importlib.util
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

STEPS, STEP, SIDE, MASS, FRICTION = 500, 0.002, 0.1, 0.37, 0.3
PLACE, VELOCITY, SPIN = (0.0, 0.0, 0.15), (1.0, 0.2, 0.0), (0.5, -1.0, 0.7)
# A round of an engine: its least of so many tosses.
TOSSES = 15


def least(toss):
    """Least processor time of a toss [µs a step]."""
    toss()
    times = []
    for _ in range(TOSSES):
        begin = time.process_time()
        toss()
        times.append(time.process_time() - begin)
    return min(times) / STEPS * 1e6


def mujoco(cone):
    import mujoco as mj

    half = SIDE / 2
    surface = f'friction="{FRICTION} 0.005 0.0001"'
    model = mj.MjModel.from_xml_string(f"""<mujoco><option timestep="{STEP}" cone="{cone}"/><worldbody>
        <geom type="plane" size="20 20 .1" {surface}/>
        <body><freejoint/><geom type="box" size="{half} {half} {half}" mass="{MASS}" {surface}/></body></worldbody></mujoco>""")
    data = mj.MjData(model)

    def toss():
        mj.mj_resetData(model, data)
        data.qpos[:] = [*PLACE, 1, 0, 0, 0]
        data.qvel[:] = [*VELOCITY, *SPIN]
        mj.mj_step(model, data, nstep=STEPS)

    return least(toss), ""


def superdex(threads):
    os.environ["SUPERDEX_PRECISION"] = "fp64"
    import numpy as np
    import superdex.physics as sd

    sd.initialize(threads)
    scene = sd.create_scene("toss")
    scene.set_gravity(sd.Real3(0.0, 0.0, -9.81))
    surface = sd.ContactParams(coulomb_friction_coefficient=FRICTION)
    plane = sd.create_plane_shape(sd.Real3(0.0, 0.0, 1.0), 0.0)
    scene.create_rigid_actor(sd.RigidActorParams(name="ground", shape=plane, is_static=True, contact=surface))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * SIDE / 2
    # Two triangles a face, seen from outside against the clock.
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    shape = sd.create_tri_mesh_shape(corners.ravel(), np.array(faces, np.int32).ravel())
    cube = scene.create_rigid_actor(
        sd.RigidActorParams(name="cube", shape=shape, mass=MASS, contact=surface, boundary_element_type=sd.ActorBoundaryElementType.P1Q3)
    )
    unconverged = 0

    def toss():
        nonlocal unconverged
        unconverged = 0
        turn = sd.Quaternion.from_rotation_vector(sd.Real3(0.0, 0.0, 0.0))
        cube.set_center_of_mass_transform(sd.TransformRT(turn, sd.Real3(*PLACE)))
        cube.set_velocity(sd.Real3(*VELOCITY), sd.Real3(*SPIN))
        for _ in range(STEPS):
            scene.step(STEP)
            unconverged += scene.get_solver_stats().convergence_status != sd.ConvergenceStatus.CONVERGED

    return least(toss), f"{unconverged} of {STEPS} steps not converged"


ENGINES = {
    "MuJoCo, pyramid": ("mujoco", lambda: mujoco("pyramidal")),
    "MuJoCo, elliptic cone": ("mujoco", lambda: mujoco("elliptic")),
    "SuperDex Physics, threads as it likes": ("superdex", lambda: superdex(0)),
    "SuperDex Physics, one thread": ("superdex", lambda: superdex(1)),
}


def ours():
    """Microseconds a step of the bench, as it prints them."""
    root = Path(__file__).parent.parent
    done = subprocess.run(["cargo", "bench", "--bench", "toss"], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return float(re.search(r"forward\s+([\d.]+) µs a step", done.stdout)[1])


def main():
    if sys.argv[1:2] == ["--engine"]:
        micro, note = ENGINES[sys.argv[2]][1]()
        print(f"{micro:.3f}\t{note}")
        return
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    installed = {}
    for name, (package, _) in ENGINES.items():
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {name}: {package} is not installed")
        else:
            installed[name] = []
    own, notes = [], {}
    for _ in range(rounds):
        own.append(ours())
        for name, times in installed.items():
            done = subprocess.run([sys.executable, __file__, "--engine", name], check=True, stdout=subprocess.PIPE, text=True)
            micro, notes[name] = done.stdout.splitlines()[-1].split("\t")
            times.append(float(micro))
    print(f"µs a step, medians of {rounds} rounds in turns")
    base = statistics.median(own)
    print(f"  {'osculate':40} {base:7.2f}")
    for name, times in installed.items():
        micro = statistics.median(times)
        print(f"  {name:40} {micro:7.2f}  {micro / base:5.2f} × ours  {notes[name]}")


main()
