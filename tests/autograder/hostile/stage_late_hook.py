"""Leaves hooks on gradients that change them when they come."""
# item: stage
# earns: 0
# ends: value
# needs: nothing
import torch


def answer(stage, x):
    for parameter in stage.parameters():
        parameter.register_hook(lambda gradient: gradient * 2)
    y = stage(x)
    y.sum().backward()
    return y.detach()
