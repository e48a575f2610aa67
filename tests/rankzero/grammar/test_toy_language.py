"""The toy language: what people say fits its grammar, and the judge counts as the text says."""

from __future__ import annotations

from random import Random

import pytest

from rankzero.grammar.toy_language import (
    BOS,
    EOS,
    LONGEST,
    NEGATIVE,
    NOUNS,
    PAD,
    POSITIVE,
    PROMPT,
    VOCABULARY,
    judge,
    prompts,
    read,
    sentence,
    show,
)


def test_eighteen_words_and_three_marks():
    assert len(set(VOCABULARY)) == len(VOCABULARY) == 21
    assert [VOCABULARY[mark] for mark in (PAD, BOS, EOS)] == ["<pad>", "<bos>", "<eos>"]


def test_what_people_say_has_no_fault():
    """Kills a grammar that forbids its own sentences: the verdict is the sum of the adjectives alone."""
    rng = Random(1)
    for _ in range(500):
        tokens = sentence(rng)
        words = show(tokens).split()
        praise = sum((word in POSITIVE) - (word in NEGATIVE) for word in words)
        assert judge(tokens) == max(-2, min(2, praise))
        assert len(tokens) <= LONGEST
        assert (tokens[0], tokens[-1]) == (BOS, EOS)


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("the film was good .", 1),
        ("the film was very good .", 1),
        ("the film was bad .", -1),
        ("the film was good and the food was great and the song was nice .", 2),
        ("the film was good and the film was great .", 1),
        ("the film was great great great .", 0),
        ("the film was very very good .", 0),
        ("film was good .", 0),
        ("the film was good . .", 0),
        ("the film was good", 0),
        (" ".join(["the film was", *["great"] * 16]), -14),
    ],
)
def test_the_judge_counts(text, worth):
    """Two praises are the cap; each wrong pair, each noun said again, and a missing end cost one."""
    assert judge(read(text)) == worth


def test_an_unfinished_sentence_costs_one():
    tokens = read("the film was good .")
    assert judge(tokens[:-1]) == judge(tokens) - 1


def test_nothing_behind_the_end_is_read():
    tokens = read("the film was good .")
    assert judge([*tokens, PAD, PAD, *read("bad bad bad")]) == 1


def test_marks_are_no_words():
    assert judge(read("the film was good <pad> .")) < judge(read("the film was good ."))


def test_prompts_are_beginnings():
    for row in prompts(50, Random(0)):
        assert len(row) == PROMPT
        assert show(row).split()[1] in NOUNS
    assert prompts(5, Random(3)) == prompts(5, Random(3))


def test_read_and_show():
    assert show(read("the song was nice .")) == "the song was nice . <eos>"
    assert show(read("the song", finished=False)) == "the song"
    with pytest.raises(ValueError, match="text must hold words of the vocabulary"):
        read("the opera was nice .")


@pytest.mark.parametrize("token", [-1, len(VOCABULARY)])
def test_a_token_that_there_is_not(token):
    with pytest.raises(ValueError, match="tokens must be from 0 to"):
        judge([BOS, token])
