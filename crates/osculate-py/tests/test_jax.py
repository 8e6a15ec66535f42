"""JAX: the rules are the library's derivatives, and JAX's own checker agrees."""

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

import osculate.jax  # noqa: E402


def test_gradients_are_those_of_the_adjoint(block):
    """1e-12 relative: the same adjoint through the callback."""
    roll_out = osculate.jax.roll_out(block)
    weights = np.random.default_rng(1).standard_normal(block.simulate().position.shape)
    found = jax.grad(lambda x: jnp.sum(roll_out(x).position * weights))(block.values)
    expected = block.simulate().vjp(position=weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_forward_mode_is_the_tangent(block):
    roll_out = osculate.jax.roll_out_forward(block)
    direction = np.zeros(len(block.paths))
    direction[block.index("block.mu")] = 1.0
    _, found = jax.jvp(roll_out, (block.values,), (direction,))
    np.testing.assert_allclose(found.position, block.simulate().jvp(direction).position, rtol=1e-12, atol=1e-15)


def test_check_grads_agrees(block):
    """JAX's own checker, by differences along what is smooth: speed and friction of a sliding block."""
    from jax.test_util import check_grads

    at = np.array([block.index("block.velocity_x"), block.index("block.mu")])
    body = block.bodies.index("block")
    values = jnp.asarray(block.values)
    for mode, make in (("rev", osculate.jax.roll_out), ("fwd", osculate.jax.roll_out_forward)):
        roll_out = make(block)

        def end(x, roll_out=roll_out):
            return roll_out(values.at[at].set(x)).position[-1, body, 0]

        check_grads(end, (values[at],), order=1, modes=[mode], eps=1e-4, rtol=1e-4)


def test_jit_and_vmap(block):
    roll_out = osculate.jax.roll_out(block)
    body, i = block.bodies.index("block"), block.index("block.mu")
    values = jnp.asarray(block.values)

    def end(mu):
        return roll_out(values.at[i].set(mu)).position[-1, body, 0]

    mus = jnp.array([0.25, 0.3, 0.35])
    found = jax.jit(jax.vmap(jax.value_and_grad(end)))(mus)
    alone = [jax.value_and_grad(end)(mu) for mu in mus]
    np.testing.assert_allclose(found[0], [a[0] for a in alone], rtol=1e-14)
    np.testing.assert_allclose(found[1], [a[1] for a in alone], rtol=1e-12)


def test_wrong_shapes_are_refused(block):
    with pytest.raises(ValueError, match="values: shape"):
        osculate.jax.roll_out(block)(jnp.zeros(3))


def test_ctrl_c_ends_a_call_out_of_jax(root):
    """Callbacks run in the thread that called JAX, so signals reach them; JAX words the exception in its own way where the call is its."""
    text = (root / "docs/examples/sliding_block.toml").read_text()
    text = re.sub(r"(?m)^(steps|duration)\s*=.*$", "", text)
    scene = osculate.Scene.parse(text.replace("[solver]", "[solver]\nsteps = 1000000", 1))
    roll_out = osculate.jax.roll_out(scene)
    compiled = jax.jit(roll_out)
    values = jnp.asarray(scene.values)
    for call, expected in ((roll_out, KeyboardInterrupt), (compiled, RuntimeError)):
        pressed = []

        def press(pressed=pressed):
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(1.0, press)
        timer.start()
        # A signal between two callbacks is Python's own.
        with pytest.raises((expected, KeyboardInterrupt)) as raised:
            jax.block_until_ready(call(values))
        ended = time.monotonic()
        timer.join()
        assert isinstance(raised.value, KeyboardInterrupt) or "KeyboardInterrupt" in str(raised.value)
        # A tenth of a second on a quiet machine.
        assert ended - pressed[0] < 5.0
