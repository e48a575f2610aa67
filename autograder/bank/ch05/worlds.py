"""Chapter 5: the exercises that run on real ranks: gradients that agree, and states and weights in slices."""

from __future__ import annotations

from autograder.bank.ch05.shards import GATHER, SHARDED
from autograder.bank.ch05.slices import REDUCE
from autograder.bank.ch05.synchronize import SYNCHRONIZE
from autograder.items import Item

ITEMS: tuple[Item, ...] = (SYNCHRONIZE, SHARDED, REDUCE, GATHER)
