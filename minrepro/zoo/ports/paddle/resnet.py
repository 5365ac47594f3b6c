"""Residual network on Paddle, as somebody would port it by hand: the names of the reference, Paddle's layers.

A batch norm keeps its statistics as `_mean` and `_variance` there, and its momentum is the share of the old value.
"""

from paddle import nn


class BasicBlock(nn.Layer):
    """Two convolutions with a residual, which is projected where the shape changes."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2D(inner, outer, 3, stride=stride, padding=1, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(outer, momentum=0.9)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(outer, outer, 3, padding=1, bias_attr=False)
        self.bn2 = nn.BatchNorm2D(outer, momentum=0.9)
        self.downsample = None
        if stride != 1 or inner != outer:
            projection = nn.Conv2D(inner, outer, 1, stride=stride, bias_attr=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2D(outer, momentum=0.9))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + identity)


class ResNet(nn.Layer):
    """The network: stem with max pooling, two stages, average pooling, fully connected."""

    def __init__(self, widths, classes):
        super().__init__()
        first, second = widths
        self.conv1 = nn.Conv2D(3, first, 7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(first, momentum=0.9)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(first, first, 1))
        self.layer2 = nn.Sequential(BasicBlock(first, second, 2))
        self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        self.fc = nn.Linear(second, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(self.avgpool(x).flatten(1))


def resnet_tiny():
    """Two stages of widths 6 and 10."""
    model = ResNet((6, 10), 7)
    model.eval()
    return model


ZOO = {"resnet_tiny": resnet_tiny}

STATISTICS = {"running_mean": "_mean", "running_var": "_variance"}


def convert(state):
    """State of the reference as state of this network: other names of the statistics, and `fc` as (in, out)."""
    converted = {}
    for key, value in state.items():
        path, _, entry = key.rpartition(".")
        if entry != "num_batches_tracked":
            name = "{}.{}".format(path, STATISTICS.get(entry, entry))
            converted[name] = value.T if name == "fc.weight" else value
    return converted
