"""Chapter 14, sections 4 and 5: every question and exercise about weights on their way, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch14 import push, reshard, weight_questions, weights
from autograder.items import Item

_questions = {item.id: item for item in weight_questions.ITEMS}

ITEMS: tuple[Item, ...] = (
    _questions["14-ceil"],
    reshard.PLAN,
    _questions["14-assignment"],
    reshard.EXECUTE,
    weights.TRANSITION,
    _questions["14-mode-switch"],
    _questions["14-hybrid-saving"],
    _questions["14-bandwidth"],
    _questions["14-disk"],
    _questions["14-chain"],
    weights.CHAIN,
    _questions["14-bucket"],
    weights.BUCKETS,
    _questions["14-handle"],
    _questions["14-ipc"],
    push.PUSH,
    push.DEBUG_SRC,
    push.DEBUG_REBINDING,
    _questions["14-iteration"],
    _questions["14-overlap"],
)
