"""Chapter 10: the questions about placeholders, the token budget, and blocks that run out."""

from __future__ import annotations

from math import ceil

from autograder.items import Choice, Item, Part, Question, Slip, lazily
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import GB

serving = lazily("solutions.ch08.serving")

#: PCIe 5, sixteen lanes, one direction, as the page uses it.
PCIE = 63 * GB

#: What somebody reads who counts the pairs that a causal mask leaves out.
FULL = "That counts all pairs of tokens; causal attention computes half of them, $2 L d s^2$."


def _prefill(tokens: int, attention: bool = True) -> float:
    """Seconds of a prefill of Llama 3 8B in bf16 on an H100 at its peak."""
    model, gpu = LLAMA3_8B, H100_SXM
    shape = (model.layers, model.hidden) if attention else (0, 0)
    return serving.prefill_time(
        model.parameters, 2 * model.parameters, tokens, gpu.peak_bf16, gpu.memory_bandwidth, *shape
    )


def _swap(tokens: int) -> float:
    """Seconds in which the KV of so many tokens crosses PCIe in one direction; bf16."""
    model = LLAMA3_8B
    return tokens * 2 * 2 * model.layers * model.kv_heads * model.head_dim / PCIE


ITEMS: tuple[Item, ...] = (
    Choice(
        id="10-placeholder",
        kind="trace",
        title="Placeholders",
        section="10.6",
        options=("[5, 7, 9, 3]", "[5, 9, 7, 3]", "[5, -1, -2, 3]", "[7, 9, 5, 3]"),
        correct=0,
        derivation="-1 names slot 1 and -2 names slot 2. What is not negative is a token and stays.",
        slips={
            1: "-1 names slot 1, which holds 7.",
            2: "These must be replaced before the model sees them: no token is negative.",
            3: "Each token keeps its place.",
        },
    ),
    Question(
        id="10-wasted-eos",
        kind="derive",
        title="One token too many",
        section="10.6",
        parts=(
            Part(
                "wasted share of the sampled tokens",
                "",
                lambda: 1 / 301,
                tolerance=0.02,
                slips=(Slip("The CPU learns of the end one step late, when the next step runs already.", value=0),),
            ),
        ),
        derivation="Each request runs one step more than it needs: one token wasted of $300 + 1$ sampled.",
    ),
    Question(
        id="10-chunks",
        kind="derive",
        title="A long prompt in chunks",
        section="10.7",
        parts=(
            Part(
                "steps until its first token",
                "steps",
                lambda: ceil(4000 / (512 - 1)),
                tolerance=0,
                slips=(
                    Slip("Seven steps compute 7 x 511 tokens, which is less than the prompt.", value=7),
                    Slip("The budget of one step is 512 tokens.", value=1),
                    Slip("The step that ends the prompt yields the first token: there is none to add.", value=9),
                ),
            ),
        ),
        derivation="The stream takes one token of every step and leaves 511: $\\lceil 4000/511 \\rceil$. The step that "
        "ends the prompt yields the first token.",
    ),
    Question(
        id="10-stall",
        kind="derive",
        title="How long everyone waits",
        section="10.7",
        parts=(
            Part(
                "the prompt in one step",
                "s",
                lambda: _prefill(4000),
                tolerance=0.02,
                slips=(
                    Slip("That leaves attention out: $2 L d s^2$.", value=lambda: _prefill(4000, False)),
                    Slip(FULL, value=lambda: 2 * _prefill(4000) - _prefill(4000, False)),
                ),
            ),
            Part(
                "a step of 512 + 32 tokens",
                "s",
                lambda: _prefill(512 + 32, False),
                tolerance=0.02,
                slips=(Slip("The 32 decode tokens are computed too.", value=lambda: _prefill(512, False)),),
            ),
        ),
        derivation="Compute-bound both times: $(2 N s + 2 L d s^2)/F$ for the prompt, $2 N s/F$ for the step.",
    ),
    Choice(
        id="10-partial-vllm",
        kind="trace",
        title="Three prompts in chunks",
        section="10.7",
        options=("[1, 1, 352]", "[1, 1, 400]", "[400, 400, 224]", "[400, 224, 400]"),
        correct=0,
        derivation="Steps 1 and 2 give 400, 400 and what is left of 1,024. Then the first two prompts are "
        "computed and decode; the third misses $800 - 2 \\cdot 224$ tokens.",
        slips={
            1: "The third prompt misses fewer tokens than the cap allows.",
            2: "The first two prompts are whole after two steps.",
            3: "The order is that of admission, and two prompts are whole by then.",
        },
    ),
    Question(
        id="10-swap",
        kind="design",
        title="Swap or recompute",
        section="10.8",
        parts=(
            Part(
                "swap, one way",
                "s",
                lambda: _swap(4096),
                tolerance=0.02,
                slips=(
                    Slip("That is there and back: one way is half of it.", value=lambda: 2 * _swap(4096)),
                    Slip(
                        "That takes the hidden size: keys and values have 8 heads of 128.",
                        value=lambda: LLAMA3_8B.hidden / (LLAMA3_8B.kv_heads * LLAMA3_8B.head_dim) * _swap(4096),
                    ),
                    Slip("Keys and values: both must move.", value=lambda: _swap(4096) / 2),
                ),
            ),
            Part(
                "recompute",
                "s",
                lambda: _prefill(4096),
                tolerance=0.02,
                slips=(
                    Slip("That leaves attention out: $2 L d s^2$.", value=lambda: _prefill(4096, False)),
                    Slip(FULL, value=lambda: 2 * _prefill(4096) - _prefill(4096, False)),
                ),
            ),
        ),
        derivation="KV of a token: $2 \\cdot 2 L\\, n_{kv}\\, d_h$ bytes in bf16, over the bandwidth; it must come "
        "back too, over a link that others use. Recomputing is a prefill, $(2 N s + 2 L d s^2)/F$, and rides along in "
        "the budget of other steps.",
    ),
    Choice(
        id="10-victim",
        kind="trace",
        title="Who is preempted",
        section="10.8",
        options=("z", "y", "x", "nobody: x waits"),
        correct=0,
        derivation="The request that was admitted last. Those before it have been computed for longer, and would "
        "be the more expensive ones to compute again.",
        slips={
            1: "z came after y.",
            2: "x was admitted first and has the most to lose.",
            3: "If those who need blocks waited for others, and these for blocks too, nobody would ever go on.",
        },
    ),
)
