"""Chapter 14, sections 4 and 5: every question and exercise about weights on their way, in the order of the page."""

from __future__ import annotations

from autograder.bank import ch14_push, ch14_reshard, ch14_weight_questions, ch14_weights
from autograder.items import Item

_questions = {item.id: item for item in ch14_weight_questions.ITEMS}

ITEMS: tuple[Item, ...] = (
    _questions["14-ceil"],
    ch14_reshard.PLAN,
    _questions["14-assignment"],
    ch14_reshard.EXECUTE,
    ch14_weights.TRANSITION,
    _questions["14-mode-switch"],
    _questions["14-hybrid-saving"],
    _questions["14-bandwidth"],
    _questions["14-disk"],
    _questions["14-chain"],
    ch14_weights.CHAIN,
    _questions["14-bucket"],
    ch14_weights.BUCKETS,
    _questions["14-handle"],
    _questions["14-ipc"],
    ch14_push.PUSH,
    ch14_push.DEBUG_SRC,
    ch14_push.DEBUG_REBINDING,
    _questions["14-iteration"],
    _questions["14-overlap"],
)
