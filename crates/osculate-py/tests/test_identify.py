"""Fits, certificates, restitution: the reports of the library."""

import math
import os
import re
import shutil
import signal
import threading
import time

import numpy as np
import pytest

import osculate


@pytest.fixture(scope="module")
def experiment(root):
    return root / "experiments/cube_toss/experiment.toml"


def test_a_fit_of_some_recordings_finds_their_friction(experiment):
    """The twin was made with μ 0.18."""
    ids = osculate.recordings(experiment)
    report = osculate.fit(experiment, tosses=ids[:4], starts=2, profiles=False)
    best = {p["path"]: p["best"] for p in report["parameters"]}
    assert report["tosses"] == 4 and not report["interrupted"]
    assert abs(best["pair.cube.ground.mu"] - 0.18) < 0.01
    # The report has a value that the fit kept (v_f), too.
    assert "pair.cube.ground.v_f" in best or not report["profiles"]
    errors = osculate.evaluate(experiment, {**report, "parameters": [*report["parameters"], {"path": "pair.cube.ground.v_f", "best": 0.01}]})
    assert errors["loss"] > 0 and len(errors["tosses"]) >= len(ids)
    with pytest.raises(osculate.ExperimentError, match="missing"):
        osculate.evaluate(experiment, {})
    with pytest.raises(osculate.RecordingError, match="no recording 9999"):
        osculate.fit(experiment, tosses=[9999])


def damaged(root, tmp_path, change):
    """The folder of the twin with another first recording: `change` takes its lines and gives others."""
    data = tmp_path / "twin"
    shutil.copytree(root / "experiments/cube_toss/twin", data)
    first = data / "tosses/toss_000.csv"
    first.write_text("\n".join(change(first.read_text().splitlines())) + "\n")
    return data


def test_a_damaged_recording_is_a_recording_error_that_names_the_line(root, experiment, tmp_path):
    """Symptom: a missing frame was an `ExperimentError`. Cause: what reads an experiment wraps errors of its recordings."""
    data = damaged(root, tmp_path, lambda lines: lines[:5] + lines[6:])
    with pytest.raises(osculate.RecordingError, match=r"toss_000\.csv: line 6 .*frames missing"):
        osculate.fit(experiment, data=data, tosses=[0], starts=1, profiles=False)


def test_what_is_doubtful_about_recordings_is_a_warning(root, experiment, tmp_path):
    """A start inside of the ground stood in the report alone."""

    def lowered(lines):
        rows = [line.split(",") for line in lines[1:]]
        return [lines[0], *(",".join([*row[:3], str(float(row[3]) - 0.06), *row[4:]]) for row in rows)]

    data = damaged(root, tmp_path, lowered)
    with pytest.warns(osculate.UnitWarning, match="inside 'ground'"):
        report = osculate.fit(experiment, data=data, tosses=[0], starts=1, profiles=False)
    assert len(report["doubts"]) == 1


def press_ctrl_c(call, after):
    """What a call returns or raises where Ctrl-C is pressed `after` seconds into it, and the seconds from there to its end."""
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        found = call()
    except KeyboardInterrupt as raised:
        found = raised
    ended = time.monotonic()
    timer.join()
    return found, ended - pressed[0]


def test_ctrl_c_ends_a_fit_within_a_second(experiment):
    """The best point so far comes back; only where there is none, KeyboardInterrupt."""
    report, seconds = press_ctrl_c(lambda: osculate.fit(experiment), 0.5)
    # Half a second on a quiet machine.
    assert seconds < 5.0
    assert isinstance(report, KeyboardInterrupt) or report["interrupted"]


def long_text(root, steps):
    text = (root / "docs/examples/sliding_block.toml").read_text()
    text = re.sub(r"(?m)^(steps|duration)\s*=.*$", "", text)
    return text.replace("[solver]", f"[solver]\nsteps = {steps}", 1)


def long_slide(root, steps):
    return osculate.Scene.parse(long_text(root, steps))


def seconds_to_end(call):
    """From Ctrl-C, pressed 0.3 s after the call, to its KeyboardInterrupt."""
    found, seconds = press_ctrl_c(call, 0.3)
    assert isinstance(found, KeyboardInterrupt)
    return seconds


