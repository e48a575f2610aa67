"""Chapter 6: ``parallel_attention``, heads of attention."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06.rules import bytes_of, calls_at_most
from autograder.bank.ch06.shared import tensor
from autograder.bank.groups import listed
from autograder.items import Build, Case, Right, Slip


def _attention(rng: Random, ranks: int, heads: int, kv_heads: int, width: int = 2, hidden: int = 3) -> Case:
    batch, sequence, size, kv = rng.randint(1, 2), rng.randint(2, 4), heads * width, kv_heads * width
    shapes = ((batch, sequence, hidden), (size, hidden), (kv, hidden), (kv, hidden), (hidden, size))
    inputs = tuple(tensor(rng, *shape) for shape in shapes)
    return Case(((*inputs, heads, kv_heads, tensor(rng, *shapes[0])),) * ranks)


def _whole(rng: Random) -> list[Case]:
    """Every rank has key-value heads of its own."""
    return [
        _attention(rng, 2, 4, 2),
        _attention(rng, 3, 6, 3, width=1),
        _attention(rng, 4, 4, 4),
        _attention(rng, 2, 8, 4, width=1),  # a rank has two key-value heads, and two queries for each
    ]


def _copied(rng: Random) -> list[Case]:
    return [_attention(rng, 4, 8, 2, width=1), _attention(rng, 4, 4, 1), _attention(rng, 2, 2, 1)]


def _calls(case: Case) -> list[tuple[str, int]]:
    """f and g; where key-value heads are copied, the gradients of the two weights as well."""
    x, _, wk, wv, *_, kv_heads, _ = case.args[0]
    copied = [wk, wv] if kv_heads < len(case.args) else []
    return [("all_reduce", bytes_of(t)) for t in (x, x, *copied)]


EXERCISE = Build(
    "06 sharded_layers.parallel_attention",
    section="6.14",
    topic="heads of attention",
    bonus=True,
    grade="world",
    probe="ch06.attention",
    rule=calls_at_most(
        _calls,
        "one all-reduce forward and one backward are enough, and one for a copied weight",
        least=lambda case: 2 * bytes_of(case.args[0][0]),
    ),
    cases=(
        _attention(Random("attention 2"), 2, 2, 2, width=1, hidden=2),
        _attention(Random("attention 4"), 4, 4, 2, width=1, hidden=2),
        _attention(Random("attention 1"), 1, 2, 1, width=1, hidden=2),
    ),
    groups=(
        listed(
            "heads of one's own",
            _whole,
            "Queries, keys and values are column-parallel by whole heads, the output is row-parallel.",
        ),
        listed(
            "copied key-value heads", _copied, "Ranks that share a key-value head each have a part of its gradient."
        ),
    ),
    slips=(
        Slip(
            "The gradients of a copied key-value head were not summed: each rank has the part from its own query "
            "heads.",
            edit=(
                "    if replicas > 1:  # the ranks' gradients of a full weight lie in the rows of their heads: f "
                "adds the replicas\n"
                "        wk, wv = copy_to_ranks(wk, group), copy_to_ranks(wv, group)\n",
                "",
            ),
        ),
        Slip(
            "The weights were joined and cut as one matrix: a rank needs its heads from each of the three.",
            edits=(
                ("    q = _projected(x, wq, query, width)", ""),
                (
                    "    k, v = (_projected(x, weight, key_value, width) for weight in (wk, wv))",
                    "    fused, own = torch.cat([wq, wk, wv]), [len(query), len(key_value), len(key_value)]\n"
                    "    first = min(dist.get_rank(group) * sum(own), len(fused) // width - sum(own))\n"
                    "    q, k, v = _projected(x, fused, range(first, first + sum(own)), width).split(own, 1)",
                ),
            ),
        ),
        Slip("A token attends to later ones: attention is causal.", edit=("is_causal=True, ", "")),
        Slip(
            "f is missing: each rank's gradient of x holds only what comes from its own heads.",
            edit=("    x = copy_to_ranks(x, group)\n", ""),
        ),
        Slip(
            "x went through f three times: once is enough, before the three projections.",
            edits=(
                ("    x = copy_to_ranks(x, group)\n", ""),
                ("_projected(x, wq,", "_projected(copy_to_ranks(x, group), wq,"),
                ("_projected(x, weight,", "_projected(copy_to_ranks(x, group), weight,"),
            ),
        ),
    ),
    rights=(
        Right(
            "softmax written out",
            edit=(
                """    y = functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )  # [batch, own heads, sequence, d]
""",
                """    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) / width**0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    y = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
""",
            ),
        ),
        Right(
            "queries scaled first, exponentials normalized last",
            edit=(
                """    y = functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )  # [batch, own heads, sequence, d]
""",
                """    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = torch.einsum("bhqd,bhkd->bhqk", q * width**-0.5, k)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    scores = scores.masked_fill(later, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    y = (weights @ v) / weights.sum(-1, keepdim=True)
""",
            ),
        ),
    ),
)
