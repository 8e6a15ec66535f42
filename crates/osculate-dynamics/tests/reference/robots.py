"""Numbers of the robots in `robots/` by Pinocchio (URDF) and MuJoCo (MJCF), for `imported_robots.rs`.

    pip install pin mujoco numpy && python3 robots.py

Positions are random. Velocities of the other engines are turned into those used here: of a free joint the linear and
angular velocity along the world's axes, of a ball joint the angular velocity along the axes of the parent side.
"""

import json
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

HERE = Path(__file__).parent / "robots"
SAMPLES = 3


def block(size, rotation_at, rotation):
    out = np.eye(size)
    out[rotation_at:, rotation_at:] = rotation.T
    return out


def by_pinocchio(path, random):
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    base = model.frames[model.getFrameId("base")].inertia
    samples = []
    for _ in range(SAMPLES):
        q, positions = pin.neutral(model), {}
        for name, joint in zip(model.names[1:], model.joints[1:]):
            angle = random.uniform(-1, 1)
            # A joint without limits has sine and cosine for position.
            q[joint.idx_q : joint.idx_q + joint.nq] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            positions[name] = [angle]
        pin.forwardKinematics(model, data, q)
        pin.updateFramePlacements(model, data)
        matrix = pin.crba(model, data, q)
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        moving = pin.computeTotalMass(model)
        center = (pin.centerOfMass(model, data, q) * moving + base.lever * base.mass) / (moving + base.mass)
        poses = {
            frame.name: {"position": data.oMf[i].translation.tolist(), "rotation": data.oMf[i].rotation.ravel().tolist()}
            for i, frame in enumerate(model.frames)
            if frame.type == pin.FrameType.BODY and frame.name != "universe"
        }
        dofs = [[name, k] for name, joint in zip(model.names[1:], model.joints[1:]) for k in range(joint.nv)]
        samples.append(
            {"positions": positions, "center": center.tolist(), "links": poses, "matrix": matrix.ravel().tolist(), "closures": {}}
        )
    return {"engine": f"Pinocchio {pin.__version__}", "mass": moving + base.mass, "dofs": dofs, "samples": samples}


def by_mujoco(path, random):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    sizes = {mujoco.mjtJoint.mjJNT_FREE: (7, 6), mujoco.mjtJoint.mjJNT_BALL: (4, 3)}
    samples = []
    for _ in range(SAMPLES):
        positions, dofs, turn = {}, [], np.zeros((model.nv, model.nv))
        for j in range(model.njnt):
            joint = model.joint(j)
            kind = mujoco.mjtJoint(joint.type[0])
            nq, nv = sizes.get(kind, (1, 1))
            q = random.uniform(-1, 1, nq)
            rotation = np.zeros(9)
            if nq > 1:
                q[-4:] /= np.linalg.norm(q[-4:])
                mujoco.mju_quat2Mat(rotation, q[-4:])
            data.qpos[joint.qposadr[0] :][:nq] = q
            positions[joint.name] = q.tolist()
            dofs += [[joint.name, k] for k in range(nv)]
            at = joint.dofadr[0]
            part = block(nv, nv - 3, rotation.reshape(3, 3)) if nq > 1 else np.eye(1)
            turn[at : at + nv, at : at + nv] = part
        mujoco.mj_forward(model, data)
        matrix = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, matrix)
        matrix = turn.T @ matrix @ turn
        mass = model.body_mass.sum()
        center = model.body_mass @ data.xipos / mass
        poses = {
            model.body(b).name: {"position": data.xpos[b].tolist(), "rotation": data.xmat[b].tolist()}
            for b in range(1, model.nbody)
        }
        closures = {}
        for e in range(model.neq):
            rows = [i for i in range(data.nefc) if data.efc_type[i] == mujoco.mjtConstraint.mjCNSTR_EQUALITY and data.efc_id[i] == e]
            closures[model.equality(e).name] = data.efc_pos[rows[:3]].tolist()
        samples.append(
            {"positions": positions, "center": center.tolist(), "links": poses, "matrix": matrix.ravel().tolist(), "closures": closures}
        )
    return {"engine": f"MuJoCo {mujoco.__version__}", "mass": mass, "dofs": dofs, "samples": samples}


def main():
    random = np.random.default_rng(7)
    for name, reader in [("arm.urdf", by_pinocchio), ("humanoid.xml", by_mujoco), ("loop.xml", by_mujoco)]:
        path = HERE / name
        text = json.dumps(reader(path, random))
        path.with_suffix(".json").write_text(text + "\n")


main()
