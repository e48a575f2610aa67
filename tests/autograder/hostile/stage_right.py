"""Is right."""
# item: stage
# earns: 4
# ends: value
# needs: nothing
import torch


def answer(stage, x):
    y = stage(x)
    torch.autograd.backward(y.sum())
    return y.detach()
