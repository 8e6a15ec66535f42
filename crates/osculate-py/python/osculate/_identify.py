"""Identification and verification: whole commands of the library, with their reports as dictionaries."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._scene import UnitWarning

Path = str | os.PathLike[str]


def _path(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def recordings(experiment: Path, data: Path | None = None) -> list[int]:
    """Numbers of the recordings that :func:`fit` takes."""
    return _core.recordings(os.fspath(experiment), _path(data))


def fit(
    experiment: Path,
    data: Path | None = None,
    threads: int | None = None,
    *,
    tosses: Sequence[int] | None = None,
    starts: int | None = None,
    profiles: bool = True,
) -> dict[str, Any]:
    """Identifies the free parameters of an experiment (``docs/experiment.md``) from its recordings, or those of ``data``.

    Returns the report: ``parameters`` with estimates, standard errors, intervals and verdicts, ``loss``, ``curvature``, ``profiles``,
    ``starts``. ``tosses``: numbers of recordings, each counted as often as it is named; all by default. ``starts``: how many,
    those of the experiment by default. Without ``profiles`` there are no
    profiles and no verdicts: much faster. The report does not depend on ``threads``. Ctrl-C ends the fit: the report is that of the best point so far, and says
    ``"interrupted": true``; only where there is none yet ``KeyboardInterrupt`` is raised.

    What is doubtful about the recordings (millimetres, degrees, starts inside of the ground) stands in ``doubts``, where there is any, and is a
    :class:`UnitWarning` each.

    Raises :class:`ExperimentError`, :class:`RecordingError` or :class:`FitError`.
    """
    ids = None if tosses is None else [int(i) for i in tosses]
    report = json.loads(_core.fit(os.fspath(experiment), _path(data), threads, ids, starts, profiles))
    for doubt in report.get("doubts", []):
        warnings.warn(doubt, UnitWarning, stacklevel=2)
    return report


def evaluate(
    experiment: Path,
    values: Mapping[str, float] | Mapping[str, Any],
    data: Path | None = None,
    part: str = "all",
    threads: int | None = None,
) -> dict[str, Any]:
    """Errors of fixed parameters on recordings: ``loss``, ``position_error_percent``, ``rotation_error_deg``, ``tosses``.

    ``values``: numbers by path, or the report of :func:`fit`. ``part``: ``all``, ``train``, ``valid`` or ``test``.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"values: {type(values).__name__} given, numbers by path or a report needed")
    report = "parameters" in values
    if report:
        free = {p["path"]: p["best"] for p in values["parameters"]}
    else:
        free = {path: float(x) for path, x in values.items()}
    return json.loads(_core.evaluate(os.fspath(experiment), free, _path(data), part, threads, report))


def verify(scene: Path, states: int = 64, seed: int = 1) -> dict[str, Any]:
    """Certificate of which dissipative force has a potential (``docs/certificate.md``): ``rows``, ``agrees``."""
    return json.loads(_core.verify(os.fspath(scene), int(states), int(seed)))


def restitution(
    e: float,
    speed: float,
    *,
    dt: float = 1e-4,
    method: str = "bdf2",
    schedule: str = "current-geometry",
    mass: float = 1.0,
    area: float = 0.01,
    k: float = 1e9,
    epsilon: float = 0.005,
    delta: float = 0.001,
    phases: int = 8,
) -> dict[str, Any]:
    """Damping of a restitution, and what an integrator makes of it.

    ``e`` in (0, 1], ``speed`` [m/s], ``dt`` [s], ``mass`` [kg], ``area`` [m²], ``k`` [Pa/m], ``epsilon`` and ``delta`` [m]. Returns ``c_n`` [s/m] by the
    exact relation, ``c_n_rational`` by the page's formula, and ``e``: the least and largest restitution that the method shows over
    the phases of the impact within a step.
    """
    impact = {
        "speed": speed, "mass": mass, "area": area, "k": k, "epsilon": epsilon, "delta": delta,
        "method": method, "schedule": schedule,
    }  # fmt: skip
    return json.loads(_core.restitution(e, impact, dt, phases))
