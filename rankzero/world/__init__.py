"""Worlds of real processes: run one function as N ranks of a ``torch.distributed`` group, from anywhere.

Importing this package does not import torch; unpacking the first tensor that a rank returns does.
"""

from rankzero.world.launch import MOST_RANKS, World, prepare, run
from rankzero.world.reports import Report, WorldError

__all__ = ["MOST_RANKS", "Report", "World", "WorldError", "prepare", "run"]
