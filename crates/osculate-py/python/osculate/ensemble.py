"""Many roll-outs or fits at once: over the threads of one machine, or over Dask's workers.

Results come in the order of the items, each once, whatever the number of threads or workers. On a machine threads suffice:
the interpreter is free while something is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _identify
from ._motion import Motion
from ._scene import Scene

__all__ = ["bootstrap", "map", "sweep"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map(  # noqa: A001 - osculate.ensemble.map is what it is
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    threads: int | None = None,
    client: Any = None,
    retries: int = 3,
) -> list[Result]:
    """``[function(item) for item in items]``, in parallel.

    ``threads``: how many on this machine, all cores by default. ``client``: a ``distributed.Client``; items then go to its workers, and an
    item whose worker is lost is computed again, as often as the scheduler lets it (``distributed.scheduler.allowed-failures``, three);
    a function that raises is tried ``retries`` times more. ``function`` and items must be picklable for that: load scenes inside it. The first exception is raised. It, and Ctrl-C, end what osculate computes for the other items.
    """
    items = list(items)
    if client is not None:
        futures = client.map(function, items, pure=False, retries=retries)
        try:
            return list(client.gather(futures))
        except BaseException:
            client.cancel(futures)
            raise
    count = threads if threads is not None else os.cpu_count() or 1
    if count < 1:
        raise ValueError(f"threads is {count}, allowed: at least 1")
    stop = _core.Stop()
    with ThreadPoolExecutor(max_workers=count, initializer=stop.enter) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            stop.ask()
            raise


def sweep(
    scene: Scene,
    values: Sequence[ArrayLike | Mapping[str, float]],
    observe: Callable[[Motion], Result],
    *,
    threads: int | None = None,
) -> list[Result]:
    """``observe`` of a roll-out with each of ``values`` (:meth:`Scene.simulate`)."""
    return map(lambda x: observe(scene.simulate(x)), values, threads=threads)


class _Fit:
    """A fit of some recordings, to be sent to a worker."""

    def __init__(self, experiment: str, data: str | None, starts: int) -> None:
        self.experiment, self.data, self.starts = experiment, data, starts

    def __call__(self, tosses: list[int]) -> dict[str, float]:
        report = _identify.fit(self.experiment, self.data, threads=1, tosses=tosses, starts=self.starts, profiles=False)
        return {p["path"]: p["best"] for p in report["parameters"]}


def bootstrap(
    experiment: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    samples: int = 100,
    seed: int = 1,
    starts: int = 1,
    threads: int | None = None,
    client: Any = None,
) -> dict[str, np.ndarray]:
    """Block bootstrap of a fit: recordings drawn with replacement, fitted again, ``samples`` times.

    ``starts``: how many starts each fit has. Returns the best values of every free parameter, shape ``(samples,)`` each. What is drawn depends on ``seed`` alone. With a
    ``client`` the files must be where its workers find them.
    """
    path = os.path.abspath(os.fspath(experiment))
    folder = None if data is None else os.path.abspath(os.fspath(data))
    ids = np.array(_identify.recordings(path, folder))
    random = np.random.default_rng(seed)
    draws = [sorted(int(i) for i in random.choice(ids, size=len(ids))) for _ in range(samples)]
    found = map(_Fit(path, folder, starts), draws, threads=threads, client=client)
    return {name: np.array([one[name] for one in found]) for name in (found[0] if found else {})}
