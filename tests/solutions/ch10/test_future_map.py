"""Placeholders: the trace of the page, and a dictionary that never reuses a number."""

from __future__ import annotations

from random import Random

import pytest

from solutions.ch10.future_map import FutureMap


def test_the_trace_of_the_page():
    futures = FutureMap(2)
    assert [futures.reserve(count) for count in (2, 2, 1, 2, 2)] == [[-1, -2], [-3, -4], [-5], [-6, -7], [-2, -3]]
    futures.store([-1, -2], [7, 9])
    assert futures.resolve([5, -1, -2, 3]) == [5, 7, 9, 3]


def test_no_placeholder_is_a_token():
    assert all(placeholder < 0 for placeholder in FutureMap(8).reserve(8))


def test_a_new_round_is_empty():
    """Kills: the token of an earlier round under the same placeholder."""
    futures = FutureMap(1)
    for _ in range(3):
        futures.store(futures.reserve(1), [7])
    assert futures.reserve(1) == [-1]
    with pytest.raises(RuntimeError, match="placeholder -1 is empty"):
        futures.resolve([3, -1])


def test_numbers_that_are_not_negative_stay():
    assert FutureMap(3).resolve([0, 5, 0]) == [0, 5, 0]


@pytest.mark.parametrize(("placeholders", "tokens"), [([-1], [1, 2]), ([-1, -5], [1, 2]), ([3], [1])])
def test_a_refused_store_changes_nothing(placeholders, tokens):
    futures = FutureMap(2)
    first = futures.reserve(2)
    with pytest.raises(ValueError, match="must be"):
        futures.store(placeholders, tokens)
    with pytest.raises(RuntimeError):
        futures.resolve(first)
    assert futures.reserve(1) == [-3]


def test_against_a_dictionary_keyed_by_reservation():
    """Reservations have numbers that grow for ever; a placeholder stands for the newest that bears it."""
    rng = Random(1)
    for _ in range(1_000):
        most = rng.randint(1, 16)
        futures, newest, held = FutureMap(most), {}, {}
        number, cursor = 0, 0
        for _ in range(rng.randint(5, 60)):
            count = rng.randint(1, most)
            placeholders = futures.reserve(count)
            assert placeholders == [-(cursor + place + 1) for place in range(count)]
            cursor = (cursor + count) % (3 * most)
            for placeholder in placeholders:
                newest[placeholder] = number
                number += 1
            if rng.random() < 0.7:
                tokens = [rng.randint(0, 500) for _ in placeholders]
                futures.store(placeholders, tokens)
                held |= {newest[own]: token for own, token in zip(placeholders, tokens, strict=True)}
            asked = [rng.choice([rng.randint(0, 9), *newest]) for _ in range(4)]
            if all(own >= 0 or newest[own] in held for own in asked):
                assert futures.resolve(asked) == [own if own >= 0 else held[newest[own]] for own in asked]
            else:
                with pytest.raises(RuntimeError):
                    futures.resolve(asked)


def test_the_table_stays_small():
    futures = FutureMap(3)
    seen = {placeholder for _ in range(500) for placeholder in futures.reserve(3)}
    assert min(seen) >= -4 * 3
