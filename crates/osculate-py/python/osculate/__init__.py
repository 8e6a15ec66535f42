"""Differentiable contact simulation: scenes, roll-outs, exact derivatives, identification.

>>> import osculate
>>> scene = osculate.Scene.load("docs/examples/sliding_block.toml")
>>> motion = scene.simulate()
>>> value, gradient = motion.gradient()
>>> gradient[scene.index("block.mu")]

Arrays are ``float64`` in C order. Units are SI, frames the world's, unless stated. The first axis of a motion counts its
``N + 1`` states, the second its ``B`` bodies. While something is computed the interpreter is free, and Ctrl-C ends it.
"""

from __future__ import annotations

from . import ensemble
from ._core import (
    ExperimentError,
    FitError,
    GradientError,
    OsculateError,
    RecordingError,
    SceneError,
    StepError,
    __version__,
)
from ._identify import evaluate, fit, recordings, restitution, verify
from ._motion import Motion, Tangents
from ._optimize import optimize
from ._scene import Scene, UnitWarning

__all__ = [
    "ExperimentError",
    "FitError",
    "GradientError",
    "Motion",
    "OsculateError",
    "RecordingError",
    "Scene",
    "SceneError",
    "StepError",
    "Tangents",
    "UnitWarning",
    "__version__",
    "ensemble",
    "evaluate",
    "fit",
    "optimize",
    "recordings",
    "restitution",
    "verify",
]
