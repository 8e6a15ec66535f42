"""Scenes: what is read, set and refused."""

import re
import warnings

import numpy as np
import pytest

import osculate


def test_parameters_have_paths_units_and_values(block):
    assert len(block.paths) == len(block.units) == len(block.values) == len(set(block.paths))
    assert block.units[block.index("block.mass")] == "kg"
    assert block.values.dtype == np.float64 and block.times[0] == 0.0
    assert np.all(np.diff(block.times) > 0)


def test_values_are_what_was_set_to_the_bit(block):
    """A value set through increments kept the digits of the larger one: k = 1 after k = 1e9 was 1.0000000x."""
    for k in (1.0, 3.7e-3, 1e12):
        changed = block.with_values({"block.k": k, "block.mu": 0.4})
        assert changed.values[block.index("block.k")] == k
    assert block.values[block.index("block.mu")] == 0.3, "scenes do not change"


def test_a_limit_that_is_off_may_stay_infinite(impulse_block):
    values = impulse_block.values
    assert np.isinf(values).any()
    np.testing.assert_array_equal(impulse_block.simulate(values).position, impulse_block.simulate().position)
    values[impulse_block.index("block.mass")] = np.inf
    with pytest.raises(ValueError, match="block.mass is inf"):
        impulse_block.simulate(values)


def test_a_rotation_moves_the_scene_and_is_zero_again(block):
    i = block.index("block.rotation_z")
    assert block.is_increment[i]
    turned = block.with_values({"block.rotation_z": 0.5})
    assert turned.values[i] == 0.0
    b = block.bodies.index("block")
    before, after = block.simulate().rotation[0, b], turned.simulate().rotation[0, b]
    c, s = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(after, np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ before, atol=1e-14)
    with pytest.raises(ValueError, match="rotation_z is an increment, 0.5 given, 0 needed"):
        block.simulate({"block.rotation_z": 0.5})


def test_wrenches_are_parameters(block):
    steps, bodies = len(block.times) - 1, len(block.dynamic_bodies)
    pushed = block.with_wrenches(np.zeros((steps, bodies, 6)))
    assert len(pushed.paths) == len(block.paths) + 6 * steps * bodies
    np.testing.assert_array_equal(pushed.simulate().position, block.simulate().position)
    assert "block.wrench.0.force_x" in pushed.paths


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"block.muu": 0.3}, KeyError, "block.mu"),
        ({"block.mu": np.nan}, ValueError, "nan"),
        ({"block.mu": -0.3}, osculate.SceneError, "-0.3"),
        ({"block.mass": 0.0}, osculate.SceneError, "mass"),
        ([1.0, 2.0], ValueError, "shape"),
        ({"block.mu": "0.3"}, TypeError, "real numbers"),
        ({"block.mu": 0.3 + 0j}, TypeError, "complex"),
    ],
)
def test_wrong_values_are_refused_with_their_name(block, given, error, text):
    with pytest.raises(error, match=text):
        block.simulate(given)


def test_wrong_wrenches_are_refused(block):
    with pytest.raises(ValueError, match="wrenches: shape"):
        block.with_wrenches(np.zeros((3, 1, 6)))


def test_errors_of_files_name_file_line_and_field(tmp_path):
    file = tmp_path / "scene.toml"
    file.write_text('[solver]\ndt = 0.001\nsteps = 3\n\n[[actor]]\nname = "a"\nfixd = true\n')
    with pytest.raises(osculate.SceneError, match=r"scene.toml.*fixd") as found:
        osculate.Scene.load(file)
    assert isinstance(found.value, osculate.OsculateError)
    with pytest.raises(osculate.SceneError, match="nowhere.toml"):
        osculate.Scene.load(tmp_path / "nowhere.toml")


def test_numbers_that_look_like_degrees_or_millimetres_are_doubted(block):
    with pytest.warns(osculate.UnitWarning, match="millimetres"):
        block.with_values({"block.position_x": 120.0})
    with pytest.warns(osculate.UnitWarning, match="degrees"):
        block.with_values({"block.rotation_z": 45.0})
    with pytest.warns(osculate.UnitWarning, match="degrees"):
        block.with_values({"block.angular_velocity_z": 720.0})
    with pytest.warns(osculate.UnitWarning, match="millimetres a second"):
        block.with_values({"block.velocity_x": 800.0})


def test_a_vector_of_values_is_doubted_as_values_by_path_are(block):
    """Symptom: no word of 300 m in a vector. Cause: only values given by path were looked at."""
    values = block.values
    values[block.index("block.position_z")] = 300.0
    with pytest.warns(osculate.UnitWarning, match="block.position_z is 300.0 m"):
        block.with_values(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block.with_values(block.values)


def test_a_scene_file_in_millimetres_is_doubted(root):
    """Only values given by path were looked at."""
    text = (root / "docs/examples/sliding_block.toml").read_text()
    found = [line for line in text.splitlines() if "position = [" in line]
    assert found
    with pytest.warns(osculate.UnitWarning, match="millimetres"):
        osculate.Scene.parse(text.replace(found[0], re.sub(r"position = \[[^,\]]*,", "position = [150.0,", found[0])))
