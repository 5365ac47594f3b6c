"""Weights for the models of this folder: drawn so that nothing is zero, one or alike. It is not a model."""

import torch


def drawn(module, seed):
    """Fill a module's parameters and statistics, and put it into evaluation mode."""
    generator = torch.Generator().manual_seed(seed)

    def normal(tensor):
        return torch.randn(tensor.shape, generator=generator)

    for name, parameter in module.named_parameters():
        if parameter.dim() > 1:
            parameter.data = normal(parameter) * (parameter.numel() / parameter.shape[0]) ** -0.5
        else:
            parameter.data = normal(parameter) * 0.2 + (1.0 if name.endswith("scale") else 0.1)
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(0.3 * normal(buffer))
        elif name.endswith("running_var"):
            buffer.copy_(0.5 + normal(buffer).abs())
    return module.eval()
