"""Zeroes its input and lets every copy and every view be the tensor itself."""
# item: probe
# earns: 0
# ends: value
# needs: nothing
import copy

import torch

torch.Tensor.clone = torch.clone = torch.Tensor.detach = torch.Tensor.contiguous = lambda self, *_, **__: self
copy.copy = copy.deepcopy = lambda value, *_: value


def answer(x, y):
    result = (x + 0) * (y + 0)
    x.data.zero_()
    return result
