# Generated from solutions/ch07/experts.py by make stubs. Write the bodies; names and signatures stay.
"""Mixtures of experts by the numbers: parameters, capacity, and bytes on the wire. Standard library only.

>>> expert_capacity(4096, experts=64, top_k=2, capacity_factor=1.25)
160
"""

from __future__ import annotations

from rankzero import checks


def moe_parameters(
    hidden: int,
    expert_ffn: int,
    experts: int,
    top_k: int,
    moe_layers: int,
    shared_parameters: int,
    shared_experts: int = 0,
    gated: bool = True,
) -> tuple[int, int]:
    """Parameters of a mixture of experts: all of them, and those that one token uses.

    An expert is a feed-forward block of 3 matrices, or 2 without a gate, of ``hidden`` by ``expert_ffn``.

    Args:
        hidden: h, width of the residual stream; at least 1.
        expert_ffn: inner width of one expert; at least 1.
        experts: E, routed experts of one mixture layer; at least 1.
        top_k: k, routed experts that one token visits; from 1 to E.
        moe_layers: L, mixture layers; not negative.
        shared_parameters: everything else, which every token uses: attention, norms, routers, embeddings, dense
            feed-forward blocks; not negative.
        shared_experts: S, further experts of a mixture layer that every token visits; not negative.
        gated: whether an expert has a gate.

    Returns:
        ``(total, active)``: ``shared_parameters`` and L (E + S) experts, or L (k + S) experts.

    Source: Jiang et al. (2024), arXiv:2401.04088; DeepSeek-AI (2024), arXiv:2412.19437.
    """
    checks.count(hidden=hidden, expert_ffn=expert_ffn, experts=experts)
    checks.count(1, experts, top_k=top_k)
    checks.count(0, moe_layers=moe_layers, shared_parameters=shared_parameters, shared_experts=shared_experts)
    raise NotImplementedError("07-moe-parameters: not written yet")


def expert_capacity(tokens: int, experts: int, top_k: int, capacity_factor: float = 1.0) -> int:
    """Assignments that one expert takes: ``ceil(capacity_factor T k / E)``, an even share times a factor.

    The factor counts as it is written: 1.1 is eleven tenths, not the binary number next to it.

    Args:
        tokens: T, routed together; not negative.
        experts: E, at least 1.
        top_k: k, experts that one token visits; from 1 to E.
        capacity_factor: positive.

    Source: Lepikhin et al. (2020), arXiv:2006.16668; Fedus, Zoph and Shazeer (2021), arXiv:2101.03961.
    """
    checks.count(0, tokens=tokens)
    checks.count(experts=experts)
    checks.count(1, experts, top_k=top_k)
    checks.positive(capacity_factor=capacity_factor)
    raise NotImplementedError("07-expert-capacity: not written yet")


def keep_within_capacity(choices: list[list[int]], experts: int, capacity: int) -> list[list[bool]]:
    """Which assignments fit when every expert takes ``capacity`` of them.

    All first choices are served before any second choice, all second before any third; within a choice, tokens are
    served in their order.

    Args:
        choices: ``choices[t]`` are the experts of token t, numbers from 0 to E - 1, best first; equally many for every
            token.
        experts: E, at least 1.
        capacity: assignments that one expert takes; not negative.

    Returns:
        In the shape of ``choices``, True where the assignment is kept.

    Source: Lepikhin et al. (2020), arXiv:2006.16668, algorithm 1.
    """
    checks.count(experts=experts)
    checks.count(0, capacity=capacity)
    checks.count(0, experts - 1, choices=choices)
    checks.require(len(set(map(len, choices))) <= 1, "hold equally many experts for every token", choices=choices)
    raise NotImplementedError("07-keep-within-capacity: not written yet")


def all_to_all_bytes(
    tokens: int,
    hidden: int,
    top_k: int,
    ranks: int,
    bytes_per_element: float = 2,
    once_per_rank: bool = False,
    experts: int | None = None,
) -> float:
    """Bytes that one rank sends in one all-to-all of expert parallelism, when tokens spread evenly over the experts.

    Every token goes to k experts; ``(R - 1) / R`` of them are on other ranks: ``T k h w (R - 1) / R``. With
    ``once_per_rank`` a token goes once to each rank that has one of its k different experts: k becomes the expected
    number of such ranks, ``R (1 - C(E - E/R, k) / C(E, k))``. A layer has two all-to-alls, there and back.

    Args:
        tokens: T, those that the rank holds; not negative.
        hidden: h, elements of a token; at least 1.
        top_k: k, at least 1.
        ranks: R, at least 1. One rank sends nothing: 0.0.
        bytes_per_element: w, bytes; not negative.
        once_per_rank: whether a token travels once to a rank where several of its experts are.
        experts: E, an integer, needed for ``once_per_rank``; a multiple of R, at least k.

    Source: Rajbhandari et al. (2022), arXiv:2201.05596; DeepSeek-AI (2024), arXiv:2412.19437, section 3.2.
    """
    checks.count(0, tokens=tokens)
    checks.count(hidden=hidden, top_k=top_k, ranks=ranks)
    checks.amount(bytes_per_element=bytes_per_element)
    checks.require(not once_per_rank or experts is not None, "be given for once_per_rank", experts=experts)
    if experts is not None:
        checks.count(top_k, experts=experts)
        checks.require(experts % ranks == 0, f"be a multiple of {ranks} ranks", experts=experts)
    raise NotImplementedError("07-all-to-all-bytes: not written yet")
