"""Layers of OneFlow for `test_align_layers`, as far as it has them."""

from oneflow import nn


def same():
    layers = {
        "up1": nn.ConvTranspose1d(2, 3, 2, stride=2),
        "up2": nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
        "up3": nn.ConvTranspose3d(2, 3, 2, stride=2), "conv1": nn.Conv1d(2, 4, 3, padding=1, dilation=2),
        "conv2": nn.Conv2d(2, 4, 3, stride=(2, 1), padding=(1, 2), groups=2), "conv3": nn.Conv3d(2, 4, 3, padding=1),
        "norm1": nn.BatchNorm1d(4), "norm2": nn.BatchNorm2d(4, eps=1e-3, momentum=0.2), "norm3": nn.BatchNorm3d(4),
        "sync": nn.SyncBatchNorm(4, momentum=0.2), "instance": nn.InstanceNorm2d(4, affine=True),
        "group": nn.GroupNorm(2, 4, eps=1e-3), "layer": nn.LayerNorm(4, eps=1e-3),
        "avg": nn.AvgPool2d(2, ceil_mode=True), "padded": nn.AvgPool2d(3, 2, padding=1), "max": nn.MaxPool2d(2),
        "max1": nn.MaxPool1d(3, 2, padding=1), "avg1": nn.AvgPool1d(2), "adaptive": nn.AdaptiveAvgPool2d(3),
        "most": nn.AdaptiveMaxPool2d((3, 2)), "nearest": nn.Upsample(scale_factor=2),
        "nearest2": nn.UpsamplingNearest2d(scale_factor=2), "bilinear": nn.Upsample(size=(4, 4), mode="bilinear"),
        "bilinear2": nn.UpsamplingBilinear2d(scale_factor=2),
        "corners": nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), "shuffle": nn.PixelShuffle(2),
        "prelu": nn.PReLU(3, init=0.1), "dropout": nn.Dropout(0.2), "drop2": nn.Dropout2d(0.2),
        "leaky": nn.LeakyReLU(0.2), "elu": nn.ELU(0.5), "celu": nn.CELU(0.5), "selu": nn.SELU(), "glu": nn.GLU(1),
        "gelu": nn.GELU(), "tanh": nn.GELU("tanh"), "silu": nn.SiLU(), "swish": nn.SiLU(), "relu6": nn.ReLU6(),
        "hardtanh": nn.Hardtanh(-2.0, 2.0), "hardshrink": nn.Hardshrink(0.3), "softshrink": nn.Softshrink(0.3),
        "softplus": nn.Softplus(2.0, 10.0), "softmax": nn.Softmax(-1), "log": nn.LogSoftmax(-1), "mish": nn.Mish(),
        "hardswish": nn.Hardswish(), "hardsigmoid": nn.Hardsigmoid(), "softsign": nn.Softsign(),
        "logsigmoid": nn.LogSigmoid(), "flatten": nn.Flatten(1), "zero": nn.ZeroPad2d(1),
        "reflect": nn.ReflectionPad2d(1), "edge": nn.ReplicationPad2d((1, 1, 2, 2)),
        "constant": nn.ConstantPad2d(1, 0.5), "linear": nn.Linear(3, 4), "table": nn.Embedding(5, 4),
        "lstm": nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True),
        "gru": nn.GRU(3, 4, batch_first=True), "cosine": nn.CosineSimilarity(1, 1e-6), "fold": nn.Unfold(2, stride=2),
        "identity": nn.Identity(),
    }
    return nn.ModuleDict(layers)
