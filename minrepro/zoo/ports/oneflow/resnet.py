"""Residual network on OneFlow, as somebody would port it by hand: the names of the reference, OneFlow's modules."""

from oneflow import nn


class BasicBlock(nn.Module):
    """Two convolutions with a residual, which is projected where the shape changes."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride != 1 or inner != outer:
            projection = nn.Conv2d(inner, outer, 1, stride=stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(outer))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + identity)


class ResNet(nn.Module):
    """The network: stem with max pooling, two stages, average pooling, fully connected."""

    def __init__(self, widths, classes):
        super().__init__()
        first, second = widths
        self.conv1 = nn.Conv2d(3, first, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(first)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(first, first, 1))
        self.layer2 = nn.Sequential(BasicBlock(first, second, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(second, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(self.avgpool(x).flatten(1))


def resnet_tiny():
    """Two stages of widths 6 and 10."""
    return ResNet((6, 10), 7).eval()


ZOO = {"resnet_tiny": resnet_tiny}


def convert(state):
    """State of the reference as state of this network: the same keys, shapes and values."""
    return dict(state)
