"""PyTorch: its own checker agrees with the adjoint."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import osculate.torch  # noqa: E402


def test_gradients_are_those_of_the_adjoint(block):
    x = torch.tensor(block.values, requires_grad=True)
    motion = osculate.torch.roll_out(block)(x)
    motion.position[-1, block.bodies.index("block"), 0].backward()
    bar = np.zeros(block.simulate().position.shape)
    bar[-1, block.bodies.index("block"), 0] = 1.0
    np.testing.assert_allclose(x.grad.numpy(), block.simulate().vjp(position=bar), rtol=1e-12, atol=1e-15)


def test_gradcheck_agrees(block):
    roll_out = osculate.torch.roll_out(block)
    values = torch.tensor(block.values)
    at = torch.tensor([block.index("block.velocity_x"), block.index("block.mu")])
    body = block.bodies.index("block")

    def end(x):
        return roll_out(values.index_put((at,), x)).position[-1, body, 0]

    assert torch.autograd.gradcheck(end, (values[at].clone().requires_grad_(),), eps=1e-5, atol=1e-5, rtol=1e-4)


def test_single_precision_is_refused(block):
    with pytest.raises(ValueError, match="float32"):
        osculate.torch.roll_out(block)(torch.zeros(len(block.paths), dtype=torch.float32))
