"""Runs the zoo in the interpreter of one framework and writes what it computed (Python 3.8, no minrepro).

``port_probe.py torch ZOO FOLDER``: the references, in float32 and in float64, with their states.
``port_probe.py paddle|oneflow ZOO FOLDER``: the ports on the same inputs with the converted states, and once more with
one linear weight turned. Each result is an ``.npz`` whose keys are ``PART/NAME``; a port that raises leaves an
``.err``. Nothing is random that is not drawn from NumPy with a fixed seed.
"""

import copy
import importlib
import importlib.util
import os
import sys
import traceback

import numpy as np

MODELS = {
    "mixer_tiny": "mixer",
    "mixer_tiny_square": "mixer",
    "vit_tiny": "vit",
    "bert_tiny": "bert",
    "resnet_tiny": "resnet",
    "mar_tiny": "mar",
}
OBLONG = ("mixer_tiny", "resnet_tiny")
"""Models without a square weight."""
RATE = 0.05


class Toolbox:
    """What differs between the frameworks where a test touches them."""

    def __init__(self, framework, double=False):
        self.framework, self.double = framework, double
        self.module = importlib.import_module(framework)

    def tensor(self, array):
        """Array to tensor; in a float64 run, numbers are widened."""
        array = np.array(array, order="C")
        if self.double and array.dtype == np.float32:
            array = array.astype(np.float64)
        return (self.module.to_tensor if self.framework == "paddle" else self.module.from_numpy)(array)

    def load(self, model, state):
        """Put a state into a port; anything missing or left over is an error."""
        if self.framework == "paddle":
            missing, unexpected = model.set_state_dict(state)
            assert not missing and not unexpected, (missing, unexpected)
        else:
            model.load_state_dict(state)

    def sgd(self, model):
        """Plain gradient descent."""
        if self.framework == "paddle":
            return self.module.optimizer.SGD(learning_rate=RATE, parameters=model.parameters())
        return self.module.optim.SGD(model.parameters(), lr=RATE)

    def pin(self, seed):
        """Draw masks, timesteps and noise from NumPy, the same on every side."""
        np.random.seed(seed)
        stream = np.random.RandomState(seed)

        def randn(*shape, **_):
            shape = shape if isinstance(shape[0], int) else shape[0]
            return self.tensor(stream.standard_normal(tuple(shape)).astype("float32"))

        def randint(low, high, shape, **_):
            return self.tensor(stream.randint(low, high, tuple(shape)))

        self.module.randn, self.module.randint = randn, randint


def trained(model):
    """The parameters that are trained; Paddle keeps the statistics of batch norms among the others."""
    return [(name, p) for name, p in model.named_parameters() if not getattr(p, "stop_gradient", False)]


def computed(box, model, inputs):
    """Outputs, gradients of a weighted sum of them, and the parameters after two steps of SGD."""
    found = {}
    optimizer = box.sgd(model)
    for step in range(2):
        outputs = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
        outputs = outputs if isinstance(outputs, dict) else {"out": outputs}
        loss = 0
        for name, output in outputs.items():
            weights = np.random.RandomState(3).standard_normal(tuple(output.shape)).astype("float32")
            loss = loss + (output * box.tensor(weights)).sum()
            found.update({} if step else {"output/" + name: np.array(output.detach().numpy())})
        loss.backward()
        if not step:
            found.update({"grad/" + name: np.array(p.grad.numpy()) for name, p in trained(model)})
        optimizer.step()
        (optimizer.clear_grad if box.framework == "paddle" else optimizer.zero_grad)()
    found.update({"trained/" + name: np.array(p.detach().numpy()) for name, p in trained(model)})
    return found


