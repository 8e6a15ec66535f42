"""Checks of what comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def numbers(
    name: str, given: ArrayLike, shape: tuple[int, ...], *, finite: bool = True
) -> NDArray[np.float64]:
    """``given`` as (finite) ``float64`` in C order, without a copy where it is that already.

    Raises ``TypeError`` for what is not real, ``ValueError`` for a wrong shape or a number that is not finite.
    """
    array: NDArray[Any] = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: dtype {array.dtype} given, real numbers needed")
    if array.shape != shape:
        raise ValueError(f"{name}: shape {array.shape} given, {shape} needed")
    array = np.asarray(array, dtype=np.float64, order="C")
    if finite and not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: {array[at]} at {at}, allowed: finite numbers")
    return array
