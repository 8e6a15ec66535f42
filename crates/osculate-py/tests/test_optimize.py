"""Optimised trajectories: the library's search, and the motion that it found."""

import numpy as np
import pytest

import osculate


def test_the_best_scene_moves_as_the_report_says(root):
    """Flick: a puck stops at a point. The report's controls, as wrenches of the file's own scene, give the same motion."""
    folder = root / "experiments/flick"
    report, scene = osculate.optimize(folder / "optimize.toml", starts=2)
    assert report["reached"] == 2 and len(report["starts"]) == 2 and not report["interrupted"]
    motion = scene.simulate()
    puck = scene.bodies.index("puck")
    end = motion.position[-1, puck]
    assert np.hypot(end[0] - 0.4, end[1] - 0.15) < 0.01
    controls = {c["name"]: c for c in report["controls"]}
    wrenches = np.zeros((len(scene.times) - 1, len(scene.dynamic_bodies), 6))
    for name, column in [("push_x", 0), ("push_y", 1), ("twist", 5)]:
        values = controls[name]["values"]
        first = controls[name]["first_step"]
        wrenches[first : first + len(values), scene.dynamic_bodies.index("puck"), column] = values
    again = osculate.Scene.load(folder / "scene.toml").with_wrenches(wrenches).simulate()
    assert np.array_equal(again.position, motion.position)


def test_the_result_does_not_depend_on_the_number_of_threads(root):
    file = root / "experiments/flick/optimize.toml"
    values = [[p["knots"] for p in osculate.optimize(file, t, starts=2)[0]["controls"]] for t in (1, 2)]
    assert values[0] == values[1]


def test_a_wrong_file_is_an_experiment_error_with_its_place(tmp_path, root):
    text = (root / "experiments/flick/optimize.toml").read_text().replace('actor = "puck"', 'actor = "duck"', 1)
    scene = (root / "experiments/flick/scene.toml").read_text()
    (tmp_path / "optimize.toml").write_text(text)
    (tmp_path / "scene.toml").write_text(scene)
    with pytest.raises(osculate.ExperimentError, match="optimize.toml.*duck"):
        osculate.optimize(tmp_path / "optimize.toml")
    with pytest.raises(osculate.ExperimentError):
        osculate.optimize(tmp_path / "missing.toml")
