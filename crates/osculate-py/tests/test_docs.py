"""The Python of the README and of docs/python.md runs as it stands there."""

import re

import pytest


def blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
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
