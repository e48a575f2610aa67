"""A language of eighteen words in which every sentence gives opinions, and a judge that scores the sentences.

>>> show(read("the film was very good and the food was dull ."))
'the film was very good and the food was dull . <eos>'
>>> judge(read("the film was very good and the song was great ."))
2.0
>>> judge(read("the film was great great great ."))
0.0

The judge plays the human whose opinion training can usually not ask for. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random

from rankzero import checks

PAD, BOS, EOS = 0, 1, 2

NOUNS = ("film", "food", "game", "book", "song")
POSITIVE = ("good", "great", "fine", "nice")
NEGATIVE = ("bad", "dull", "poor", "weak")

#: The text of each token id: three special tokens, then eighteen words. <pad> occurs in no sentence, <bos> only first.
VOCABULARY = ("<pad>", "<bos>", "<eos>", "the", "was", "very", "and", ".", *NOUNS, *POSITIVE, *NEGATIVE)

#: Tokens of the longest :func:`sentence`, special tokens included.
LONGEST = 20
#: Tokens of every prompt, <bos> included.
PROMPT = 4

_IDS = {word: token for token, word in enumerate(VOCABULARY)}
_NOUN, _GOOD, _BAD = (frozenset(_IDS[word] for word in words) for words in (NOUNS, POSITIVE, NEGATIVE))
_ADJECTIVE = _GOOD | _BAD

#: What may follow each token.
_FOLLOWERS: dict[int, frozenset[int]] = {
    BOS: frozenset({_IDS["the"]}),
    _IDS["the"]: _NOUN,
    **{noun: frozenset({_IDS["was"]}) for noun in _NOUN},
    _IDS["was"]: _ADJECTIVE | {_IDS["very"]},
    _IDS["very"]: _ADJECTIVE,
    **{adjective: frozenset({_IDS["and"], _IDS["."]}) for adjective in _ADJECTIVE},
    _IDS["and"]: frozenset({_IDS["the"]}),
    _IDS["."]: frozenset({EOS}),
}


def may_follow(before: int, after: int) -> bool:
    """Whether the grammar allows the token ``after`` right behind the token ``before``."""
    return after in _FOLLOWERS.get(before, ())


def read(text: str, finished: bool = True) -> list[int]:
    """The tokens of a text whose words are separated by blanks: <bos> first and, if it is ``finished``, <eos> last."""
    checks.require(all(word in VOCABULARY for word in text.split()), "hold words of the vocabulary", text=text)
    return [BOS, *(_IDS[word] for word in text.split()), *([EOS] if finished else [])]


def show(tokens: Iterable[int]) -> str:
    """Tokens as text; <bos> and padding are left out."""
    return " ".join(VOCABULARY[token] for token in tokens if token not in (PAD, BOS))


def sentence(rng: Random) -> list[int]:
    """A random sentence: one to three opinions about different nouns, positive and negative equally often."""
    clauses = []
    for noun in rng.sample(NOUNS, rng.randint(1, 3)):
        very = "very " if rng.random() < 0.3 else ""
        clauses.append(f"the {noun} was {very}{rng.choice(POSITIVE + NEGATIVE)}")
    return read(" and ".join(clauses) + " .")


def prompts(count: int, rng: Random) -> list[list[int]]:
    """Random beginnings of a sentence, each <bos> and "the NOUN was": 4 tokens."""
    return [read(f"the {rng.choice(NOUNS)} was", finished=False) for _ in range(count)]


def judge(tokens: Sequence[int]) -> float:
    """The true score of a sentence: at most 2, without a lower limit.

    The score is the number of positive minus negative adjectives, clipped to [-2, 2]. One point is subtracted for each
    pair of adjacent tokens that the grammar does not allow, for each repeated noun, and for a missing <eos>. What
    follows the first <eos> is ignored.

    Args:
        tokens: prompt and response together, <bos> first; padding may follow.
    """
    most = len(VOCABULARY) - 1
    checks.require(all(0 <= token <= most for token in tokens), f"be from 0 to {most}", tokens=tokens)
    finished = EOS in tokens
    said = list(tokens[: list(tokens).index(EOS) + 1 if finished else len(tokens)])
    nouns = [token for token in said if token in _NOUN]
    praise = sum((token in _GOOD) - (token in _BAD) for token in said)
    errors = sum(not may_follow(before, after) for before, after in pairwise(said))
    return float(max(-2, min(2, praise)) - errors - (len(nouns) - len(set(nouns))) - (not finished))
