"""Chapter 09: the questions about the work that a cache saves, its bytes, and what fits."""

from __future__ import annotations

from functools import partial

from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_70B, Model
from rankzero.facts.units import GB, GiB

kv = lazily("solutions.ch09.kv_cache")

#: Contexts of 4K, 8K, 32K and 128K, in tokens.
CONTEXTS = {"4K": 4096, "8K": 8192, "32K": 32_768, "128K": 131_072}


def per_token(model: Model, width: float = 2.0) -> float:
    """Bytes of keys and values of a token."""
    return kv.kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim, width)


def per_token_of_queries(model: Model) -> float:
    """The same, with query heads counted in place of key-value heads."""
    return kv.kv_bytes_per_token(model.layers, model.heads, model.head_dim)


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


WORK = (
    Question(
        id="09-token-forwards",
        kind="derive",
        title="Tokens through the weights",
        section="9.1",
        parts=(
            Part(
                "without a cache",
                "tokens",
                lambda: sum(100 + i for i in range(50)),
                tolerance=0,
                slips=(
                    Slip("Not every step has the full length: step i runs 100 + i tokens.", value=7500),
                    Slip("That is with a cache: without one each step runs all tokens again.", value=149),
                    Slip("The first step runs the prompt alone: steps count from 0.", value=6275),
                ),
            ),
            Part(
                "with a cache",
                "tokens",
                lambda: 100 + 50 - 1,
                tolerance=0,
                slips=(
                    Slip("The last token is never fed back.", value=150),
                    Slip("The prompt has to go through the weights, too.", value=50),
                ),
            ),
        ),
        derivation="Step $i$, from 0, runs $p + i$ tokens without a cache: $n p + n(n-1)/2$ in all. With one, the "
        "prompt goes through once, and each new token but the last is fed back: $p + n - 1$.",
    ),
    Choice(
        id="09-still-quadratic",
        kind="trace",
        title="Attention over a whole generation",
        section="9.1",
        options=("n²", "n", "n log n", "n³"),
        correct=0,
        derivation="Token $i$ attends to $i$ tokens, with a cache as without: one step is linear, and "
        "$1 + 2 + \\dots + n$ is quadratic. Without a cache every step computes the attention of all tokens again.",
        slips={
            1: "That counts the projections alone: each new token attends to all before it.",
            2: "Nothing is halved here: step i reads i keys.",
            3: "That is without a cache: each step computes all rows of the attention again.",
        },
    ),
)

SIZES = (
    Question(
        id="09-llama70",
        kind="derive",
        title="A token of Llama 3 70B",
        section="9.3",
        parts=(
            Part(
                "keys and values",
                "B",
                lambda: per_token(LLAMA3_70B),
                tolerance=0,
                slips=(
                    Slip(
                        "Query heads were counted: 8 key-value heads serve all 64.",
                        value=lambda: per_token_of_queries(LLAMA3_70B),
                    ),
                    Slip("That is the keys alone: values are kept as well.", value=lambda: per_token(LLAMA3_70B) / 2),
                ),
            ),
        ),
        derivation="$2 L n_{kv} d w = 2 \\cdot 80 \\cdot 8 \\cdot 128 \\cdot 2$: keys and values, layers, key-value "
        "heads, elements of a head, bytes of an element.",
    ),
    Question(
        id="09-32k",
        kind="derive",
        title="One request of 32K",
        section="9.3",
        parts=(
            Part(
                "size",
                "GB",
                lambda: per_token(LLAMA3_70B) * 32_768 / GB,
                tolerance=0.005,
                slips=(
                    Slip("320 KiB times 32K tokens is 10,240 MiB, and a MiB is not a MB.", value=10.24),
                    Slip("That is in GiB: a GB is 1e9 bytes.", value=lambda: per_token(LLAMA3_70B) * 32_768 / GiB),
                    Slip(
                        "Query heads were counted: 8 key-value heads serve all 64.",
                        value=lambda: per_token_of_queries(LLAMA3_70B) * 32_768 / GB,
                    ),
                ),
            ),
            Part(
                "size",
                "GiB",
                lambda: per_token(LLAMA3_70B) * 32_768 / GiB,
                tolerance=0.005,
                slips=(
                    Slip("That is in GB: a GiB has 1.0737e9 bytes.", value=lambda: per_token(LLAMA3_70B) * 32_768 / GB),
                    Slip("320 KiB times 32K tokens is 10,240 MiB: a GiB has 1,024 of them.", value=10.24),
                ),
            ),
        ),
        derivation="327,680 B are 320 KiB, and 32K are $2^{15}$ tokens. A GB is $10^9$ bytes, a GiB $2^{30}$.",
    ),
    Question(
        id="09-mla",
        kind="derive",
        title="A token of DeepSeek-V3",
        section="9.3",
        parts=(
            Part(
                "on one GPU",
                "B",
                lambda: kv.mla_bytes_per_token(61, 512, 64),
                tolerance=0,
                slips=(
                    Slip(
                        "Keys and values come from the same latent: there is no factor 2.",
                        value=lambda: 2 * kv.mla_bytes_per_token(61, 512, 64),
                    ),
                    Slip("The rotary key is kept beside the latent.", value=lambda: kv.mla_bytes_per_token(61, 512, 0)),
                ),
            ),
            Part(
                "on each rank, TP 8",
                "B",
                lambda: kv.mla_bytes_per_token(61, 512, 64),
                tolerance=0,
                slips=(
                    Slip(
                        "A latent has no heads to split: every rank keeps all of it.",
                        value=lambda: kv.mla_bytes_per_token(61, 512, 64) / 8,
                    ),
                ),
            ),
        ),
        derivation="$L (c + r) w$ with $L = 61$, $c = 512$, $r = 64$, $w = 2$. All heads read the same latent, so each "
        "tensor-parallel rank needs all of it.",
    ),
    Choice(
        id="09-tp16",
        kind="trace",
        title="From TP 8 to TP 16",
        section="9.3",
        options=("it stays: heads are copied", "it halves", "it doubles"),
        correct=0,
        derivation="With TP 8 each rank has one of the 8 key-value heads. A head is not cut further: with 16 ranks, "
        "two keep a copy of the same one.",
        slips={
            1: "8 heads give each of 8 ranks one: with 16 ranks there is no half head to keep.",
            2: "Each rank still keeps one head; all ranks together keep twice as much.",
        },
    ),
)

