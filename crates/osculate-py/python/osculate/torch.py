"""Roll-outs as functions of PyTorch. Needs ``torch``.

>>> import torch, osculate, osculate.torch
>>> scene = osculate.Scene.load("docs/examples/sliding_block.toml")
>>> x = torch.tensor(scene.values, requires_grad=True)
>>> osculate.torch.roll_out(scene)(x).position[-1, 0, 0].backward()

Tensors are on the CPU and ``float64``. Derivatives by increments (rotations) are those at zero, where they must stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ._memory import Memory
from ._scene import Scene

__all__ = ["TorchMotion", "roll_out"]


class TorchMotion(NamedTuple):
    """A motion as tensors; axes as in :class:`osculate.Motion`."""

    position: torch.Tensor
    rotation: torch.Tensor
    velocity: torch.Tensor
    angular_velocity: torch.Tensor


class _RollOut(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, memory: Memory) -> tuple[torch.Tensor, ...]:
        motion = memory.motion(values.detach().numpy())
        ctx.motion = motion
        arrays = (motion.position, motion.rotation, motion.velocity, motion.angular_velocity)
        # Torch may write into its tensors; the motion keeps its own numbers.
        return tuple(torch.from_numpy(np.array(x)) for x in arrays)

    @staticmethod
    def backward(ctx: Any, *bars: torch.Tensor) -> tuple[torch.Tensor, None]:
        gradient = ctx.motion.vjp(*(None if bar is None else bar.detach().numpy() for bar in bars))
        return torch.from_numpy(np.array(gradient)), None


def roll_out(scene: Scene) -> Callable[[torch.Tensor], TorchMotion]:
    """A function from values, shape ``(P,)``, ``float64``, to the motion. Its backward pass is one adjoint sweep."""
    memory = Memory(scene)
    size = len(scene.paths)

    def call(values: torch.Tensor) -> TorchMotion:
        if values.dtype != torch.float64 or tuple(values.shape) != (size,):
            raise ValueError(f"values: {values.dtype} of shape {tuple(values.shape)} given, torch.float64 of {(size,)} needed")
        return TorchMotion(*_RollOut.apply(values, memory))

    return call
