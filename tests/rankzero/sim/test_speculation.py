"""The simulator of speculation: a loop over verdicts, closed forms, and what clustered hard spots do."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from rankzero.sim import speculation
from rankzero.sim.speculation import Passages, Rounds, round_by_round, simulate

TEXT = Passages(easy=0.95, hard=0.6, share=0.3, length=20)


def expected(acceptance: float, draft_length: int) -> float:
    """Tokens per round by summing over how many are accepted: at least i of them with ``acceptance`` to the i-th."""
    return sum(acceptance**i for i in range(draft_length + 1))


def played(verdicts: list[bool], draft_length: int) -> list[int]:
    """How many rounds accepted 0, 1, ... tokens: verdict by verdict; a round that the text would cut is left out."""
    counts, at = [0] * (draft_length + 1), 0
    while True:
        accepted = 0
        while accepted < draft_length and at + accepted < len(verdicts) and verdicts[at + accepted]:
            accepted += 1
        at += accepted + 1
        if at > len(verdicts):
            return counts
        counts[accepted] += 1


def test_a_text_is_cut_at_its_wrong_tokens_exactly():
    """No chance is left: the same verdicts, as gaps all together and one after the other. Kills a wrong remainder."""
    for seed in range(3000):
        rng = Random(seed)
        share, draft_length = rng.choice((0.0, 0.3, 0.8, 0.97, 1.0)), rng.randint(0, 7)
        verdicts = [rng.random() < share for _ in range(rng.randint(1, 60))]
        text = "".join("+" if right else "-" for right in verdicts)
        *gaps, rest = (len(piece) for piece in text.split("-"))
        rounds = speculation._rounds(np.bincount(gaps, minlength=1), rest, draft_length)
        assert list(rounds.counts) == played(verdicts, draft_length), seed


@pytest.mark.parametrize("draft_length", [0, 1, 4, 8])
@pytest.mark.parametrize("acceptance", [0.05, 0.5, 0.8, 0.99])
def test_rounds_agree_with_the_closed_form(acceptance, draft_length):
    rounds = simulate(acceptance, draft_length, 400_000, seed=draft_length)
    assert rounds.tokens_per_round == pytest.approx(expected(acceptance, draft_length), rel=0.015)
    if draft_length:
        assert rounds.acceptance == pytest.approx(acceptance, abs=0.005)


def test_the_law_of_accepted_tokens():
    """Chi-square of the whole histogram: exactly i accepted with a^i (1 - a), all of them with a^k."""
    acceptance, draft_length = 0.7, 5
    counts = simulate(acceptance, draft_length, 500_000, seed=1).counts
    law = [acceptance**i * (1 - acceptance) for i in range(draft_length)] + [acceptance**draft_length]
    rounds = sum(counts)
    statistic = sum((count - rounds * p) ** 2 / (rounds * p) for count, p in zip(counts, law, strict=True))
    assert statistic < 20.5  # p = 0.001 with five degrees of freedom


@pytest.mark.parametrize("acceptance", [0.0, 0.6, 0.9, TEXT, Passages(0.9, 0.0, 0.2, 3)])
def test_arrays_and_the_loop_play_the_same_model(acceptance):
    many, ones = simulate(acceptance, 4, 3_000_000, seed=3), round_by_round(acceptance, 4, 800_000, seed=4)
    assert many.tokens_per_round == pytest.approx(ones.tokens_per_round, rel=0.015)
    assert many.acceptance == pytest.approx(ones.acceptance, abs=0.01)
    for mine, theirs in zip(many.counts, ones.counts, strict=True):
        assert mine / many.rounds == pytest.approx(theirs / ones.rounds, abs=0.01)


def test_passages_have_the_acceptance_share_and_length_that_they_say():
    """Tokens counted in the gaps themselves, and in the plain loop's verdicts."""
    gaps = next(speculation._gaps(TEXT, 10**6, np.random.default_rng(0)))
    assert gaps.sum() / (gaps.sum() + len(gaps)) == pytest.approx(TEXT.acceptance, abs=0.006)
    assert pytest.approx(0.3 * 0.6 + 0.7 * 0.95) == TEXT.acceptance
    verdicts = speculation._verdicts_in_passages(TEXT, Random(0))
    rights = sum(next(verdicts) for _ in range(200_000))
    assert rights / 200_000 == pytest.approx(TEXT.acceptance, abs=0.01)
    count, scales = speculation._passages(TEXT, np.random.default_rng(1))
    hard = scales == np.float32(speculation._scale(TEXT.hard))
    wrong, passages = np.count_nonzero(hard), np.count_nonzero(hard[1:] & ~hard[:-1])
    assert wrong / (1 - TEXT.hard) / passages == pytest.approx(TEXT.length, rel=0.05)
    tokens = {True: wrong / (1 - TEXT.hard), False: (count - wrong) / (1 - TEXT.easy)}
    assert tokens[True] / sum(tokens.values()) == pytest.approx(TEXT.share, abs=0.02)


