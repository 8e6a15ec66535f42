"""Scenes and their parameters."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import numbers
from ._motion import Motion


class UnitWarning(UserWarning):
    """A number that looks like another unit (millimetres, degrees), or a recording that is doubtful otherwise."""


class Scene:
    """A scene with its numbers. Nothing of it changes: what sets something gives another scene.

    The format of scene files is that of ``docs/scene.md``. ``P`` parameters have a path (``cube.mu``), a unit and a value.
    """

    __slots__ = ("_core", "_index", "_paths", "_units")

    def __init__(self, core: _core.Scene) -> None:
        self._core = core
        self._paths: tuple[str, ...] | None = None
        self._units: tuple[str, ...] | None = None
        self._index: dict[str, int] | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scene:
        """Reads a scene file; meshes are looked for beside it. What is doubtful about it is warned of.

        Raises :class:`SceneError` with file, line, field, the value found and what is allowed.
        """
        return cls._warned(_core.Scene.load(os.fspath(path)))

    @classmethod
    def parse(cls, text: str, base: str | os.PathLike[str] = ".") -> Scene:
        """As :meth:`load`, of a text; meshes are looked for in the folder ``base``."""
        return cls._warned(_core.Scene.parse(text, os.fspath(base)))

    @classmethod
    def _warned(cls, core: _core.Scene) -> Scene:
        for text in core.warnings:
            warnings.warn(text, stacklevel=3)
        scene = cls(core)
        for path, value, unit in zip(scene._names(), scene.values, scene.units, strict=True):
            _doubt(path, float(value), unit)
        return scene

    @property
    def model(self) -> str:
        """``"compliant"`` or ``"impulse"``."""
        return self._core.model

    @property
    def bodies(self) -> list[str]:
        """Names of the ``B`` bodies, static ones too: the second axis of a motion."""
        return self._core.bodies

    @property
    def dynamic_bodies(self) -> list[str]:
        """Names of the ``D`` bodies that move by forces: the second axis of applied wrenches."""
        return self._core.dynamic_bodies

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the states [s], shape ``(N + 1,)``."""
        return self._core.times

    @property
    def paths(self) -> list[str]:
        """Paths of the parameters, length ``P``."""
        return list(self._names())

    def _names(self) -> tuple[str, ...]:
        """Paths, asked for once."""
        if self._paths is None:
            self._paths = tuple(self._core.paths)
        return self._paths

    @property
    def units(self) -> list[str]:
        """Units of the parameters, empty for pure numbers, length ``P``."""
        if self._units is None:
            self._units = tuple(self._core.units)
        return list(self._units)

    @property
    def values(self) -> NDArray[np.float64]:
        """Values of the parameters, shape ``(P,)``. Rotations and placements are increments, whose value is zero."""
        return self._core.values

    @property
    def is_increment(self) -> NDArray[np.bool_]:
        """Which parameters are increments, shape ``(P,)``."""
        return np.array(self._core.is_increment, dtype=bool)

    def index(self, path: str) -> int:
        """Index of a parameter. Raises ``KeyError`` with the paths that look like it."""
        if self._index is None:
            self._index = {p: i for i, p in enumerate(self._names())}
        try:
            return self._index[path]
        except KeyError:
            import difflib

            near = difflib.get_close_matches(path, self._index, n=5, cutoff=0.4)
            hint = ", ".join(near) or f"there are {len(self._index)}, see Scene.paths"
            raise KeyError(f"no parameter '{path}'; near it: {hint}") from None

    def _vector(self, values: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        """Full vector of values from a vector or from those that differ."""
        if not isinstance(values, Mapping):
            # A limit that is off is infinite: the core compares with what stands there.
            full = numbers("values", values, (len(self._names()),), finite=False)
            # Nothing smaller is doubted; searches call this again and again.
            for i in np.flatnonzero((np.abs(full) > 2.0 * np.pi) & (full != self.values)):
                _doubt(self._names()[i], float(full[i]), self.units[i])
            return full
        full = self.values
        units = self.units
        for path, value in values.items():
            i = self.index(path)
            full[i] = numbers(path, value, ())
            _doubt(path, float(full[i]), units[i])
        return full

    def with_values(self, values: ArrayLike | Mapping[str, float]) -> Scene:
        """The same scene with other values: all of them, shape ``(P,)``, or some by path.

        An increment moves the scene by it (a rotation vector [rad] turns the body about its local origin, world axes, one
        component after the other) and is zero again.
        """
        return Scene(self._core.with_values(self._vector(values)))

    def with_wrenches(self, wrenches: ArrayLike) -> Scene:
        """The same scene with a force [N] and a torque about the centre of mass [N m] on each dynamic body in each step.

        ``wrenches`` has shape ``(N, D, 6)``, world axes. They are parameters then: ``cube.wrench.12.force_x``.
        """
        shape = (len(self.times) - 1, len(self.dynamic_bodies), 6)
        return Scene(self._core.with_wrenches(numbers("wrenches", wrenches, shape)))

    def simulate(self, values: ArrayLike | Mapping[str, float] | None = None) -> Motion:
        """Rolls the scene out.

        ``values``: other values of parameters, all or some, as in :meth:`with_values`; increments must be zero.

        Raises :class:`StepError` where a step fails, :class:`SceneError` where a value is outside its range.
        """
        given = None if values is None else self._vector(values)
        return Motion(self._core.simulate(given))

    def __repr__(self) -> str:
        steps = len(self.times) - 1
        return f"<osculate.Scene: {self.model}, {len(self.bodies)} bodies, {steps} steps, {len(self._names())} parameters>"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Scene cannot be pickled: send the path or the text of its file, and values")


def _doubt(path: str, value: float, unit: str) -> None:
    """Warns of a number that no scene of metres and radians has."""
    name = path.rsplit(".", 1)[-1]
    if unit == "m" and ("position" in name or "extent" in name or "radius" in name) and abs(value) >= 50.0:
        warnings.warn(f"{path} is {value} m: are these millimetres?", UnitWarning, stacklevel=4)
    if unit == "m/s" and "velocity" in name and abs(value) >= 340.0:
        warnings.warn(f"{path} is {value} m/s, faster than sound: are these millimetres a second?", UnitWarning, stacklevel=4)
    if unit == "rad" and abs(value) > 2.0 * np.pi:
        warnings.warn(f"{path} is {value} rad, more than a turn: are these degrees?", UnitWarning, stacklevel=4)
    if unit == "rad/s" and abs(value) > 300.0:
        warnings.warn(f"{path} is {value} rad/s, {value / (2.0 * np.pi):.0f} turns a second: are these degrees?", UnitWarning, stacklevel=4)

