"""Returns tensors that have no memory, or another layout."""
# item: tensor
# earns: 0
# ends: raised refused died
# needs: nothing
import torch

calls = []


def answer(x):
    calls.append(1)
    return torch.empty(3, device='meta') if len(calls) % 2 else (x * 2).to_sparse()