def test_ctrl_c_ends_a_roll_out(root):
    """Half a second on a quiet machine; the roll-out would take a minute."""
    assert seconds_to_end(long_slide(root, 5_000_000).simulate) < 5.0


def test_ctrl_c_ends_a_jacobian_between_its_passes(root):
    """There is a pass for every eight directions; all of these would take a minute."""
    scene = long_slide(root, 20_000)
    motion = scene.simulate()
    paths = list(scene.paths) * 8
    assert seconds_to_end(lambda: motion.jacobian(paths)) < 5.0


def test_ctrl_c_ends_derivatives_and_does_not_spoil_the_motion(root):
    """Symptom: one adjoint, eight tangents or a Hessian–vector product ran to its end. (That each stops in its first step is tested in Rust.)"""
    scene = long_slide(root, 100_000)
    motion = scene.simulate()
    direction = np.zeros(len(scene.paths))
    direction[scene.index("block.mu")] = 1.0
    value = motion.gradient()[0]
    for call in (motion.gradient, lambda: motion.jvp(direction), lambda: motion.hvp(direction), motion.energies):
        # Again and again: none of them is long enough by itself.
        assert seconds_to_end(lambda call=call: [call() for _ in range(1000)]) < 3.0
    assert motion.gradient()[0] == value


def test_ctrl_c_ends_derivatives_under_impulses(root):
    scene = osculate.Scene.parse(long_text(root, 20_000).replace("[solver]", '[solver]\nmodel = "impulse"', 1))
    motion = scene.simulate()
    assert seconds_to_end(lambda: [motion.gradient() for _ in range(1000)]) < 3.0
    assert seconds_to_end(lambda: motion.jacobian(list(scene.paths) * 8)) < 3.0


def test_ctrl_c_ends_the_threads_of_an_ensemble(root):
    """Signals reach the main thread alone: each roll-out of the pool ran to its end."""
    scene = long_slide(root, 5_000_000)
    values = [{"block.mu": 0.3}, {"block.mu": 0.4}]
    assert seconds_to_end(lambda: osculate.ensemble.sweep(scene, values, lambda motion: 0, threads=2)) < 3.0


def test_ctrl_c_ends_a_search_with_its_best_point(root):
    # Ten starts of push take a minute.
    search = root / "experiments/push/optimize.toml"
    (report, best), seconds = press_ctrl_c(lambda: osculate.optimize(search), 0.5)
    assert seconds < 3.0
    assert report["interrupted"] and math.isfinite(report["starts"][report["best_start"]]["cost"])
    # Its flag is not that of later calls.
    assert np.isfinite(best.simulate().position).all()


def test_ctrl_c_ends_restitution_and_certificates(root):
    """They ran to their end: the flag was not looked at."""
    assert seconds_to_end(lambda: osculate.restitution(0.6, 1.0, phases=10_000_000)) < 5.0
    scene = root / "docs/examples/cube_toss.toml"
    assert seconds_to_end(lambda: osculate.verify(scene, states=20_000)) < 20.0


def test_numbers_of_threads_and_starts_that_mean_nothing_are_refused(experiment):
    for wrong in ({"threads": 0}, {"threads": 100_000}, {"starts": 0}):
        with pytest.raises(ValueError, match="allowed"):
            osculate.fit(experiment, **wrong)
    with pytest.raises(TypeError, match="report needed"):
        osculate.evaluate(experiment, "report.json")


def test_restitution_is_the_exact_relation():
    """u (1 + e) = ln((1 + u)/(1 − e u))."""
    found = osculate.restitution(0.6, 2.0, method="bdf2", schedule="current", dt=2e-5)
    u = found["c_n"] * 2.0
    assert math.isclose(u * 1.6, math.log((1 + u) / (1 - 0.6 * u)), rel_tol=1e-12)
    low, high = found["e"]
    assert low - 0.01 <= 0.6 <= high + 0.01
    with pytest.raises(osculate.OsculateError, match="bdf2"):
        osculate.restitution(0.6, 2.0, method="rk4")


def test_a_certificate_agrees_with_the_page(root):
    found = osculate.verify(root / "experiments/certificate/scene.toml", states=8)
    assert found["agrees"] is True and found["rows"]
