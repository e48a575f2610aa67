"""Is right, in a tensor that steps backwards through its memory."""
# item: tensor
# earns: 4
# ends: value
# needs: nothing
import torch


def answer(x):
    held = torch.stack([x * 2, x]).t()
    return held[:, 0].requires_grad_(True)
