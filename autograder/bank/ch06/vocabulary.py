"""Chapter 6: the loss and the look-up of a vocabulary that is split over real ranks."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.linear import tensor
from autograder.bank.ch06.wrong_vocabulary import CROSS_ENTROPY, DEBUG_EMBED, EMBEDDING, wrong_embed
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Tensor


def _loss(
    rng: Random, ranks: int, share: int, batch: tuple[int, ...], scale: float = 3.0, owner: int | None = None
) -> Case:
    """Targets anywhere, or all on one rank; the largest logit of all is on rank 0."""
    tokens = math.prod(batch)
    ids = [
        rng.randrange(ranks * share) if owner is None else owner * share + rng.randrange(share) for _ in range(tokens)
    ]
    target, back = Tensor.of(ids, "int64", batch), tensor(rng, *batch)
    parts = [
        Tensor.of(
            [
                scale * (rng.uniform(-1, 1) + (rank == 0 and column == 0))
                for _ in range(tokens)
                for column in range(share)
            ],
            "float64",
            (*batch, share),
        )
        for rank in range(ranks)
    ]
    return Case(tuple((part, target, back) for part in parts))


def _ordinary(rng: Random) -> Case:
    return _loss(rng, rng.randint(2, 4), rng.randint(2, 8), (rng.randint(2, 5),))


def _ordinary_of_each(rng: Random) -> list[Case]:
    return [_loss(rng, ranks, rng.randint(2, 8), (rng.randint(3, 5),)) for ranks in (3, 4)]


def _scales(rng: Random) -> list[Case]:
    return [
        _loss(rng, 2, 4, (4,), 1e4),
        _loss(rng, 3, 3, (4,), rng.uniform(900, 5000)),
        _loss(rng, 2, 128, (3,), 0.1, owner=1),
    ]


def _shapes(rng: Random) -> list[Case]:
    return [_loss(rng, 2, 3, ()), _loss(rng, 3, 2, (2, 2), owner=rng.randrange(3)), _loss(rng, 1, 6, (3,))]


def _half(rng: Random) -> Case:
    """Logits and gradient in bfloat16: each loss and each gradient is rounded once, at the end."""
    return Case(_loss(rng, 2, 16, (6,)).args, {"half": True})


def _loss_calls(case: Case) -> list[tuple[str, int]]:
    return [("all_reduce", rules.bytes_of(case.args[0][2]))] * 3


def _of(*rows: list[float], target: int) -> Case:
    each = [Tensor.of(row, "float64", (1, len(row))) for row in rows]
    return Case(tuple((row, Tensor.of([target], "int64"), Tensor.of([1.0], "float64")) for row in each))


LOSS = Build(
    id="06-vocab-parallel-cross-entropy",
    module="sharded_layers",
    function="vocab_parallel_cross_entropy",
    grade="world",
    probe="ch06.differentiated",
    section="6.15",
    bonus=True,
    topic="a split vocabulary",
    cases=(
        _of([1, 2], [3, 4], target=1),
        _of([1, 2], [3, 4], target=3),
        _of([1000, 0], [0, 0], target=0),
        _of([0.5] * 2, [0.5] * 2, [0.5] * 2, [0.5] * 2, target=5),
        _of([1, 2, 3], target=0),
    ),
    groups=(
        Group(
            "several ranks",
            _ordinary,
            2,
            "All ranks share one maximum, one sum of exponentials and the target's logit.",
            _ordinary_of_each,
        ),
        listed("large and small logits", _scales, "Logits may be thousands, and the exponentials must not overflow."),
        Group(
            "shapes",
            lambda rng: rng.choice(_shapes(rng)),
            2,
            "There may be one rank, no batch or two dimensions of it, or all targets on one rank.",
            lambda rng: _shapes(rng)[:2],
        ),
        Group(
            "half precision",
            _half,
            1,
            "Widen half precision to float32 first: sums of exponentials lose digits in it.",
        ),
    ),
    slips=CROSS_ENTROPY,
    rule=rules.calls_at_most(
        _loss_calls,
        "three numbers for each token, and nothing on the way back, are enough",
        least=lambda case: rules.bytes_of(case.args[0][2]) // (4 if case.kwargs.get("half") else 1),
    ),
)


def _look_up(rng: Random, ranks: int, share: int, batch: tuple[int, ...], hidden: int = 3, back: bool = True) -> Case:
    """Ids of every rank's rows where there are enough of them; rows without zeros."""
    count = math.prod(batch)
    ids = [(place % ranks) * share + rng.randrange(share) for place in range(count)]
    asked, upstream = Tensor.of(ids, "int64", batch), tensor(rng, *batch, hidden)
    rows = [tensor(rng, share, hidden) for _ in range(ranks)]
    return Case(tuple((asked, own, upstream) if back else (asked, own) for own in rows))


