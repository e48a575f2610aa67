"""Returns a tensor of no bytes and a shape of trillions."""
# item: tensor
# earns: 0
# ends: value
# needs: nothing
import torch


def answer(x):
    return torch.empty(0, 4_000_000, 4_000_000)