CAPACITY = (
    Question(
        id="09-your-model",
        kind="derive",
        title="Llama 3 8B on one GPU",
        section="9.4",
        parts=(
            Part(
                "requests",
                "requests",
                lambda: _served(LLAMA3_8B),
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
            ),
        ),
        derivation="$(0.9 \\cdot 80\\,\\text{GB} - 16.06\\,\\text{GB}) / 131{,}072\\,\\text{B}$ tokens, rounded down; "
        "then whole blocks over the 512 blocks of a request.",
    ),
    Question(
        id="09-node-plan",
        kind="derive",
        title="480 GB of cache",
        section="9.4",
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
    ),
    Question(
        id="09-fp8",
        kind="derive",
        title="The same in 8 bits",
        section="9.4",
        parts=(
            Part(
                "requests of 32K",
                "requests",
                lambda: _in_480_gb(32_768, 1.0),
                tolerance=0,
                slips=(
                    Slip("That is with 16 bits: a token now takes half.", value=lambda: _in_480_gb(32_768)),
                    Slip("Double before you round down, not after.", value=lambda: 2 * _in_480_gb(32_768)),
                ),
            ),
        ),
        derivation="A token takes 163,840 B. Divide 480 GB by the bytes of a request, and round down once.",
    ),
    Question(
        id="09-weights-vs-kv",
        kind="derive",
        title="More cache than weights",
        section="9.4",
        parts=(
            Part(
                "requests of 32K",
                "requests",
                lambda: -(-2 * LLAMA3_70B.parameters // int(per_token(LLAMA3_70B) * 32_768)),
                tolerance=0,
                slips=(
                    Slip("One request takes 10.7 GB, far less than the weights.", value=1),
                    Slip(
                        "So many are still less than the weights: round up.",
                        value=lambda: 2 * LLAMA3_70B.parameters // int(per_token(LLAMA3_70B) * 32_768),
                    ),
                ),
            ),
        ),
        derivation="141.1 GB over the 10.7 GB of one request, rounded up.",
    ),
)

BITS = (
    Question(
        id="09-quant",
        kind="derive",
        title="Scales are bytes, too",
        section="9.9",
        parts=(
            Part(
                "int8",
                "B",
                lambda: per_token(LLAMA3_70B, 1) + 2 * per_token(LLAMA3_70B, 1) / 128,
                tolerance=0,
                slips=(
                    Slip(
                        "The scales are missing: 2 bytes for every 128 values.", value=lambda: per_token(LLAMA3_70B, 1)
                    ),
                ),
            ),
            Part(
                "int4",
                "B",
                lambda: per_token(LLAMA3_70B, 0.5) + 2 * per_token(LLAMA3_70B, 1) / 32,
                tolerance=0,
                slips=(
                    Slip(
                        "The scales are missing: 2 bytes for every 32 values.", value=lambda: per_token(LLAMA3_70B, 0.5)
                    ),
                    Slip(
                        "A scale serves 32 values here, not 128.",
                        value=lambda: per_token(LLAMA3_70B, 0.5) + 2 * per_token(LLAMA3_70B, 1) / 128,
                    ),
                ),
            ),
        ),
        derivation="A token has $2 \\cdot 80 \\cdot 8 \\cdot 128$ values. int8: one byte each, and two for every 128. "
        "int4: half a byte each, and two for every 32.",
    ),
)

ITEMS = (*WORK, *SIZES, *CAPACITY, *BITS)
