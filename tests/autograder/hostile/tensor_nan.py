"""Returns a tensor of NaN."""
# item: tensor
# earns: 0
# ends: value
# needs: nothing
import torch


def answer(x):
    return x * float('nan')
