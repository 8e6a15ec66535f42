"""Motions and their derivatives: identities between them, and differences."""

import numpy as np
import pytest

import osculate


def test_shapes_are_those_of_the_documentation(toss):
    motion = toss.simulate()
    n, b = len(toss.times), len(toss.bodies)
    assert motion.position.shape == motion.velocity.shape == motion.angular_velocity.shape == (n, b, 3)
    assert motion.rotation.shape == (n, b, 3, 3) and motion.quaternion.shape == (n, b, 4)
    assert motion.unconverged == 0 and motion.seconds > 0.0
    energies = motion.energies()
    assert all(energies[k].shape == (n,) for k in ("kinetic", "gravitational", "contact"))


def test_arrays_of_a_motion_cannot_be_written_to(toss):
    """They are shared: a reader that wrote to them changed them for all."""
    motion = toss.simulate()
    with pytest.raises(ValueError, match="read-only"):
        motion.position[:] = 0.0
    with pytest.raises(TypeError, match="list of paths"):
        motion.jacobian("cube.mass")


def test_quaternions_give_the_rotations(toss):
    motion = toss.simulate()
    w, x, y, z = np.moveaxis(motion.quaternion, -1, 0)
    row = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1)
    np.testing.assert_allclose(row, motion.rotation[..., 0, :], atol=1e-12)


def cotangents(motion, seed):
    random = np.random.default_rng(seed)
    shapes = [x.shape for x in (motion.position, motion.rotation, motion.velocity, motion.angular_velocity)]
    return [random.standard_normal(s) for s in shapes]


@pytest.mark.parametrize("name", ["block", "toss", "impulse_block"])
def test_adjoint_and_tangent_are_transposed(name, request):
    """⟨bar, J d⟩ = ⟨Jᵀ bar, d⟩, along every parameter that acts."""
    scene = request.getfixturevalue(name)
    motion = scene.simulate()
    bars = cotangents(motion, 7)
    pulled = motion.vjp(*bars)
    paths = [p for p in scene.paths if p.endswith((".mu", "velocity_x", "mass", "gravity_z", "position_y", "rotation_z"))]
    pushed = motion.jacobian(paths)
    for row, path in enumerate(paths):
        forward = sum(float(np.sum(bar * x[row])) for bar, x in zip(bars, pushed, strict=True))
        largest = np.abs(pulled).max()
        assert abs(forward - pulled[scene.index(path)]) <= 1e-9 * largest, path


@pytest.mark.parametrize("name", ["block", "impulse_block"])
def test_tangent_is_the_slope_of_roll_outs(name, request):
    scene = request.getfixturevalue(name)
    body = scene.bodies.index("block")
    tangent = scene.simulate().jacobian(["block.velocity_x"]).position[0, -1, body, 0]
    h, v = 1e-5, scene.values[scene.index("block.velocity_x")]
    ends = [scene.simulate({"block.velocity_x": v + s * h}).position[-1, body, 0] for s in (-1, 1)]
    assert abs((ends[1] - ends[0]) / (2 * h) - tangent) <= 1e-4 * abs(tangent)


def test_the_readme_gradient(block):
    """As printed in the README."""
    value, gradient = block.simulate().gradient()
    assert f"{value:.6f}" == "0.084773"
    assert f"{gradient[block.index('block.mu')]:.6f}" == "-0.138586"


def test_hessian_is_symmetric_and_the_slope_of_the_gradient(block):
    paths = ["block.velocity_x", "block.mu", "block.mass"]
    hessian = block.simulate().hessian(paths)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-7, atol=1e-10 * np.abs(hessian).max())
    h, v = 1e-6, block.values[block.index("block.velocity_x")]
    up, down = (block.simulate({"block.velocity_x": v + s * h}).gradient()[1] for s in (1, -1))
    at = [block.index(p) for p in paths]
    np.testing.assert_allclose((up - down)[at] / (2 * h), hessian[0], rtol=1e-4, atol=1e-4 * np.abs(hessian[0]).max())


def test_hessians_of_impulses_are_refused_by_name(impulse_block):
    motion = impulse_block.simulate()
    with pytest.raises(osculate.GradientError, match="first derivatives only"):
        motion.hvp(np.zeros(len(impulse_block.paths)))


@pytest.mark.parametrize("name", ["block", "impulse_block"])
def test_contact_forces_balance_momentum(name, request):
    """Σ F Δt + m g t = m Δv. BDF2 weights forces by its history: the sum of end-of-step forces follows to the order of a step."""
    scene = request.getfixturevalue(name)
    motion = scene.simulate()
    body, dt = scene.bodies.index("block"), np.diff(scene.times)
    impulse = np.zeros(3)
    for k, duration in enumerate(dt):
        contacts = motion.contacts(k + 1)
        sign = np.where(contacts["body"] == body, 1.0, -1.0)
        impulse += duration * (sign @ contacts["force"])
    mass = scene.values[scene.index("block.mass")]
    gravity = np.array([scene.values[scene.index(f"gravity_{axis}")] for axis in "xyz"])
    change = mass * (motion.velocity[-1, body] - motion.velocity[0, body] - gravity * scene.times[-1])
    np.testing.assert_allclose(impulse, change, atol=0.02 * np.abs(change).max())
    with pytest.raises(ValueError, match="step is 0"):
        motion.contacts(0)


def test_wrong_cotangents_are_refused(block):
    motion = block.simulate()
    with pytest.raises(ValueError, match="position_bar: shape"):
        motion.vjp(position=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="direction: shape"):
        motion.jvp(np.zeros(3))
