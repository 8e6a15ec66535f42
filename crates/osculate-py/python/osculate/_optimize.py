"""Trajectory optimisation: the whole command of the library, with its report as a dictionary."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _core
from ._scene import Scene


def optimize(
    experiment: str | os.PathLike[str],
    threads: int | None = None,
    *,
    starts: int | None = None,
    baselines: bool = False,
) -> tuple[dict[str, Any], Scene]:
    """Searches the initial states and controls of an optimisation file (``docs/optimize.md``).

    Returns the report and the scene at the best point: ``scene.simulate()`` is the best motion. The report has ``parameters`` and ``controls``
    (``values`` one a step), ``terms`` with errors in their units, ``reached``: how many starts reach the goal, ``starts`` and ``trust``. ``starts``: how
    many, those of the file by default. With ``baselines`` the same starts are searched by CMA-ES and with differences too.
    Nothing is written. The report does not depend on ``threads``, but for processor times. Ctrl-C ends the search: the report is that of
    the best point so far, and says ``"interrupted": true``.

    Raises :class:`ExperimentError`, :class:`SceneError` or :class:`FitError`.
    """
    report, scene = _core.optimize(os.fspath(experiment), threads, starts, baselines)
    return json.loads(report), Scene(scene)
