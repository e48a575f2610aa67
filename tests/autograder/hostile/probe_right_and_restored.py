"""Changes a tensor that it was given, and puts it back before it ends."""
# item: probe
# earns: 4
# ends: value
# needs: nothing
import torch


def answer(x, y):
    with torch.no_grad():
        before = x.clone()
        x.mul_(2)
        x.copy_(before)
    return x * y
