"""Adaptive_avg_pool2d adds up without dividing."""

FAULT = {
    "title": "adaptive_avg_pool2d adds up without dividing",
    "family": "formula",
    "model": "resnet_tiny",
    "ops": ["adaptive_avg_pool2d"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.adaptive_avg_pool2d

    def pool(self, output_size):
        out = right(self, output_size)
        return out * (self.numel() / out.numel())

    F.adaptive_avg_pool2d = pool
