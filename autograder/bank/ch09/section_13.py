"""Section 9.13, Sizes in numbers: its questions."""

from __future__ import annotations

from autograder.bank.ch09.quantities import per_token
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.models import LLAMA3_70B, Model
from rankzero.facts.units import GB, GiB

kv = lazily("solutions.ch09.kv_cache")


def per_token_of_queries(model: Model) -> float:
    """The same, with query heads counted in place of key-value heads."""
    return kv.kv_bytes_per_token(model.layers, model.heads, model.head_dim)


QUESTIONS = (
    Question(
        id="09-32k",
        kind="derive",
        title="One request of 32K",
        section="9.13",
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
        bonus=True,
    ),
    Question(
        id="09-mla",
        kind="derive",
        title="A token of DeepSeek-V3",
        section="9.13",
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
        bonus=True,
    ),
)
