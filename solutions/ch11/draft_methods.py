"""What drafting brings to a server with few or with many answers: one round of each method. Standard library only.

>>> round(token_seconds(EAGLE, 3, 2) / ms, 2), round(token_seconds(EAGLE, 3, 128) / ms, 1)
(3.84, 12.9)
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import ms, us

from ..ch08.serving import pass_time
from ..ch09.kv_cache import kv_bytes_per_token
from .speculative import expected_tokens

#: Shares of the peak and of the bandwidth that a pass reaches, and its launches, seconds. The last two make one answer
#: on an H100 as fast as SGLang writes it without drafts, 158 tokens per second (arXiv:2503.01840, table 4).
PRODUCTS, READING, LAUNCHES = 0.7, 0.8, 0.3 * ms
#: Tokens that an answer has behind it, on average.
CONTEXT = 1500


@dataclass(frozen=True)
class Method:
    """A way to draft.

    Attributes:
        name: what it is called.
        acceptance: probability that a draft is accepted if all drafts in front of it were; the same for all.
        each: seconds that one more draft adds to a round, beside what the target's pass then takes longer.
        answer: seconds that it adds for every answer in the round.
    """

    name: str
    acceptance: float
    each: float
    answer: float


#: Acceptance is assumed, for one mix of requests, and so are the seconds of the first and the last. Those of the head
#: are a fit to nine published speed-ups of EAGLE-3 with three drafts (arXiv:2503.01840, table 3), at most 10 percent
#: off for answers with 400 tokens behind them.
N_GRAM = Method("n-gram", 0.45, 0.1 * ms, 5 * us)
EAGLE = Method("EAGLE head", 0.70, 1.05 * ms, 21 * us)
SMALL = Method("1B model", 0.80, 1.8 * ms, 40 * us)


def pass_seconds(answers: int, positions: int, context: float = CONTEXT) -> float:
    """Seconds of a pass of Llama 3.1 8B on an H100 over ``positions`` tokens of each answer; each cache is read once.

    Args:
        answers: how many are written at the same time; at least 1.
        positions: 1 without drafts, k + 1 with k drafts.
        context: tokens that an answer has behind it.
    """
    parameters, model = LLAMA3_8B.parameters, LLAMA3_8B
    kv = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim)
    speed, bandwidth = PRODUCTS * H100_SXM.peak_bf16, READING * H100_SXM.memory_bandwidth
    contexts = [answers * context]
    return LAUNCHES + pass_time(answers * positions, contexts, parameters, 2 * parameters, kv, speed, bandwidth)


def token_seconds(method: Method | None, drafts: int, answers: int, context: float = CONTEXT) -> float:
    """Seconds between two tokens of an answer, on average; without a method, those of a plain pass.

    Args:
        method: how drafts are made.
        drafts: k, of each answer in a round.
        answers: how many are written at the same time; at least 1.
        context: tokens that an answer has behind it.
    """
    if method is None:
        return pass_seconds(answers, 1, context)
    drafting = drafts * (method.each + answers * method.answer)
    return (drafting + pass_seconds(answers, drafts + 1, context)) / expected_tokens(method.acceptance, drafts)
