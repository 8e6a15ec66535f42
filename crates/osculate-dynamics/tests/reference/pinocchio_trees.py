"""Random trees with the numbers of Pinocchio, for `tests/pinocchio.rs`.

    python3 -m venv venv && venv/bin/pip install pin numpy
    venv/bin/python pinocchio_trees.py > pinocchio_trees.json

Numbers are Pinocchio's own, in its conventions: velocities, accelerations and efforts of spherical and free joints are in
the axes of the moved joint, and increments act on the right. The Rust test converts. Armature of a spherical joint is the
same for its three axes, and a free joint has none for translation: only those are the same thing in both conventions.
"""

import json
import sys

import numpy as np
import pinocchio as pin

KINDS = ["free", "spherical", "revolute", "prismatic", "fixed"]
MODELS = {
    "free": lambda axis: pin.JointModelFreeFlyer(),
    "spherical": lambda axis: pin.JointModelSpherical(),
    "revolute": lambda axis: pin.JointModelRevoluteUnaligned(axis),
    "prismatic": lambda axis: pin.JointModelPrismaticUnaligned(axis),
}


def pose(rng, spread=0.5):
    return pin.SE3(pin.exp3(rng.normal(size=3)), spread * rng.normal(size=3))


def inertia(rng):
    arms = 0.3 * rng.normal(size=(5, 3))
    mass = rng.uniform(0.2, 3.0)
    center = arms.mean(axis=0)
    moment = sum((r @ r * np.eye(3) - np.outer(r, r)) * mass / 5 for r in arms - center)
    return pin.Inertia(mass, center, moment)


def flat(m):
    return [float(x) for x in np.asarray(m).reshape(-1)]


def described_pose(x):
    return {"position": flat(x.translation), "rotation": flat(x.rotation)}


class Tree:
    def __init__(self, rng, kinds, parents):
        self.model, self.links, self.frames = pin.Model(), [], []
        armature = []
        for i, (kind, parent) in enumerate(zip(kinds, parents)):
            placement, offset, body = pose(rng), pose(rng, 0.2), inertia(rng)
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            joint, frame = (0, pin.SE3.Identity()) if parent is None else self.frames[parent]
            own = [0.0] * {"free": 6, "spherical": 3, "fixed": 0}.get(kind, 1)
            if kind == "fixed":
                link = frame * placement * offset
            else:
                joint = self.model.addJoint(joint, MODELS[kind](axis), frame * placement, str(i))
                link = offset
                a = float(rng.uniform(0.0, 0.3))
                own = [0.0] * 3 + [a] * 3 if kind == "free" else [a] * len(own)
            self.model.appendBodyToJoint(joint, body, link)
            self.frames.append((joint, link))
            armature += own
            self.links.append(
                {
                    "kind": kind,
                    "parent": parent,
                    "axis": flat(axis),
                    "placement": described_pose(placement),
                    "offset": described_pose(offset),
                    "armature": own,
                    "mass": float(body.mass),
                    "center": flat(body.lever),
                    "inertia": flat(body.inertia),
                    "joint": joint - 1,
                    "in_joint": described_pose(link),
                }
            )
        self.model.armature = np.array(armature)
        self.model.gravity.linear = rng.normal(size=3) * 9.81

    def positions(self, q):
        """Of each moving joint: a coordinate, a rotation, or position and rotation."""
        out = []
        for joint in self.model.joints[1:]:
            own = q[joint.idx_q : joint.idx_q + joint.nq]
            if joint.nq == 1:
                out.append(flat(own))
            else:
                out.append(flat(own[:-4]) + flat(pin.Quaternion(own[-4:]).matrix()))
        return out

    def local_forces(self, data, wrenches):
        """World forces at the centres of mass of the links, as forces in the joint frames."""
        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for (joint, frame), link, (force, torque) in zip(self.frames, self.links, wrenches):
            center = data.oMi[joint] * frame * np.array(link["center"])
            at_world = pin.Force(force, torque + np.cross(center, force))
            total[joint] += data.oMi[joint].actInv(at_world)
        out = pin.StdVec_Force()
        out.extend(total)
        return out

    def case(self, rng, regressor):
        model, data = self.model, self.model.createData()
        nv = model.nv
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=nv))
        v, a, tau = (rng.normal(size=nv) for _ in range(3))
        wrenches = [(rng.normal(size=3), rng.normal(size=3)) for _ in self.links]
        pin.forwardKinematics(model, data, q)
        poses = [described_pose(data.oMi[j] * f) for j, f in self.frames]
        forces = self.local_forces(data, wrenches)
        mass = np.triu(pin.crba(model, data, q))
        mass = mass + mass.T - np.diag(np.diag(mass))
        pin.computeABADerivatives(model, data, q, v, tau)
        out = {
            "gravity": flat(model.gravity.linear),
            "links": self.links,
            "q": self.positions(q),
            "v": flat(v),
            "a": flat(a),
            "tau": flat(tau),
            "wrenches": [flat(f) + flat(t) for f, t in wrenches],
            "poses": poses,
            "mass_matrix": flat(mass),
            "forward": flat(data.ddq),
            "forward_by_position": flat(data.ddq_dq),
            "forward_by_velocity": flat(data.ddq_dv),
        }
        minv = np.triu(data.Minv)
        out["inverse_mass"] = flat(minv + minv.T - np.diag(np.diag(minv)))
        out["inverse"] = flat(pin.rnea(model, data, q, v, a))
        out["inverse_with_wrenches"] = flat(pin.rnea(model, data, q, v, a, forces))
        out["bias"] = flat(pin.nonLinearEffects(model, data, q, v))
        out["forward_with_wrenches"] = flat(pin.aba(model, data, q, v, tau, forces))
        if regressor:
            out["regressor"] = flat(pin.computeJointTorqueRegressor(model, data, q, v, a))
        return out


def random_tree(rng, count):
    kinds = [KINDS[int(rng.integers(5))] for _ in range(count)]
    kinds[0] = KINDS[int(rng.integers(4))]
    # Depth first: Pinocchio's algorithms need the joints of a subtree to be numbered without gaps.
    parents = [None]
    for i in range(1, count):
        path, link = [], i - 1
        while link is not None:
            path.append(link)
            link = parents[link]
        parents.append(path[int(rng.integers(min(3, len(path))))])
    return kinds, parents


def main():
    rng = np.random.default_rng(20240717)
    cases = []
    for count in (1, 2, 3, 4, 5, 6, 8):
        kinds, parents = random_tree(rng, count)
        cases.append(Tree(rng, kinds, parents).case(rng, regressor=count <= 4))
    every = (KINDS, [None, 0, 1, 0, 3])
    cases.append(Tree(rng, *every).case(rng, regressor=True))
    cases.append(Tree(rng, ["revolute"] * 7, [None, 0, 1, 2, 3, 4, 5]).case(rng, regressor=False))
    json.dump({"pinocchio": pin.__version__, "cases": cases}, sys.stdout)


if __name__ == "__main__":
    main()
