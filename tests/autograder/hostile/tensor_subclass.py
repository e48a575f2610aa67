"""Returns a subclass that answers for every operation."""
# item: tensor
# earns: 0
# ends: value raised died refused timeout
# needs: nothing
import torch


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        return arguments[0] if arguments else True

    shape = property(lambda self: (3,))
    dtype = torch.float32


def answer(x):
    return torch.zeros(1).as_subclass(Liar)
