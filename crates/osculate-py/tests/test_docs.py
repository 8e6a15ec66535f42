"""The Python of the README, of docs/python.md and of the guide runs as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


PAGES = ["README.md", "docs/python.md"] + [
    str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs/guide").glob("*.md")) if blocks(page.read_text())
]


def test_the_guide_has_python():
    assert "docs/guide/python.md" in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_code_of_a_page_runs(page, root, monkeypatch):
    """In order and in one namespace; a block that needs a cluster is left out, one that needs JAX where there is none."""
    monkeypatch.chdir(root)
    found = blocks((root / page).read_text())
    assert found
    names: dict[str, object] = {}
    ran = 0
    for block in found:
        if "tcp://" in block:
            continue
        if "jax" in block:
            pytest.importorskip("jax")
        exec(compile(block, page, "exec"), names)
        ran += 1
    assert ran >= 1
    if page == "docs/python.md":
        assert f"{names['gradient'][names['scene'].index('block.mu')]:.6f}" == "-0.138586"
