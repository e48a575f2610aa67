"""Chapter 13: the exercises and questions about tensors by the section of the page, in its order."""

from __future__ import annotations

from autograder.bank.ch13 import tensor_questions as asked
from autograder.bank.ch13.advantages import GROUP_ADVANTAGES, MASKED_GAE, MASKED_WHITEN, TOKEN_REWARDS
from autograder.bank.ch13.losses import DEBUG_CORE_LOOP, DEBUG_NAN, POLICY_LOSS, PREFERENCE_LOSS, VALUE_LOSS
from autograder.bank.ch13.masks import DEBUG_SHIFT, RESPONSE_LOG_PROBS, RESPONSE_MASK
from autograder.items import Item

#: 13.3
PREFERENCES: tuple[Item, ...] = (asked.BT, PREFERENCE_LOSS)
#: 13.4
ROLLOUT: tuple[Item, ...] = (asked.SHAPES, asked.LOGIT_BYTES, RESPONSE_MASK, RESPONSE_LOG_PROBS, DEBUG_SHIFT)
#: 13.5
REWARDS: tuple[Item, ...] = (asked.REWARD_SUM, asked.NEGATIVE_KL, asked.PER_TOKEN, asked.K1_BETA, TOKEN_REWARDS)
#: 13.8
ADVANTAGES: tuple[Item, ...] = (asked.WHITEN_ROW, MASKED_GAE, MASKED_WHITEN)
#: 13.9
LOSSES: tuple[Item, ...] = (asked.AVERAGE, POLICY_LOSS, DEBUG_NAN, VALUE_LOSS)
#: 13.10
LOOP: tuple[Item, ...] = (DEBUG_CORE_LOOP,)
#: 13.12
GROUPS: tuple[Item, ...] = (asked.GRPO_ONE, asked.GRPO_EQUAL, asked.RLOO, GROUP_ADVANTAGES)
#: 13.13
CLOSING: tuple[Item, ...] = (asked.ADAPTIVE_BETA,)

#: All of them.
ITEMS: tuple[Item, ...] = (*PREFERENCES, *ROLLOUT, *REWARDS, *ADVANTAGES, *LOSSES, *LOOP, *GROUPS, *CLOSING)
