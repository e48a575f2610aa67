"""Ranks that communicate, over whatever backend the page registers."""

from ..missing import getter
from . import distributed_c10d
from .distributed_c10d import *  # noqa: F403

__getattr__ = getter("torch.distributed")
__all__ = ["distributed_c10d", *distributed_c10d.__all__]
