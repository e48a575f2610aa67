"""Chapter 07: a mixture layer whose experts live on several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.bank import least_received
from autograder.bank.ch07 import rules
from autograder.bank.ch07.draws import numbers, one_of_each
from autograder.bank.rules import every
from autograder.items import Build, Case, Slip, Stage, Tensor


def _tokens_of(rng: Random, tokens: int, experts: int, top_k: int, hidden: int) -> tuple[Tensor, ...]:
    """Tokens, weights and experts of one rank, and what comes back to its output."""
    x, upstream = (numbers(rng, tokens, hidden) for _ in range(2))
    chosen = [expert for _ in range(tokens) for expert in rng.sample(range(experts), top_k)]
    return x, numbers(rng, tokens, top_k), Tensor.of(chosen, "int64", (tokens, top_k)), upstream


def _spread(rng: Random, counts: Sequence[int], share: int, top_k: int) -> Case:
    """So many tokens on each rank, and ``share`` experts, each of which some token visits: all have gradients."""
    hidden, experts = rng.randint(2, 5), share * len(counts)
    tokens = [_tokens_of(rng, count, experts, top_k, hidden) for count in counts]
    while len({expert for _, _, chosen, _ in tokens for expert in chosen.tolist()}) < experts:
        tokens = [_tokens_of(rng, count, experts, top_k, hidden) for count in counts]
    args = []
    for own in tokens:
        layers = [("Linear", numbers(rng, hidden, hidden), numbers(rng, hidden)) for _ in range(share)]
        args.append((*own, experts, *(Stage((layer, ("Tanh",))) for layer in layers)))
    return Case(tuple(args))


def _uneven_of_each(rng: Random) -> list[Case]:
    """Two to four ranks with different numbers of tokens."""
    sizes = [rng.sample(range(5, 12), ranks) for ranks in (4, 3, 2, 4)]
    return [_spread(rng, counts, share, 2) for counts, share in zip(sizes, (2, 2, 3, 1), strict=True)]


def _empty_of_each(rng: Random) -> list[Case]:
    """A rank without tokens, and one rank alone."""
    return [_spread(rng, [rng.randint(5, 9), 0, rng.randint(3, 6)], 2, 2), _spread(rng, [rng.randint(3, 6)], 4, 2)]


_RANKS = Random("07-expert-parallel-forward")

EXPERT_PARALLEL_FORWARD = Build(
    id="07-expert-parallel-forward",
    module="moe",
    function="expert_parallel_forward",
    grade="world",
    probe="ch07.expert_parallel",
    section="7.23",
    bonus=True,
    topic="expert parallelism",
    tolerance=1e-6,
    cases=(
        _spread(_RANKS, [4, 6], 2, 2),
        _spread(_RANKS, [5, 2, 4], 1, 2),
        _spread(_RANKS, [3], 2, 1),
    ),
    groups=(
        one_of_each(
            "uneven ranks",
            _uneven_of_each,
            "Exchange the counts first, send the rows sorted by expert, and add the results to their tokens.",
        ),
        one_of_each(
            "no tokens, one rank",
            _empty_of_each,
            "A rank may have no tokens and still own experts, and a single rank exchanges rows with itself.",
        ),
    ),
    slips=(
        Slip(
            "The results are in the order of the experts. Add each one to its own token.",
            edit=(
                "torch.zeros_like(x).index_add(0, tokens, results * weights.flatten()[by_expert].unsqueeze(1))",
                "(results * weights.flatten()[by_expert].unsqueeze(1)).view(*chosen.shape, x.shape[1]).sum(1)",
            ),
        ),
        Slip(
            "Equal splits were assumed. Routing is uneven, so a rank must be told how many rows will come.",
            edit=("    rows = _All", "    received = [len(by_expert) // ranks] * ranks\n    rows = _All"),
        ),
        Slip(
            "What a rank sends was used as what it receives; one is a row of the table, the other a column.",
            edit=("    rows = _All", "    received = list(sent)\n    rows = _All"),
        ),
        Slip("The weights were applied twice.", edit=(".unsqueeze(1))", ".unsqueeze(1) ** 2)")),
        Slip(
            "The exchange has no backward: upstream gradients vanish. Write an autograd function.",
            edits=(
                ("_AllToAllRows.apply(x[tokens], sent", "_exchanged(x[tokens].detach(), sent"),
                (
                    "_AllToAllRows.apply(_visited(rows, coming.view(ranks, -1), local_experts), received",
                    "_exchanged(_visited(rows, coming.view(ranks, -1), local_experts).detach(), received",
                ),
            ),
        ),
        Slip(
            "The gradients of the exchange stayed where they were. Send them back, with the splits swapped.",
            edit=(
                "        return _exchanged(gradients[0], ctx.received, ctx.sent), None, None",
                "        back, rows = gradients[0], sum(ctx.sent)\n"
                "        return back[:rows] if len(back) >= rows else back.new_zeros(rows, back.shape[1]), None, None",
            ),
        ),
        Slip(
            "Rows come by source and then by expert: sort them by expert before you split them.",
            edit=("owners.argsort(stable=True)", "torch.arange(len(owners))"),
        ),
    ),
    rule=every(rules.rows_to_their_experts, least_received.heard(rules.least_rows)),
)

ITEMS = (EXPERT_PARALLEL_FORWARD,)