def _table(back: bool = True) -> Case:
    table = [[0, 1, 10, 11], [20, 21, 30, 31]]
    ids, ones = Tensor.of([3, 0, 2], "int64"), Tensor.of([1.0] * 6, "float64", (3, 2))
    rows = [Tensor.of(row, "float64", (2, 2)) for row in table]
    return Case(tuple((ids, own, ones) if back else (ids, own) for own in rows))


def _looked_up(rng: Random) -> list[Case]:
    return [_look_up(rng, ranks, rng.randint(2, 4), (rng.randint(4, 6),)) for ranks in (2, 3, 4)]


def _look_up_shapes(rng: Random) -> list[Case]:
    """One of them on ranks with a single row."""
    return [_look_up(rng, 2, 3, ()), _look_up(rng, 3, 1, (2, 3)), _look_up(rng, 1, 5, (4,))]


def _bare(cases: list[Case]) -> list[Case]:
    """Without the gradient that is sent back."""
    return [Case(tuple(args[:2] for args in case.args)) for case in cases]


def _row_bytes(case: Case) -> list[tuple[str, int]]:
    ids, weight, *_ = case.args[0]
    return [("all_reduce", rules.bytes_of(ids) // 8 * weight.shape[1] * 8)]


def _least_rows(case: Case) -> int:
    """An id that is asked for twice needs to be looked up once."""
    ids, weight, *_ = case.args[0]
    return len(set(ids.tolist())) * weight.shape[1] * 8


_LOOK_UP_RULE = rules.calls_at_most(
    _row_bytes, "one all-reduce of the rows that were asked for is enough", least=_least_rows
)

LOOK_UP = Build(
    id="06-vocab-parallel-embedding",
    module="sharded_layers",
    function="vocab_parallel_embedding",
    grade="world",
    probe="ch06.differentiated",
    section="6.15",
    topic="a split vocabulary",
    bonus=True,
    cases=(_table(), _look_up(Random("look up"), 3, 2, (2, 2), 2), _look_up(Random("look up 1"), 1, 3, (2,), 2)),
    groups=(
        listed("two to four ranks", _looked_up, "A rank contributes the rows that it owns, and zeros for all others."),
        listed("shapes", _look_up_shapes, "There may be one rank, a single id, or two dimensions of them."),
    ),
    slips=EMBEDDING,
    rule=_LOOK_UP_RULE,
)

EMBED = Debug(
    id="06-debug-embed",
    module="sharded_layers",
    function="debug_embed",
    grade="world",
    section="6.15",
    bonus=True,
    topic="a split vocabulary",
    cases=(_table(back=False), *_bare([_look_up(Random("debug look up"), 3, 2, (2, 2), 2)])),
    groups=(
        Group(
            "two to four ranks",
            lambda rng: _bare([rng.choice(_looked_up(rng))])[0],
            3,
            "Each row should come from the rank that owns it, and from no other.",
            lambda rng: _bare(_looked_up(rng)),
        ),
        Group(
            "shapes",
            lambda rng: _bare([rng.choice(_look_up_shapes(rng))])[0],
            3,
            "There may be one rank, a single id, or two dimensions of them.",
            lambda rng: _bare(_look_up_shapes(rng)),
        ),
    ),
    slips=DEBUG_EMBED,
    rule=_LOOK_UP_RULE,
    wrong=wrong_embed,
)

ITEMS = (LOSS, LOOK_UP, EMBED)