def test_hard_spots_that_come_together_change_the_tokens_per_round():
    """The same mean acceptance, and fewer tokens per round: a hard spot takes many rounds, an easy one few."""
    spread = simulate(TEXT.acceptance, 4, 600_000).tokens_per_round
    together = simulate(TEXT, 4, 600_000).tokens_per_round
    assert together < 0.98 * spread


def test_one_kind_of_passage_is_no_passage():
    same = simulate(Passages(0.8, 0.8, 0.5, 10), 5, 600_000)
    assert same.tokens_per_round == pytest.approx(expected(0.8, 5), rel=0.01)


def test_nothing_is_lost_at_the_end_of_a_text():
    for seed in range(300):
        tokens = Random(seed).randint(1, 400)
        for acceptance in (0.0, 0.5, 0.9, 0.999, 1.0, TEXT):
            rounds = simulate(acceptance, 3, tokens, seed)
            assert tokens - 4 < rounds.tokens <= tokens


def test_long_texts_go_through_several_blocks():
    tokens = 5 * speculation.BLOCK
    for acceptance in (0.2, TEXT, 0.99999):
        rounds = simulate(acceptance, 2, tokens)
        assert tokens - 3 < rounds.tokens <= tokens


def test_the_same_seed_gives_the_same_rounds():
    assert simulate(TEXT, 4, 50_000, seed=5) == simulate(TEXT, 4, 50_000, seed=5)
    assert simulate(0.8, 4, 50_000, seed=5) != simulate(0.8, 4, 50_000, seed=6)


def test_very_easy_texts():
    """Kills gaps that overflow, or that single precision cannot tell apart."""
    rounds = simulate(1 - 1e-7, 4, 10**8, seed=2)
    assert rounds.rounds == pytest.approx(10**8 / 5, rel=1e-4)
    assert sum(rounds.counts[:-1]) < 40


def test_every_draft_pass_is_paid():
    rounds = Rounds((2, 3, 5))
    assert (rounds.draft_length, rounds.rounds, rounds.accepted, rounds.tokens) == (2, 10, 13, 23)
    assert rounds.acceptance == 13 / 18
    assert rounds.time(0.1, 1.5) == pytest.approx(10 * (2 * 0.1 + 1.5))
    assert rounds.speedup(0.1) == pytest.approx(23 / 12)


@pytest.mark.parametrize(
    ("acceptance", "draft_length", "draft_cost", "speedup"), [(0.8, 5, 0.05, 2.95142), (0.7, 3, 0.2, 1.58312)]
)
def test_the_speedup_is_that_of_the_paper(acceptance, draft_length, draft_cost, speedup):
    """Leviathan et al. (2023), theorem 3.8: tokens per round over kc + 1."""
    assert expected(acceptance, draft_length) / (draft_length * draft_cost + 1) == pytest.approx(speedup, abs=1e-5)
    measured = simulate(acceptance, draft_length, 500_000, seed=8).speedup(draft_cost)
    assert measured == pytest.approx(speedup, rel=0.01)


def test_no_rounds_are_no_tokens():
    empty = simulate(1.0, 4, 3)
    assert (empty.rounds, empty.tokens_per_round, empty.acceptance, empty.speedup(0.1)) == (0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.0, 0.5, 0.3, 20), r"easy and hard must be in \[0, 1\), got 1.0 and 0.5"),
        ((0.9, 0.5, 0.3, 1), "length must be such that passages hold a wrong token, got 1"),
        ((0.99, 0.5, 0.3, 20), "easy and hard ones would hold 0.467 and 10"),
    ],
)
def test_bad_passages_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        Passages(*arguments)
