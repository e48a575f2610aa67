"""Changes the default type of all numbers."""
# item: tensor
# earns: 0
# ends: value
# needs: nothing
import torch

torch.set_default_dtype(torch.float64)


def answer(x):
    return torch.tensor((x * 2).tolist())
