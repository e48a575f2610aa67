"""Section 7.23, Expert parallelism with gradients: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import MB

cost = lazily("solutions.ch03.collective_cost")
experts = lazily("solutions.ch07.experts")


def _both_ways(tokens: int, top_k: int = 2, ranks: int = 8) -> float:
    """Dispatch and combine of one layer, bytes sent by a rank, in MB."""
    return 2 * experts.all_to_all_bytes(tokens, 4096, top_k, ranks) / MB


def _over_experts(tokens: int) -> float:
    """The same with 64 experts in place of 8 ranks: each token goes to 2 of 64, and a 64th of them is sent."""
    return 2 * tokens * 2 * 4096 * 2 / 64 / MB


def _all_reduced(tokens: int) -> float:
    """What a rank of 8 sends in a ring all-reduce of the tokens, in MB."""
    return cost.traffic("all_reduce", tokens * 4096 * 2, 8, 0)[0] / MB


def _nodes_visited(ranks: int = 8, top_k: int = 8) -> float:
    """Expected nodes of a token: the bytes once per rank over those of one copy."""
    once = experts.all_to_all_bytes(1, 1, top_k, ranks, 1, once_per_rank=True, experts=256)
    return once / experts.all_to_all_bytes(1, 1, 1, ranks, 1)


QUESTIONS = (
    Question(
        id="07-experts-vs-ranks",
        kind="derive",
        title="EP or TP: whose tokens",
        section="7.23",
        bonus=True,
        parts=(
            Part(
                "EP, tokens split",
                "MB",
                lambda: _both_ways(512),
                slips=(
                    Slip(
                        "That divides by 64 experts: count what leaves for the other 7 of 8 ranks.",
                        value=lambda: _over_experts(512),
                    ),
                    Slip(
                        "That is one expert for each token, or one of the two ways.", value=lambda: _both_ways(512, 1)
                    ),
                ),
            ),
            Part(
                "TP, one ring all-reduce",
                "MB",
                lambda: _all_reduced(4096),
                slips=(
                    Slip("That is one of its two phases.", value=lambda: _all_reduced(4096) / 2),
                    Slip("All 4,096 tokens are on every rank.", value=lambda: _all_reduced(512)),
                ),
            ),
            Part(
                "EP, 4,096 tokens on each rank",
                "MB",
                lambda: _both_ways(4096),
                slips=(
                    Slip("That is with the tokens split: here each rank holds 4,096.", value=lambda: _both_ways(512)),
                    Slip(
                        "That divides by 64 experts: count what leaves for the other 7 of 8 ranks.",
                        value=lambda: _over_experts(4096),
                    ),
                    Slip(
                        "That is one expert for each token, or one of the two ways.", value=lambda: _both_ways(4096, 1)
                    ),
                ),
            ),
        ),
        derivation="An all-to-all sends $T k h w \\frac{R-1}{R}$, and there are two; $T$ is what the rank holds, 512 "
        "or 4,096. A ring all-reduce sends $\\frac{2(R-1)}{R} T h w$ with all 4,096. Here $k = 2$, $h = 4096$, $w = 2$ "
        "and $R = 8$; the 64 experts do not enter.",
    ),
    Question(
        id="07-distinct-ranks",
        kind="derive",
        title="Nodes that a token visits",
        section="7.23",
        bonus=True,
        ask="expected",
        unit="nodes",
        answer=_nodes_visited,
        slips=(
            Slip("Some of the eight experts share a node.", value=8),
            Slip(
                "That is how many of its experts one node has on average, not how many nodes it visits.",
                value=1,
            ),
        ),
        derivation="A node with 32 of 256 experts is missed with probability $\\binom{224}{8} / \\binom{256}{8}$. By "
        "symmetry the expected number is 8 times the probability of a hit.",
    ),
)
