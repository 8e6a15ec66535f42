"""The last roll-outs, so that a backward pass does not repeat its forward pass."""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from ._motion import Motion
from ._scene import Scene


class Memory:
    """Roll-outs of one scene by the values they were made with; forgets all but the last ``size``."""

    def __init__(self, scene: Scene, size: int = 8) -> None:
        self.scene = scene
        self._size = size
        self._kept: OrderedDict[bytes, Motion] = OrderedDict()
        self._lock = threading.Lock()

    def motion(self, values: NDArray[np.float64]) -> Motion:
        """The roll-out with ``values``, shape ``(P,)``."""
        key = np.ascontiguousarray(values, dtype=np.float64).tobytes()
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        motion = self.scene.simulate(values)
        with self._lock:
            self._kept[key] = motion
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return motion

    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of position, rotation, velocity and angular velocity."""
        n, b = len(self.scene.times), len(self.scene.bodies)
        return (n, b, 3), (n, b, 3, 3), (n, b, 3), (n, b, 3)
