"""Roll-outs and their derivatives."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import numbers

if TYPE_CHECKING:
    from ._scene import Scene

Array = NDArray[np.float64]


class Tangents(NamedTuple):
    """Derivatives of a motion; axes as in :class:`Motion`, with one of directions first where there are several."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


class Motion:
    """What a roll-out gave: ``N + 1`` states of ``B`` bodies, in arrays that are not to be written to.

    Derivatives are those of the discrete roll-out on the branch taken, by the implicit function theorem at every step; tangent
    and adjoint agree to rounding. ``docs/limitations.md`` says where there are none.
    """

    def __init__(self, core: _core.Motion) -> None:
        self._core = core

    @cached_property
    def scene(self) -> Scene:
        """The scene with the values that were rolled out."""
        from ._scene import Scene

        return Scene(self._core.scene)

    @cached_property
    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        position, rotation, velocity, angular_velocity = self._core.arrays()
        # Every reader gets the same arrays: who wants others copies them.
        for x in (position, rotation, velocity, angular_velocity):
            x.setflags(write=False)
        return position, rotation, velocity, angular_velocity

    @property
    def times(self) -> Array:
        """Times of the states [s], shape ``(N + 1,)``."""
        return self._core.scene.times

    @property
    def position(self) -> Array:
        """Origins of the local frames [m], shape ``(N + 1, B, 3)``."""
        return self._arrays[0]

    @property
    def rotation(self) -> Array:
        """Rotations from body to world, shape ``(N + 1, B, 3, 3)``."""
        return self._arrays[1]

    @property
    def velocity(self) -> Array:
        """Velocities of the *centres of mass* [m/s], shape ``(N + 1, B, 3)``."""
        return self._arrays[2]

    @property
    def angular_velocity(self) -> Array:
        """Angular velocities [rad/s], shape ``(N + 1, B, 3)``."""
        return self._arrays[3]

    @property
    def quaternion(self) -> Array:
        """Rotations as unit quaternions, scalar first and not negative, shape ``(N + 1, B, 4)``."""
        return _quaternions(self.rotation)

    @property
    def seconds(self) -> float:
        """Wall time of the roll-out itself [s], without what it costs to call it and to read its arrays."""
        return self._core.seconds

    @property
    def unconverged(self) -> int:
        """Stages (steps of the impulse model) that did not meet their tolerance."""
        return self._core.unconverged

    @property
    def solver(self) -> tuple[NDArray[np.int64], Array]:
        """Newton iterations and residual [N] of every stage; sweeps and relative residual of every step of impulses."""
        iterations, residual = self._core.solver()
        return iterations, residual

    def energies(self) -> dict[str, Array]:
        """``kinetic``, ``gravitational`` and ``contact`` energy [J], shape ``(N + 1,)`` each; compliant model."""
        return self._core.energies()

    def contacts(self, step: int) -> dict[str, NDArray[np.generic]]:
        """Contacts at the end of a step, counted from 1.

        ``body``, ``other``: indices of bodies, shape ``(C,)``; ``gap`` [m], ``(C,)``; ``position`` [m], ``normal``, and ``force``
        on ``body`` [N], ``(C, 3)``. Impulses are given as mean forces of the step; friction
        of a patch acts at its anchors, rows of their own with ``gap`` 0.
        """
        return self._core.contacts(operator.index(step))

    @cached_property
    def _parameters(self) -> int:
        """``P``."""
        return len(self.scene.paths)

    def _bars(self, given: Sequence[ArrayLike | None]) -> list[Array | None]:
        n, b = self.position.shape[:2]
        names = ("position", "rotation", "velocity", "angular_velocity")
        shapes = ((n, b, 3), (n, b, 3, 3), (n, b, 3), (n, b, 3))
        return [None if x is None else numbers(f"{k}_bar", x, s) for x, k, s in zip(given, names, shapes, strict=True)]

    def gradient(self) -> tuple[float, Array]:
        """Value of the scene's outcome (``[[outcome]]``) and its gradient by every parameter, shape ``(P,)``.

        One adjoint sweep: its cost does not depend on ``P``. Raises :class:`GradientError` where there is no derivative.
        """
        return self._core.gradient()

    def vjp(
        self,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Array:
        """Vector–Jacobian product, shape ``(P,)``: the gradient of ``Σ position_bar · position + …`` by the adjoint.

        Cotangents have the shapes of the arrays of the motion; those left out are zero.
        """
        bars = self._bars((position, rotation, velocity, angular_velocity))
        if all(bar is None for bar in bars):
            return np.zeros(self._parameters)
        return self._core.gradient(*bars)[1]

    def jvp(self, direction: ArrayLike) -> Tangents:
        """Jacobian–vector product: derivatives of the motion along ``direction``, shape ``(P,)``, by the tangent."""
        d = numbers("direction", direction, (self._parameters,))
        return Tangents(*(x[0] for x in self._core.tangents(d[None, :])))

    def jacobian(self, paths: Sequence[str]) -> Tangents:
        """Derivatives of the motion by some parameters, one a row: shapes ``(len(paths), N + 1, B, …)``."""
        if isinstance(paths, str):
            raise TypeError(f"paths: a list of paths needed, {paths!r} given")
        directions = np.zeros((len(paths), self._parameters))
        for row, path in enumerate(paths):
            directions[row, self.scene.index(path)] = 1.0
        return Tangents(*self._core.tangents(directions))

    def hvp(
        self,
        direction: ArrayLike,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> Array:
        """Hessian of the scene's outcome, or of ``Σ position_bar · position + …``, times ``direction``; shape ``(P,)``.

        Exact: the tangent of the adjoint. Compliant model.
        """
        d = numbers("direction", direction, (self._parameters,))
        bars = self._bars((position, rotation, velocity, angular_velocity))
        return self._core.hessian_product(d, *bars)[2]

    def hessian(self, paths: Sequence[str]) -> Array:
        """Hessian of the scene's outcome by some parameters, shape ``(len(paths), len(paths))``. Compliant model."""
        at = [self.scene.index(path) for path in paths]
        rows = []
        for i in at:
            direction = np.zeros(self._parameters)
            direction[i] = 1.0
            rows.append(self.hvp(direction)[at])
        return np.array(rows).reshape(len(at), len(at))

    def __repr__(self) -> str:
        n, b = self.position.shape[:2]
        return f"<osculate.Motion: {n} states of {b} bodies>"


def _quaternions(r: Array) -> Array:
    """Of rotation matrices, by the largest of the four: no division by a small number."""
    m = r.reshape(-1, 3, 3)
    t = np.stack(
        [
            1 + m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2],
            1 + m[:, 0, 0] - m[:, 1, 1] - m[:, 2, 2],
            1 - m[:, 0, 0] + m[:, 1, 1] - m[:, 2, 2],
            1 - m[:, 0, 0] - m[:, 1, 1] + m[:, 2, 2],
        ],
        axis=1,
    )
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    rows = np.stack(
        [
            np.stack([t[:, 0], wx, wy, wz], axis=1),
            np.stack([wx, t[:, 1], xy, xz], axis=1),
            np.stack([wy, xy, t[:, 2], yz], axis=1),
            np.stack([wz, xz, yz, t[:, 3]], axis=1),
        ],
        axis=1,
    )
    q = rows[np.arange(len(m)), t.argmax(axis=1)]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    q[q[:, 0] < 0] *= -1
    return q.reshape(*r.shape[:-2], 4)
