#!/usr/bin/env python3
"""Piles of `impulse_pile.rs` in MuJoCo: the same start, steps and measure of what is left of Coulomb's law.

pip install mujoco==4.0.0 numpy
python benches/beside_mujoco.py [CUBES …]          in turns with: RAYON_NUM_THREADS=1 cargo bench --bench impulse_pile

Contact impulses are forces times the step; velocities are those at the end of the step, at the contact points of its start:

    normal     |r_N - max(0, r_N - (u_N + max(g, 0)/h)/W)| W        friction   |r_T - P(r_T - u_T/tau)| tau,  tau = tr W_T

largest of the last 0.2 s, in units of g h. Times are processor time of `mj_step` alone, the least of three runs.
"""

import math
import sys
import time

import mujoco
import numpy as np

HALF, MASS, FRICTION, GRAVITY, H, STEPS = 0.05, 0.37, 0.5, 9.81, 0.002, 500


class Numbers:
    """Numbers between -1 and 1 that look random: those of the bench."""

    def __init__(self):
        self.k = 0.0

    def next(self, width):
        self.k += 1.0
        x = self.k * self.k * 0.6180339887498949
        return width * (2.0 * (x - math.floor(x)) - 1.0)


def quaternion(turn):
    angle = np.linalg.norm(turn)
    axis = turn / angle
    return [math.cos(angle / 2), *(axis * math.sin(angle / 2))]


def start(n):
    """Positions and quaternions of all cubes, one row each."""
    numbers, side, rows = Numbers(), round(n ** (1 / 3)), []
    for i in range(n):
        x, y, z = i % side, i // side % side, i // (side * side)
        turn = np.array([numbers.next(0.2) for _ in range(3)])
        place = [0.125 * x + numbers.next(0.01), 0.125 * y + numbers.next(0.01), 0.08 + 0.13 * z]
        rows.append(place + quaternion(turn))
    return np.array(rows)


def model(n, options):
    surface = f'friction="{FRICTION} 0 0" condim="3"'
    cube = f'<body><freejoint/><geom type="box" size="{HALF} {HALF} {HALF}" mass="{MASS}" {surface}/></body>'
    text = f"""<mujoco><option timestep="{H}" gravity="0 0 -{GRAVITY}" {options}/><size memory="1G"/>
    <worldbody><geom type="plane" size="50 50 .1" {surface}/>{cube * n}</worldbody></mujoco>"""
    return mujoco.MjModel.from_xml_string(text)


def put(m, n):
    d = mujoco.MjData(m)
    d.qpos[:] = start(n).ravel()
    return d


def rotation(quat):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat)
    return out.reshape(3, 3)


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def coulomb(m, d, before, force):
    """Largest residuals of normal and friction of a step in units of g h, and the deepest overlap [m]."""
    inverse = 6.0 / (MASS * 4.0 * HALF * HALF)
    worst, deepest = [0.0, 0.0], 0.0
    for c, f in zip(before["contacts"], force):
        frame, point, dist, bodies = c
        n, block, u = frame[0], np.zeros((3, 3)), np.zeros(3)
        # The normal leads from the first body to the second; forces act on the second.
        for body, sign in zip(bodies, (-1.0, 1.0)):
            if body == 0:
                continue
            i = body - 1
            arm = skew(point - before["centers"][i])
            block += np.eye(3) / MASS - arm @ arm * inverse
            v = d.qvel[6 * i : 6 * i + 6]
            u += sign * (v[:3] - arm @ (rotation(d.qpos[7 * i + 3 : 7 * i + 7]) @ v[3:]))
        r = f[:3] * H
        weight = n @ block @ n
        aim = max(0.0, r[0] - (n @ u + max(dist, 0.0) / H) / weight)
        worst[0] = max(worst[0], abs(r[0] - aim) * weight)
        tangents = frame[1:]
        tau = np.trace(tangents @ block @ tangents.T)
        target = r[1:] - tangents @ u / tau
        size, radius = np.linalg.norm(target), FRICTION * r[0]
        if size > radius:
            target *= radius / size
        worst[1] = max(worst[1], np.linalg.norm(r[1:] - target) * tau)
        deepest = max(deepest, -dist)
    return [w / (GRAVITY * H) for w in worst], deepest


def run(n, name, options):
    m = model(n, options)
    times = []
    for _ in range(3):
        d = put(m, n)
        begin = time.process_time()
        mujoco.mj_step(m, d, nstep=STEPS)
        times.append((time.process_time() - begin) * 1e6 / STEPS)
    d = put(m, n)
    worst, deepest, iterations, contacts = [0.0, 0.0], 0.0, 0, 0
    for step in range(STEPS):
        late = step >= STEPS - STEPS // 5
        centers = d.qpos.reshape(n, 7)[:, :3].copy()
        mujoco.mj_step(m, d)
        if not late:
            continue
        iterations += int(d.solver_niter[0])
        seen, force = [], []
        for k in range(d.ncon):
            c = d.contact[k]
            if c.efc_address < 0:
                continue
            f = np.zeros(6)
            mujoco.mj_contactForce(m, d, k, f)
            bodies = [m.geom_bodyid[g] for g in (c.geom1, c.geom2)]
            seen.append((c.frame.reshape(3, 3).copy(), c.pos.copy(), c.dist, bodies))
            force.append(f)
        contacts = len(seen)
        found, depth = coulomb(m, d, {"contacts": seen, "centers": centers}, force)
        worst, deepest = [max(a, b) for a, b in zip(worst, found)], max(deepest, depth)
    print(
        f"{n:4} cubes, {name:28} {min(times):8.1f} µs a step, {iterations / (STEPS // 5):5.1f} iterations, "
        f"{contacts:4} contacts; Coulomb normal {worst[0]:.1e}, friction {worst[1]:.1e}, overlap {deepest:.1e} m",
        flush=True,
    )


def main():
    asked = [int(x) for x in sys.argv[1:]] or [8, 64, 216]
    for n in asked:
        for cone in ("elliptic", "pyramidal"):
            run(n, f"MuJoCo {mujoco.__version__} {cone}", f'cone="{cone}" tolerance="1e-8" iterations="100"')


if __name__ == "__main__":
    main()
