"""Roll-outs as functions of JAX. Needs ``jax`` with 64-bit numbers (``jax_enable_x64``).

>>> import jax, osculate, osculate.jax
>>> jax.config.update("jax_enable_x64", True)
>>> scene = osculate.Scene.load("docs/examples/sliding_block.toml")
>>> roll_out = osculate.jax.roll_out(scene)
>>> jax.grad(lambda x: roll_out(x).position[-1, 0, 0])(scene.values)

The simulation runs on the host (``pure_callback``); ``jit`` and ``vmap`` work, the latter one after the other. JAX has one rule a
function: ``roll_out`` is for reverse mode (``grad``, ``vjp``), ``roll_out_forward`` for forward mode (``jvp``, ``jacfwd``).
Derivatives by increments (rotations) are those at zero, where they must stay.

Ctrl-C ends a roll-out or its derivative within a second. ``roll_out(values)`` itself then raises ``KeyboardInterrupt``; out of a
function that ``jit`` compiled, or the backward pass of ``grad``, JAX raises its ``JaxRuntimeError``, whose text ends with
``KeyboardInterrupt``. JAX runs callbacks in the thread that called it, and Python tells signals to the main thread alone: a call from
another thread goes on to its end.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ._memory import Memory
from ._motion import Tangents
from ._scene import Scene

__all__ = ["roll_out", "roll_out_forward"]


def _checked(values: jax.Array, size: int) -> jax.Array:
    values = jnp.asarray(values)
    if not jax.config.jax_enable_x64:
        raise RuntimeError('osculate needs 64-bit numbers: jax.config.update("jax_enable_x64", True)')
    if values.shape != (size,):
        raise ValueError(f"values: shape {values.shape} given, {(size,)} needed")
    return values.astype(jnp.float64)


def _shapes(memory: Memory) -> Tangents:
    return Tangents(*(jax.ShapeDtypeStruct(s, jnp.float64) for s in memory.shapes()))  # type: ignore[arg-type]


def _called(function: Callable[[jax.Array], Tangents], values: jax.Array) -> Tangents:
    """JAX makes an exception of a callback its own ``RuntimeError``: Ctrl-C is itself again where the call is ours."""
    try:
        return function(values)
    except RuntimeError as error:
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from error
        raise


def _run(memory: Memory, values: np.ndarray) -> Tangents:
    motion = memory.motion(np.asarray(values, dtype=np.float64))
    return Tangents(motion.position, motion.rotation, motion.velocity, motion.angular_velocity)


def roll_out(scene: Scene) -> Callable[[jax.Array], Tangents]:
    """A function from values, shape ``(P,)``, to the motion: position, rotation, velocity, angular velocity.

    Its ``vjp`` is one adjoint sweep of the roll-out it follows.
    """
    memory = Memory(scene)
    size = len(scene.paths)
    shapes = _shapes(memory)
    call = jax.pure_callback

    def host(values: np.ndarray) -> Tangents:
        return _run(memory, values)

    def host_vjp(values: np.ndarray, *bars: np.ndarray) -> np.ndarray:
        motion = memory.motion(np.asarray(values, dtype=np.float64))
        return motion.vjp(*(np.asarray(bar, dtype=np.float64) for bar in bars))

    @jax.custom_vjp
    def inner(values: jax.Array) -> Tangents:
        return call(host, shapes, values, vmap_method="sequential")

    def forward(values: jax.Array) -> tuple[Tangents, jax.Array]:
        return inner(values), values

    def backward(values: jax.Array, bars: Tangents) -> tuple[jax.Array]:
        out = jax.ShapeDtypeStruct((size,), jnp.float64)
        return (call(host_vjp, out, values, *bars, vmap_method="sequential"),)

    inner.defvjp(forward, backward)
    return lambda values: _called(inner, _checked(values, size))


def roll_out_forward(scene: Scene) -> Callable[[jax.Array], Tangents]:
    """As :func:`roll_out`, for forward mode: its ``jvp`` is one tangent of the roll-out it follows."""
    memory = Memory(scene)
    size = len(scene.paths)
    shapes = _shapes(memory)
    call = jax.pure_callback

    def host(values: np.ndarray) -> Tangents:
        return _run(memory, values)

    def host_jvp(values: np.ndarray, direction: np.ndarray) -> Tangents:
        motion = memory.motion(np.asarray(values, dtype=np.float64))
        return motion.jvp(np.asarray(direction, dtype=np.float64))

    @jax.custom_jvp
    def inner(values: jax.Array) -> Tangents:
        return call(host, shapes, values, vmap_method="sequential")

    @inner.defjvp
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[Tangents, Tangents]:
        (values,), (direction,) = primals, tangents
        direction = jnp.asarray(direction, dtype=jnp.float64)
        return inner(values), call(host_jvp, shapes, values, direction, vmap_method="sequential")

    return lambda values: _called(inner, _checked(values, size))
