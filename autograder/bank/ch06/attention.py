"""Chapter 6: attention split by heads, on real ranks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.linear import tensor
from autograder.bank.ch06.wrong_attention import PARALLEL_ATTENTION
from autograder.bank.groups import listed
from autograder.items import Build, Case


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
    return [("all_reduce", rules.bytes_of(t)) for t in (x, x, *copied)]


ATTENTION = Build(
    id="06-parallel-attention",
    module="sharded_layers",
    function="parallel_attention",
    grade="world",
    probe="ch06.attention",
    section="6.14",
    topic="heads of attention",
    bonus=True,
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
    slips=PARALLEL_ATTENTION,
    rule=rules.calls_at_most(
        _calls,
        "one all-reduce forward and one backward are enough, and one for a copied weight",
        least=lambda case: 2 * rules.bytes_of(case.args[0][0]),
    ),
)

ITEMS = (ATTENTION,)
