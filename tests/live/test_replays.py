"""The replay of the flat copy on real wheels: its historical script shows the bug with it and not without."""

from __future__ import annotations

import pytest

from minrepro import backends, replays
from minrepro.verify import rerun

CHECK = "print([[float(v) for v in row] for row in {tensor}.numpy()])"
SCRIPTS = {
    "torch": "import torch\ny = torch.zeros(2, 2)\ny.copy_(torch.tensor([[0.0, 1.0], [2.0, 3.0]]).t())",
    "paddle": "import numpy as np, paddle\ny = paddle.zeros([2, 2])\n"
    "y.set_value(np.array([[0, 1], [2, 3]], 'float32').T)",
    "oneflow": "import numpy as np, oneflow as flow\ny = flow.zeros(2, 2)\ny.copy_(np.array([[0, 1], [2, 3]], 'float32').T)",
}
LOADING = {
    "torch": "import torch\nlayer = torch.nn.Linear(2, 2)\n"
    "layer.load_state_dict({'weight': torch.tensor([[0.0, 1.0], [2.0, 3.0]]).t(), 'bias': torch.zeros(2)})\n"
    "y = layer.weight.detach()",
    "paddle": "import numpy as np, paddle\nlayer = paddle.nn.Linear(2, 2)\n"
    "layer.set_state_dict({'weight': np.array([[0, 1], [2, 3]], 'float32').T, 'bias': np.zeros(2, 'float32')})\n"
    "y = layer.weight.detach()",
    "oneflow": "import numpy as np, oneflow as flow\nlayer = flow.nn.Linear(2, 2)\n"
    "layer.load_state_dict({'weight': np.array([[0, 1], [2, 3]], 'float32').T, 'bias': np.zeros(2, 'float32')})\n"
    "y = layer.weight.detach()",
}
REFUSED = {
    "torch": "import torch\ny = torch.zeros(2, 3)\ny.copy_(torch.arange(3.0).expand(2, 3))",
    "paddle": "import numpy as np, paddle\ny = paddle.zeros([3])\ny.set_value(np.arange(3, dtype='float32')[::-1])",
    "oneflow": "import numpy as np, oneflow as flow\ny = flow.zeros(3)\ny.copy_(np.arange(3, dtype='float32')[::-1])",
}
RIGHT, WRONG = "[[0.0, 2.0], [1.0, 3.0]]", "[[0.0, 1.0], [2.0, 3.0]]"


@pytest.mark.parametrize("name", sorted(SCRIPTS))
@pytest.mark.parametrize("scripts", [SCRIPTS, LOADING], ids=["copy", "load"])
def test_the_historical_script_is_wrong_with_it_and_right_without(name, scripts, python_of):
    backend, python = backends.table()[name], python_of(name)
    text = f"{scripts[name]}\n{CHECK.format(tensor='y')}\n"
    without = rerun(text, backend, python)
    under = rerun(text, backend, python, replay_file=replays.find("flat-copy").path)
    assert (without.status, under.status) == (0, 0), without.errors + under.errors
    assert without.output.splitlines()[-1] == RIGHT
    assert under.output.splitlines()[-1] == WRONG


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_was_undefined_is_refused(name, python_of):
    python = python_of(name)
    under = rerun(REFUSED[name], backends.table()[name], python, replay_file=replays.find("flat-copy").path)
    assert under.status == 1 and "reversed, broadcast or cut view" in under.errors
