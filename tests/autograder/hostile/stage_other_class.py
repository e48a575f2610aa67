"""Turns the stage into a class that has no parameters to show."""
# item: stage
# earns: 0
# ends: value
# needs: nothing
import torch


class Empty(torch.nn.Sequential):
    def named_parameters(self, *_, **__):
        return iter(())


def answer(stage, x):
    y = stage(x)
    y.sum().backward()
    stage.__class__ = Empty
    return y.detach()
