"""Section 13.25, A model of 70B on one node: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip
from rankzero.facts.models import LLAMA3_70B


def crossing() -> float:
    """Tokens at which tensor parallelism sends what ZeRO-3 sends: 6P bytes against 16 L h a token, both times 7/8."""
    return 6 * LLAMA3_70B.parameters / (16 * LLAMA3_70B.layers * LLAMA3_70B.hidden)


QUESTIONS = (
    Choice(
        id="13-node-cut",
        kind="design",
        title="Which cut gets it in",
        section="13.25",
        bonus=True,
        options=(
            "none: the best that any of them does is an eighth of 2,540 GB on each GPU, 317 GB",
            "ZeRO-3, because it cuts the optimizer as well, which tensor parallelism does not",
            "tensor parallelism over all eight, because NVLink is fast enough",
            "a pipeline of eight stages: each GPU has ten layers of each model, in turn",
        ),
        correct=0,
        derivation="ZeRO-3, tensor parallelism and a pipeline all divide the states by eight; replicas divide less. "
        "What does not fit then needs fewer bytes: smaller roles, adapters, optimizer states in the host's memory, or "
        "an algorithm with fewer roles.",
        slips={
            1: "Each rank of tensor parallelism has optimizer states for its own slices alone: an eighth as well.",
            2: "Bandwidth makes a cut faster. It does not make the states smaller.",
            3: "In turn for activations, yes. Weights and optimizer states of all its layers stay.",
        },
    ),
    Choice(
        id="13-node-fit",
        kind="design",
        title="Which change lets four models in",
        section="13.25",
        bonus=True,
        options=(
            "critic and reward model of 8B, and optimizer states in the host's memory",
            "optimizer states in the host's memory, four models of 70B",
            "critic and reward model of 8B, optimizer states on the GPUs",
            "no fp32 masters, four models of 70B",
        ),
        correct=0,
        derivation="What is left on the GPUs is 4 bytes for each parameter of policy and critic, and 2 for those of "
        "the reference and the reward model: 59 GB on each GPU. The host holds 943 GB. In every step its processors "
        "update them, or all of them cross PCIe and come back.",
        slips={
            1: "Weights and gradients of two, weights of two more: 12 bytes times 70.6 billion, 106 GB on each GPU.",
            2: "The policy's own optimizer is 847 GB, more than all eight GPUs have.",
            3: "Without masters 8 of 36 bytes go: 247 GB on each GPU.",
        },
    ),
    Choice(
        id="13-node-generate",
        kind="design",
        title="How it is cut to write",
        section="13.25",
        bonus=True,
        options=(
            "one copy over eight GPUs: it writes a token sooner, and holds half as many bytes on each GPU",
            "two copies over four: the same speed, and no messages between the halves",
            "two copies over four: each has half of the answers, so a token takes half as long",
            "a pipeline of eight stages: only activations travel, and no all-reduce is needed",
        ),
        correct=0,
        derivation="Decoding reads the weights for every token. Over eight GPUs each reads 17.6 GB, over four 35.3 GB, "
        "however many answers share them. The all-reduces cost latency, some milliseconds for 160 of them in a node, "
        "and the difference in reading is 5.",
        slips={
            1: "Each GPU reads twice as many bytes for a token, whatever the other half does.",
            2: "The caches halve, the weights do not: they are read whole by each copy.",
            3: "A token passes one stage after the other, so it takes as long as reading all weights on one GPU. "
            "More batches bring no token sooner.",
        },
    ),
    Estimate(
        id="13-node-tokens",
        title="When tensor parallelism sends more",
        section="13.25",
        bonus=True,
        label="tokens of a pass at which tensor parallelism sends as many bytes as ZeRO-3",
        unit="tokens",
        answer=crossing,
        factor=3.0,
        scale=(100, 1e8),
        landmarks=(
            Landmark(1000, "1,000", "one answer of two pages"),
            Landmark(128_000, "128,000", "128 answers of 1,000 tokens"),
            Landmark(16e6, "16 million", "a batch of pretraining"),
        ),
        derivation="ZeRO-3 sends $3 \\cdot 2P$ bytes, tensor parallelism $4 \\cdot 2 \\cdot 2 L h$ for each token, "
        "both times 7/8. They are equal at $6P/(16 L h)$ tokens, with 80 layers of width 8,192.",
        slips=(
            Slip("Those are the tokens for one layer: there are 80.", value=lambda: 80 * crossing()),
            Slip("P counts parameters, L h a token's activations in one place.", value=lambda: crossing() / 80),
        ),
    ),
)
