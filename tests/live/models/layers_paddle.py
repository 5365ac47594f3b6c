"""Layers of Paddle for `test_align_layers`: the same as torch's, and with one setting changed."""

from paddle import nn


def same():
    layers = {
        "up1": nn.Conv1DTranspose(2, 3, 2, stride=2),
        "up2": nn.Conv2DTranspose(2, 3, 3, stride=2, padding=1, output_padding=1),
        "up3": nn.Conv3DTranspose(2, 3, 2, stride=2), "conv1": nn.Conv1D(2, 4, 3, padding=1, dilation=2),
        "conv2": nn.Conv2D(2, 4, 3, stride=(2, 1), padding=[1, 1, 2, 2], groups=2),
        "conv3": nn.Conv3D(2, 4, 3, padding=1), "circular": nn.Conv2D(2, 4, 3, padding=1, padding_mode="circular"),
        "norm1": nn.BatchNorm1D(4), "norm2": nn.BatchNorm2D(4, epsilon=1e-3, momentum=0.8), "norm3": nn.BatchNorm3D(4),
        "sync": nn.SyncBatchNorm(4, momentum=0.8), "instance": nn.InstanceNorm2D(4),
        "group": nn.GroupNorm(2, 4, epsilon=1e-3), "layer": nn.LayerNorm(4, epsilon=1e-3),
        "local": nn.LocalResponseNorm(3), "avg": nn.AvgPool2D(2, ceil_mode=True),
        "padded": nn.AvgPool2D(3, 2, padding=1, exclusive=False), "max": nn.MaxPool2D(2),
        "max1": nn.MaxPool1D(3, 2, padding=1), "avg1": nn.AvgPool1D(2), "adaptive": nn.AdaptiveAvgPool2D(3),
        "most": nn.AdaptiveMaxPool2D((3, 2)), "nearest": nn.Upsample(scale_factor=2),
        "nearest2": nn.UpsamplingNearest2D(scale_factor=2), "bilinear": nn.Upsample(size=[4, 4], mode="bilinear"),
        "bilinear2": nn.UpsamplingBilinear2D(scale_factor=2),
        "corners": nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), "shuffle": nn.PixelShuffle(2),
        "prelu": nn.PReLU(3, init=0.1), "dropout": nn.Dropout(0.2), "drop2": nn.Dropout2D(0.2),
        "alpha": nn.AlphaDropout(0.2), "leaky": nn.LeakyReLU(0.2), "elu": nn.ELU(0.5), "celu": nn.CELU(0.5),
        "selu": nn.SELU(), "glu": nn.GLU(1), "gelu": nn.GELU(), "tanh": nn.GELU(True), "silu": nn.Silu(),
        "swish": nn.Swish(), "relu6": nn.ReLU6(), "hardtanh": nn.Hardtanh(-2.0, 2.0), "hardshrink": nn.Hardshrink(0.3),
        "softshrink": nn.Softshrink(0.3), "softplus": nn.Softplus(2.0, 10.0), "softmax": nn.Softmax(-1),
        "log": nn.LogSoftmax(-1), "mish": nn.Mish(), "hardswish": nn.Hardswish(), "hardsigmoid": nn.Hardsigmoid(),
        "softsign": nn.Softsign(), "logsigmoid": nn.LogSigmoid(), "flatten": nn.Flatten(1), "zero": nn.ZeroPad2D(1),
        "reflect": nn.Pad2D(1, mode="reflect"), "edge": nn.Pad2D([1, 1, 2, 2], mode="replicate"),
        "constant": nn.Pad2D(1, value=0.5), "linear": nn.Linear(3, 4), "table": nn.Embedding(5, 4),
        "bilinear_form": nn.Bilinear(2, 3, 4), "lstm": nn.LSTM(3, 4, num_layers=2, direction="bidirectional"),
        "gru": nn.GRU(3, 4), "heads": nn.MultiHeadAttention(4, 2), "cosine": nn.CosineSimilarity(1, 1e-6),
        "encoder": nn.TransformerEncoderLayer(4, 2, 8, 0.0), "fold": nn.Unfold(2, strides=2),
        "unshuffle": nn.PixelUnshuffle(2), "channels": nn.ChannelShuffle(2), "identity": nn.Identity(),
    }
    return nn.LayerDict(layers)


def changed():
    layers = {
        "up1": nn.Conv1DTranspose(2, 3, 2, stride=1), "up2": nn.Conv2DTranspose(2, 3, 3, stride=2, padding=1),
        "up3": nn.Conv3DTranspose(2, 3, 2, stride=2, bias_attr=False),
        "conv1": nn.Conv1D(2, 4, 3, padding=[2, 0], dilation=2),
        "conv2": nn.Conv2D(2, 4, 3, stride=(2, 1), padding=[1, 1, 2, 1], groups=2),
        "circular": nn.Conv2D(2, 4, 3, padding=1), "norm2": nn.BatchNorm2D(4, epsilon=1e-3, momentum=0.2),
        "sync": nn.SyncBatchNorm(4, momentum=0.9), "instance": nn.InstanceNorm2D(4, epsilon=1e-3),
        "avg": nn.AvgPool2D(2), "padded": nn.AvgPool2D(3, 2, padding=1), "max": nn.MaxPool2D(2, stride=1),
        "avg1": nn.AvgPool1D(3), "adaptive": nn.AdaptiveAvgPool2D(2),
        "nearest": nn.UpsamplingBilinear2D(scale_factor=2), "nearest2": nn.UpsamplingNearest2D(scale_factor=4),
        "bilinear": nn.Upsample(size=[4, 4], mode="bilinear", align_corners=True), "shuffle": nn.PixelShuffle(3),
        "dropout": nn.Dropout(0.1), "leaky": nn.LeakyReLU(), "tanh": nn.GELU(), "hardtanh": nn.Hardtanh(-1.0, 2.0),
        "hardshrink": nn.Hardshrink(0.5), "softplus": nn.Softplus(1.0, 10.0), "log": nn.LogSoftmax(0),
        "flatten": nn.Flatten(1, 2), "reflect": nn.Pad2D(1, mode="replicate"), "constant": nn.Pad2D(1),
        "zero": nn.ZeroPad2D([1, 1, 0, 1]),
        "lstm": nn.LSTM(3, 4, num_layers=2, direction="bidirectional", time_major=True),
        "gru": nn.GRU(3, 4, dropout=0.1), "heads": nn.MultiHeadAttention(4, 4), "cosine": nn.CosineSimilarity(0, 1e-6),
        "encoder": nn.TransformerEncoderLayer(4, 2, 8, 0.0, normalize_before=True), "fold": nn.Unfold(2, strides=1),
        "channels": nn.ChannelShuffle(1),
    }
    return nn.LayerDict(layers)
