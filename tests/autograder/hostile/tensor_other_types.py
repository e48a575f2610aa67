"""Returns types of numbers that do not travel."""
# item: tensor
# earns: 0
# ends: refused
# needs: nothing
import torch


def answer(x):
    return (x * 2).to(torch.bfloat16)
