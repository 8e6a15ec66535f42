"""Scenes of the tests: those of the documentation, whose path is that of the repository."""

from pathlib import Path

import pytest

import osculate

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def block() -> osculate.Scene:
    return osculate.Scene.load(ROOT / "docs/examples/sliding_block.toml")


@pytest.fixture(scope="session")
def toss() -> osculate.Scene:
    return osculate.Scene.load(ROOT / "docs/examples/cube_toss.toml")


@pytest.fixture(scope="session")
def impulse_block() -> osculate.Scene:
    """The sliding block under the other contact model."""
    text = (ROOT / "docs/examples/sliding_block.toml").read_text()
    return osculate.Scene.parse(text.replace("[solver]", '[solver]\nmodel = "impulse"', 1))
