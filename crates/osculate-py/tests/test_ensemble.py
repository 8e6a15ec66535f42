"""Ensembles: order, bits, workers that are lost."""

import os

import numpy as np
import pytest

import osculate


def test_a_sweep_has_the_same_bits_for_any_number_of_threads(block):
    values = [{"block.mu": mu} for mu in np.linspace(0.2, 0.5, 12)]
    body = block.bodies.index("block")

    def end(motion):
        return motion.position[-1, body].tobytes()

    assert osculate.ensemble.sweep(block, values, end, threads=1) == osculate.ensemble.sweep(block, values, end, threads=3)


def test_the_first_failure_is_raised(block):
    with pytest.raises(osculate.SceneError):
        osculate.ensemble.sweep(block, [{"block.mu": 0.3}, {"block.mu": -1.0}], lambda m: m.unconverged, threads=2)


def test_a_bootstrap_depends_on_its_seed_alone(root):
    experiment = root / "experiments/cube_toss/experiment.toml"
    one = osculate.ensemble.bootstrap(experiment, samples=2, seed=3, threads=1)
    two = osculate.ensemble.bootstrap(experiment, samples=2, seed=3, threads=2)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    assert np.all(np.abs(one["pair.cube.ground.mu"] - 0.18) < 0.02)


def slow_square(item):
    """Item 5 takes its worker with it, the first time."""
    import time

    index, folder = item
    mark = os.path.join(folder, "lost")
    if index == 5 and not os.path.exists(mark):
        with open(mark, "w"):
            pass
        os._exit(1)
    time.sleep(0.01)
    return index * index


def test_a_lost_worker_costs_no_result(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        items = [(i, str(tmp_path)) for i in range(12)]
        assert osculate.ensemble.map(slow_square, items, client=client) == [i * i for i in range(12)]
    assert (tmp_path / "lost").exists()
