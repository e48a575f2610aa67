"""Section 9.14, Capacity in numbers: its questions."""

from __future__ import annotations

from functools import partial

from autograder.bank.ch09.quantities import per_token
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_70B, Model
from rankzero.facts.units import GB

kv = lazily("solutions.ch09.kv_cache")

#: Contexts of 4K, 8K, 32K and 128K, in tokens.
CONTEXTS = {"4K": 4096, "8K": 8192, "32K": 32_768, "128K": 131_072}


def _served(model: Model, usable: float = 0.9, weights: int = 2) -> int:
    """Requests of 8,192 tokens beside the bf16 weights of a model on one GPU of 80 GB, blocks of 16."""
    tokens = kv.kv_capacity_tokens(80 * GB, 1, weights * model.parameters, per_token(model), usable)
    return kv.max_concurrent_requests(tokens, 8192, 16)


def _in_480_gb(context: int, width: float = 2.0) -> int:
    """Requests in 480 GB, blocks of 16."""
    return kv.max_concurrent_requests(int(480 * GB // per_token(LLAMA3_70B, width)), context, 16)


def _in_mixed_units(context: int) -> int:
    """The same with a token of 320 "KB" and a context in thousands."""
    return int(480e9 // (320e3 * 1000 * (context // 1024)))


def _one_too_many(context: int) -> int:
    return _in_480_gb(context) + 1


def _mixed_units(context: int) -> tuple[Slip, ...]:
    """The slip of mixed units, where it shows: at 128K it rounds to the right number."""
    if context == CONTEXTS["128K"]:
        return ()
    said = f"That mixes units: 320 KiB and {context:,} tokens are not 320,000 B and {context // 1024},000 tokens."
    return (Slip(said, value=partial(_in_mixed_units, context)),)


QUESTIONS = (
    Question(
        id="09-your-model",
        kind="derive",
        title="Llama 3 8B on one GPU",
        section="9.14",
        ask="requests",
        unit="requests",
        answer=lambda: _served(LLAMA3_8B),
        tolerance=0,
        slips=(
            Slip("The last request does not fit: round down.", value=lambda: _served(LLAMA3_8B) + 1),
            Slip(
                "That is Llama 2 7B, where every query head has keys and values of its own.",
                value=lambda: _served(LLAMA2_7B),
            ),
            Slip("Of the 80 GB the server may take 90 %.", value=lambda: _served(LLAMA3_8B, usable=1.0)),
            Slip("The weights take their part first.", value=lambda: _served(LLAMA3_8B, weights=0)),
            Slip("A request is 1 GiB, not 1 GB: divide bytes by bytes.", value=lambda: int(72 - 16.06)),
        ),
        derivation="$(0.9 \\cdot 80\\,\\text{GB} - 16.06\\,\\text{GB}) / 131{,}072\\,\\text{B}$ tokens, rounded down; "
        "then whole blocks over the 512 blocks of a request.",
        bonus=True,
    ),
    Question(
        id="09-node-plan",
        kind="derive",
        title="480 GB of cache",
        section="9.14",
        parts=tuple(
            Part(
                name,
                "requests",
                partial(_in_480_gb, context),
                tolerance=0,
                slips=(
                    Slip("The last request does not fit: round down.", value=partial(_one_too_many, context)),
                    *_mixed_units(context),
                ),
            )
            for name, context in CONTEXTS.items()
        ),
        derivation="$480 \\cdot 10^9 / 327{,}680$ tokens, whole blocks of 16, over the blocks of one request, rounded "
        "down.",
        bonus=True,
    ),
    Question(
        id="09-fp8",
        kind="derive",
        title="The same in 8 bits",
        section="9.14",
        ask="requests of 32K",
        unit="requests",
        answer=lambda: _in_480_gb(32_768, 1.0),
        tolerance=0,
        slips=(
            Slip("That is with 16 bits: a token now takes half.", value=lambda: _in_480_gb(32_768)),
            Slip("Double before you round down, not after.", value=lambda: 2 * _in_480_gb(32_768)),
        ),
        derivation="A token takes 163,840 B. Divide 480 GB by the bytes of a request, and round down once.",
        bonus=True,
    ),
    Question(
        id="09-weights-vs-kv",
        kind="derive",
        title="More cache than weights",
        section="9.14",
        ask="requests of 32K",
        unit="requests",
        answer=lambda: -(-2 * LLAMA3_70B.parameters // int(per_token(LLAMA3_70B) * 32_768)),
        tolerance=0,
        slips=(
            Slip("One request takes 10.7 GB, far less than the weights.", value=1),
            Slip(
                "So many are still less than the weights: round up.",
                value=lambda: 2 * LLAMA3_70B.parameters // int(per_token(LLAMA3_70B) * 32_768),
            ),
        ),
        derivation="141.1 GB over the 10.7 GB of one request, rounded up.",
        bonus=True,
    ),
)
