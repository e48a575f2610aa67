"""Chapter 13: the losses of policy, critic and reward model, and two programs to correct."""

from __future__ import annotations

from math import e, inf, log, nan
from random import Random

from autograder.bank.ch13.draws import REST, Rows, ending, holes, lengths, rows, spoiled, tensor
from autograder.bank.ch13.wrong_losses import POLICY, PREFERENCE, VALUE
from autograder.bank.ch13.wrong_repairs import CORE_LOOP, NAN, wrong_core_loop, wrong_nan
from autograder.bank.groups import listed
from autograder.items import Build, Case, Debug, Group, Tensor

# --- policy_loss


def _moved(rng: Random, mask: Rows, *rests: float, dtype: str = "float64", far: float = 0.7) -> Case:
    """Log-probabilities before and after a step of up to ``far`` nats, and advantages."""
    batch, length = len(mask), len(mask[0])
    old = rows(rng, batch, length, -4, -0.5)
    steps = rows(rng, batch, length, -far, far)
    new = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(old, steps, strict=True)]
    given = (new, old, rows(rng, batch, length))
    turned = [(*rests[place:], *rests[:place]) for place in range(3)]
    return Case(
        tuple(tensor(spoiled(one, mask, *rest), dtype) for one, rest in zip(given, turned, strict=True))
        + (tensor(mask, dtype),)
    )


def _any_step(rng: Random) -> Case:
    length = rng.randint(3, 7)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _moved(rng, mask, 3.0, -2.0, 5.0, dtype=rng.choice(("float64", "float32")))


def _step_beside_anything(rng: Random) -> list[Case]:
    return [_moved(rng, ending([1, 5, 2], 5), *rests) for rests in (REST, (-inf,), (-800.0, 0.0, 3.0))]


def _overflow(rng: Random, advantage: float) -> Case:
    """The ratio of a real token is too large for every type, and the clipped term counts."""
    new, old, gains, mask = _moved(rng, ending([3, 2], 3), 1.0).args
    flat, place = [one.tolist() for one in (new, old, gains)], rng.choice((0, 1, 2, 3, 4))
    flat[0][place], flat[2][place] = flat[1][place] + rng.uniform(720, 1500), advantage
    return Case((*(Tensor.of(one, "float64", mask.shape) for one in flat), mask))


def _overflows(rng: Random) -> list[Case]:
    return [_overflow(rng, advantage) for advantage in (rng.uniform(0.5, 2), rng.uniform(0.5, 2), 0.0)]


def _step_ends(rng: Random) -> list[Case]:
    """No step at all; another clip; a gap; one token; a long step."""
    still = _moved(rng, ending([2, 3], 3), 1.0, far=0.0)
    wide = _moved(rng, ending([4, 3], 4), 1.0)
    narrow = _moved(rng, ending([4, 3], 4), 1.0)
    return [
        still,
        Case((*wide.args, 0.5)),
        Case((*narrow.args, 0.05)),
        _moved(rng, holes(rng, 2, 6), 2.0),
        _moved(rng, [[1.0]], far=1.5),
        _moved(rng, ending([4, 4], 4), far=3.0),
    ]


POLICY_LOSS = Build(
    id="13-policy-loss",
    module="rlhf",
    function="policy_loss",
    grade="tensor",
    probe="ch13.sent_back",
    section="13.9",
    topic="losses with masks",
    tolerance=1e-5,
    cases=(
        Case(
            (tensor([[log(1.5), log(0.5), 0, 3]]), tensor([[0] * 4]), tensor([[1, -1, 2, 50]]), tensor([[1, 1, 1, 0]]))
        ),
        Case((tensor([[-1, -inf]]), tensor([[-1.1, -inf]]), tensor([[2, 0]]), tensor([[1, 0]]))),
        Case((tensor([[-1, -0.5]]), tensor([[-0.5, -1]]), tensor([[-2, -1]]), tensor([[1, 1]]), 0.1)),
    ),
    groups=(
        Group("batches", _any_step, 5, "The negative of PPO's objective, a mean over the real tokens."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_step_beside_anything(rng)),
            3,
            "What the tensors hold where the mask is 0 reaches neither the loss nor the gradient.",
            _step_beside_anything,
        ),
        listed(
            "ratios that overflow",
            _overflows,
            "A token whose clipped term counts sends a gradient of 0; but 0 times an infinite exp is nan.",
        ),
        listed("ends", _step_ends, "No step, a long one, another clip."),
    ),
    slips=POLICY,
)

