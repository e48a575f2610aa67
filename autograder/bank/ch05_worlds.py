"""Chapter 5: the exercises that run on real ranks: gradients that agree, and states and weights in slices."""

from __future__ import annotations

from autograder.bank.ch05_shards import GATHER, SHARDED
from autograder.bank.ch05_slices import REDUCE
from autograder.bank.ch05_synchronize import SYNCHRONIZE
from autograder.items import Item

ITEMS: tuple[Item, ...] = (SYNCHRONIZE, SHARDED, REDUCE, GATHER)