def computed_mar(box, model, inputs):
    """The parts of MAR one after the other, each on what the part before it gave, with every draw pinned."""
    latents, labels = inputs
    with box.module.no_grad():
        box.pin(7)
        tokens = model.patchify(latents)
        mask = model.random_masking(model.sample_orders(tokens.shape[0]))
        x = model.forward_mae_encoder(tokens, mask, model.class_emb(labels))
        z = model.forward_mae_decoder(x, mask)
        loss = model.forward_loss(z=z, target=tokens, mask=mask)
        box.pin(7)
        found = {"tokens": tokens, "mask": mask, "encoder": x, "decoder": z, "loss": loss}
        found["whole"] = model(latents, labels)
        rows = tokens.shape[0] * tokens.shape[1]
        target, stream = tokens.reshape([rows, -1]), np.random.RandomState(5)
        noise = stream.standard_normal((rows, tokens.shape[2])).astype("float32")
        t = box.tensor(np.append([1, 2, 3, 999], stream.randint(1, 1000, rows - 4)))
        terms = model.diffloss.training_losses(target, t, z.reshape([rows, -1]), box.tensor(noise))
        found.update(mse=terms["mse"], vb=terms["vb"])
        # At t = 0 the term is the logarithm of a difference of probabilities. It only has digits in float32 where the
        # guess is good, so a network that was never trained is no test of it: here the guess is right.
        first, guess = box.tensor(np.zeros(rows, "int64")), box.tensor(np.hstack([noise, np.zeros_like(noise)]))
        noise = box.tensor(noise)
        diffusion = model.diffloss.train_diffusion
        found["first"] = diffusion(target, diffusion.q_sample(target, first, noise), first, noise, guess)["vb"]
        for name, options in {"plain": {}, "guided": {"cfg": 2.0}}.items():
            box.pin(8)
            found[name] = model.sample_tokens(labels, rounds=3, **options)
        found["back"] = model.unpatchify(tokens)
    return {"output/" + name: np.array(value.numpy()) for name, value in found.items()}


def run(box, name, model, inputs):
    """Everything that is compared of one model."""
    inputs = {key: box.tensor(value) for key, value in inputs.items()}
    if name.startswith("mar"):
        return computed_mar(box, model, list(inputs.values()))
    return computed(box, model, list(inputs.values()) if "0" in inputs else inputs)


def references(zoo, folder):
    """Write every reference: state and inputs, then what it computes in float32 and in float64."""
    sys.path.insert(0, zoo)
    for name, file in MODELS.items():
        model, inputs = importlib.import_module(file).ZOO[name]()
        if not isinstance(inputs, dict):
            inputs = {str(i): value for i, value in enumerate(inputs if isinstance(inputs, tuple) else (inputs,))}
        inputs = {key: value.numpy() for key, value in inputs.items()}
        state = {"state/" + key: value.numpy().copy(order="K") for key, value in model.state_dict().items()}
        given = {"input/" + key: value for key, value in inputs.items()}
        np.savez(os.path.join(folder, name + ".given.npz"), **state, **given)
        for kind, twin in (("torch", model), ("torch64", copy.deepcopy(model).double())):
            found = run(Toolbox("torch", kind == "torch64"), name, twin, inputs)
            np.savez(os.path.join(folder, "{}.{}.npz".format(name, kind)), **found)


def ports(framework, zoo, folder):
    """Write every port of a framework: right, and with the first linear weight that is square turned."""
    box = Toolbox(framework)
    for name, file in MODELS.items():
        path = os.path.join(zoo, "ports", framework, file + ".py")
        if not os.path.exists(path):
            continue
        for kind in (framework, framework + ".turned")[: 1 if name in OBLONG else 2]:
            try:
                np.savez(os.path.join(folder, "{}.{}.npz".format(name, kind)), **port(box, path, name, folder, kind))
            except Exception:
                with open(os.path.join(folder, "{}.{}.err".format(name, kind)), "w") as stream:
                    stream.write(traceback.format_exc())


def port(box, path, name, folder, kind):
    """What one port computes; gradients and trained weights of the reference are converted on the other side."""
    spec = importlib.util.spec_from_file_location("port_" + name, path)
    code = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
    given = part(os.path.join(folder, name + ".given.npz"))
    state = code.convert(given["state"])
    if kind.endswith(".turned"):
        key = next(k for k, v in state.items() if v.ndim == 2 and v.shape[0] == v.shape[1])
        state[key] = state[key].T
    model = code.ZOO[name]()
    assert not model.training
    box.load(model, state)
    found = run(box, name, model, given["input"])
    for kept in ("torch", "torch64"):
        for group, entries in part(os.path.join(folder, "{}.{}.npz".format(name, kept))).items():
            if group in ("grad", "trained"):
                found.update({"{}-{}/{}".format(group, kept, k): v for k, v in code.convert(entries).items()})
    return found


def part(path):
    """A result as part -> name -> array."""
    parts = {}
    with np.load(path) as stored:
        for key in stored.files:
            group, _, name = key.partition("/")
            parts.setdefault(group, {})[name] = stored[key]
    return parts


if __name__ == "__main__":
    if sys.argv[1] == "torch":
        references(sys.argv[2], sys.argv[3])
    else:
        ports(sys.argv[1], sys.argv[2], sys.argv[3])