# --- value_loss


def _valued(
    rng: Random, mask: Rows, *clip: float, dtype: str = "float64", rests: tuple[float, ...] = (7.0, -3.0, 4.0)
) -> Case:
    batch, length = len(mask), len(mask[0])
    given = (spoiled(rows(rng, batch, length), mask, rest, 2 * rest) for rest in rests)
    return Case((*(tensor(one, dtype) for one in given), tensor(mask, dtype), *clip))


def _any_value(rng: Random) -> Case:
    length = rng.randint(3, 7)
    mask = ending(lengths(rng, rng.randint(2, 4), length), length)
    return _valued(rng, mask, dtype=rng.choice(("float64", "float32")))


def _value_beside_anything(rng: Random) -> list[Case]:
    return [
        _valued(rng, ending([2, 4, 1], 4), rests=(nan, 1.0, 2.0)),
        _valued(rng, holes(rng, 2, 6), rests=(-inf, nan, inf)),
    ]


def _value_ends(rng: Random) -> list[Case]:
    return [
        _valued(rng, ending([3, 2], 4), 1.0),
        _valued(rng, ending([3, 4], 4), 0.05),
        _valued(rng, holes(rng, 2, 6)),
        _valued(rng, [[1.0]]),
    ]


VALUE_LOSS = Build(
    id="13-value-loss",
    module="rlhf",
    function="value_loss",
    grade="tensor",
    probe="ch13.sent_back",
    section="13.9",
    topic="losses with masks",
    tolerance=1e-5,
    cases=(
        Case((tensor([[1, 0, 5]]), tensor([[0.5, 0.1, 5]]), tensor([[1.5, 1, 0]]), tensor([[1, 1, 0]]))),
        _valued(Random("values"), ending([2, 1], 2)),
        Case((tensor([[1, 0.2]]), tensor([[0.4, 0.3]]), tensor([[2, 0]]), tensor([[1, 1]]), 0.5)),
    ),
    groups=(
        Group("batches", _any_value, 5, "Half the mean of the larger squared error, over the real tokens."),
        Group(
            "anything in the padding",
            lambda rng: rng.choice(_value_beside_anything(rng)),
            3,
            "What the tensors hold where the mask is 0 reaches neither the loss nor the gradient: 0 times nan is nan.",
            _value_beside_anything,
        ),
        listed("ends", _value_ends, "Another clip, gaps, one token."),
    ),
    slips=VALUE,
)

# --- preference_loss


def _pairs(rng: Random, count: int, low: float = -3.0, high: float = 3.0, dtype: str = "float64") -> Case:
    rejected = [rng.uniform(-3, 3) for _ in range(count)]
    chosen = [score + rng.uniform(low, high) for score in rejected]
    return Case((Tensor.of(chosen, dtype), Tensor.of(rejected, dtype)))


def _any_pairs(rng: Random) -> Case:
    return _pairs(rng, rng.randint(2, 8), dtype=rng.choice(("float64", "float32")))


def _far_pairs(rng: Random) -> list[Case]:
    sizes = (-900, -120), (-900, -120), (120, 900)
    return [_pairs(rng, rng.randint(2, 4), *size, dtype="float32") for size in sizes]


PREFERENCE_LOSS = Build(
    id="13-preference-loss",
    module="rlhf",
    function="preference_loss",
    grade="tensor",
    probe="ch13.sent_back",
    section="13.3",
    topic="preferences",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([1, 2], "float64"), Tensor.of([0, 2], "float64"))),
        Case((Tensor.of([0.0]), Tensor.of([100.0]))),
        Case((Tensor.of([2.0]), Tensor.of([0.0]))),
    ),
    groups=(
        Group("pairs", _any_pairs, 5, "The mean of -log sigmoid of the difference."),
        listed("far apart", _far_pairs, "Scores may lie hundreds apart: no logarithm of 0, no nan in the gradient."),
        Group("one pair", lambda rng: _pairs(rng, 1), 2, "One pair is a batch, too."),
    ),
    slips=PREFERENCE,
)

