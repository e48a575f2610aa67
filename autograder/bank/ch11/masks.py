"""Chapter 11, text that must fit: masks, and the automata behind them."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.grammars import GRAMMARS
from autograder.bank.ch11.schemas import SCHEMA_TO_REGEX
from autograder.bank.ch11.tokens import DEBUG_TOKEN, TOKEN_INDEX
from autograder.items import Build, Case, Choice, Group, Slip, Tensor

_SET = 'logits.masked_fill(~kept, float("-inf"))'


def _logits(rng: Random, size: int, low: float = -8) -> Tensor:
    return Tensor.of([round(rng.uniform(low, 8), 3) for _ in range(size)], rng.choice(("float32", "float64")))


def _masked(rng: Random) -> Case:
    size = rng.randint(4, 40)
    return Case((_logits(rng, size), rng.sample(range(size), rng.randint(2, size - 2))))


def _ends(rng: Random) -> list[Case]:
    """One token, all of them, logits that are all negative, and logits of minus infinity."""
    size = rng.randint(3, 12)
    closed = Tensor.of([1.0, float("-inf"), 2.0, float("-inf")])
    return [
        Case((_logits(rng, size), [rng.randrange(size)])),
        Case((_logits(rng, size), list(range(size)))),
        Case((Tensor.of([-rng.uniform(1, 9) for _ in range(5)]), [1, 3])),
        Case((closed, [0, rng.choice((1, 3))])),
    ]


MASK_LOGITS = Build(
    id="11-mask-logits",
    module="masking",
    function="mask_logits",
    grade="tensor",
    section="11.7",
    topic="token masks",
    tolerance=1e-5,
    cases=(
        Case((Tensor.of([2, 1, 0, -1]), [0, 2])),
        Case((Tensor.of([0, 0, 0]), [1])),
        Case((Tensor.of([5, -5, 1], "float64"), [1, 2])),
    ),
    groups=(
        Group("masks", _masked, 5, "Allowed logits stay, all others are minus infinity, and the input stays as it is."),
        Group("one, all, none above zero", lambda rng: rng.choice(_ends(rng)), 4, "Any logit may be allowed.", _ends),
    ),
    slips=(
        Slip(
            "0 times minus infinity is NaN: set elements instead of computing with them.",
            edit=(_SET, 'logits * kept + ~kept * float("-inf")'),
        ),
        Slip("A logit of 0 is a fine logit: the token stays possible.", edit=(_SET, "logits * kept")),
        Slip("The input was changed: return a copy.", edit=("masked_fill(", "masked_fill_(")),
        Slip("The mask is the wrong way round: it forbids what is allowed.", edit=("~kept", "kept")),
        Slip(
            "A small number is not minus infinity: where all others are small, too, it is drawn.",
            edit=('float("-inf")', "-100.0"),
        ),
        Slip(
            "-1e9 is a number: beside an allowed logit of minus infinity it would win. Set -inf.",
            edit=('float("-inf")', "-1e9"),
        ),
        Slip(
            "These are probabilities that do not sum to 1: mask the logits, before the softmax.",
            edit=(_SET, "logits.softmax(-1).masked_fill(~kept, 0.0)"),
        ),
    ),
)


EOS_WHEN = Choice(
    id="11-eos-when",
    kind="trace",
    title="When the end may be drawn",
    section="11.7",
    options=(
        "Exactly in states in which the text is complete.",
        "In every state: the model decides when it is done.",
        "In no state: the text ends at the limit of tokens.",
        "Only where no other token is allowed.",
    ),
    correct=0,
    slips={
        1: "Then a text may end in the middle of a string.",
        2: "Then no text ends by itself, and whether it is whole at the limit is chance.",
        3: "The number 12 is complete, and so is 123: ending must be allowed beside going on.",
    },
    derivation="EOS is a token like any other: it is allowed where the text so far, taken as a whole, is valid. That "
    "is what an accepting state means.",
)

NAN = Choice(
    id="11-nan",
    kind="trace",
    title="A mask by multiplication",
    section="11.7",
    options=("1", "0.731", "NaN", "an error is raised"),
    correct=2,
    slips={
        0: "It would be, if 0 times minus infinity were 0.",
        1: "That is the softmax of 2 and 1, without a mask.",
        3: "Floating-point arithmetic goes on with NaN, without a word.",
    },
    derivation="For the allowed token the second term is $0 \\times -\\infty$, which is not a number. One NaN in the "
    "sum of the softmax makes every element NaN.",
)

WHICH_FIT = Choice(
    id="11-which-fit",
    kind="trace",
    title="What an automaton can decide",
    section="11.7",
    options=(
        "All but the nested JSON.",
        "All four.",
        "Only the e-mail address and the date.",
        "Only the date.",
    ),
    correct=0,
    slips={
        1: "Brackets nested without bound must be counted, and an automaton counts no further than its states.",
        2: "A list of at most three numbers has a bound: write out the four lengths.",
        3: "An address may be long, but nothing in it must be counted: a loop does.",
    },
    derivation="A finite automaton remembers one of finitely many states. What is bounded can be written out, what "
    "repeats is a loop. To match closing brackets with opening ones it would have to remember their number: no bound.",
)

#: In the order of the page.
MASKS = (EOS_WHEN, NAN, MASK_LOGITS, TOKEN_INDEX, DEBUG_TOKEN, WHICH_FIT, SCHEMA_TO_REGEX, GRAMMARS)