# --- debug_nan


def _in_padding(rng: Random, new: float, old: float) -> Case:
    """Log-probabilities of padding are ``new`` and ``old``; its advantages are finite."""
    mask = ending(lengths(rng, 3, 4), 4)
    given = (rows(rng, 3, 4, -3, 0), rows(rng, 3, 4, -3, 0), rows(rng, 3, 4))
    rests = (new, old, 2.0)
    return Case((*(tensor(spoiled(one, mask, rest)) for one, rest in zip(given, rests, strict=True)), tensor(mask)))


def _faults(rng: Random) -> Case:
    """A real token is not a number."""
    new, *others = _moved(rng, ending([2, 3], 3), 1.0).args
    flat = new.tolist()
    flat[rng.choice((0, 1, 3))] = REST[0]
    return Case((Tensor.of(flat, "float64", new.shape), *others))


DEBUG_NAN = Debug(
    id="13-debug-nan",
    module="rlhf_repairs",
    function="debug_nan",
    grade="tensor",
    probe="ch13.sent_back",
    section="13.9",
    topic="losses with masks",
    tolerance=1e-5,
    bonus=True,
    cases=(
        Case((tensor([[-1, -inf]]), tensor([[-1.5, -inf]]), tensor([[2, 1]]), tensor([[1, 0]]))),
        Case((tensor([[-1, -2]]), tensor([[-1, -2 - log(e)]]), tensor([[2, 1]]), tensor([[1, 1]]))),
        _faults(Random("a fault")),
    ),
    groups=(
        Group("infinite padding", lambda rng: _in_padding(rng, -inf, -inf), 4, "Mask the difference, before exp."),
        Group("other padding", lambda rng: _in_padding(rng, 3.0, -2.0), 2, "Padding adds nothing to the sum."),
        Group("faults", _faults, 3, "nan in a real token is a fault that must be seen."),
    ),
    slips=NAN,
    wrong=wrong_nan,
)

# --- debug_core_loop


def _lesson(rng: Random, counts: list[int], length: int, prompt: int, **options: float) -> Case:
    """A batch of responses with padding for a policy that the seed makes."""
    batch, vocab = len(counts), rng.randint(5, 7)
    flat = [rng.randrange(vocab) for _ in range(batch * (prompt + length))]
    flat[0] = vocab - 1
    mask = ending(counts, length)
    return Case(
        (
            rng.randrange(10**6),
            Tensor.of(flat, "int64", (batch, prompt + length)),
            prompt,
            tensor(mask),
            Tensor.of([round(rng.uniform(0.5, 2) * rng.choice((-1, 1)), 2) for _ in range(batch)], "float64"),
            tensor(rows(rng, batch, length, -4, -1)),
        ),
        options,
    )


def _lessons(rng: Random) -> Case:
    length = rng.randint(3, 5)
    return _lesson(rng, lengths(rng, rng.randint(2, 4), length), length, rng.randint(1, 3))


def _square(rng: Random) -> Case:
    """As many responses as tokens: shapes that should not fit do."""
    return _lesson(rng, [3, *lengths(rng, 2, 3)], 3, 2)


def _other_lessons(rng: Random) -> list[Case]:
    return [
        _lesson(rng, [2, 4], 4, 2, epochs=3, beta=0.5),
        _lesson(rng, [3, 2], 3, 1, epochs=1),
        _lesson(rng, [3, 3], 3, 2, beta=0.0),
    ]


DEBUG_CORE_LOOP = Debug(
    id="13-debug-core-loop",
    module="rlhf_repairs",
    function="debug_core_loop",
    grade="tensor",
    probe="ch13.learned",
    section="13.10",
    topic="one step of RLHF",
    tolerance=1e-5,
    cases=(_lesson(Random("square"), [3, 2, 1], 3, 2), _lesson(Random("oblong"), [2, 4], 4, 2)),
    groups=(
        Group("batches", _lessons, 4, "Five things are wrong; compare each line with what the docstring says."),
        Group("square batches", _square, 2, "B may equal T: shapes that fit by accident are no proof."),
        listed("others", _other_lessons, "Other epochs and betas."),
    ),
    slips=CORE_LOOP,
    wrong=wrong_core_loop,
)
