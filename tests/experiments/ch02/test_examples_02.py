"""The worked examples of chapter 2: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch02.chain_steps import chain_states
from experiments.ch02.explorers import staircase
from experiments.ch02.message_steps import NUMBERS, SIZE
from experiments.ch02.overlap_steps import MESSAGE, PRODUCT
from experiments.ch02.relay_steps import relay_states
from experiments.ch02.ring_policies import play_rounds, ring_programs
from rankzero.facts.units import GB, KB, MB, ms, us
from solutions.ch02.alpha_beta import message_time, relay_time
from solutions.ch02.model_parallel import naive_step
from tests.worked_examples import examples, missing

BANDWIDTH = 12.5 * GB
WHOLE = relay_time(1, 3, 1, 1.0)
WORDS = {2: "Two", 6: "six"}
CHAIN = chain_states(42, 10, 4)[-1]


def _relay(chunks: int) -> str:
    """The time of 1 MB over 3 hops, 50 GB/s, 5 µs, in µs."""
    return f"{relay_time(1 * MB, 3, chunks, 50 * GB, 5 * us) / us:.0f} µs"


def _working(rank: int) -> float:
    """Milliseconds that a rank works in the step of the page's picture."""
    events = staircase(12, 3, 10 * ms, 5 * ms)
    return sum(e.end - e.start for e in events if e.rank == rank and e.operation != "send") / ms


COMPUTED = {
    "message-example": [f"{len(NUMBERS) * SIZE} bytes ({len(NUMBERS)} times {SIZE})"],
    "chain-example": [f"keeps {CHAIN[1]}", f"rank 2 keeps {CHAIN[2]}; rank 3 keeps {CHAIN[3]}", "would hold 62"],
    "overlap-example": [
        f"`recv` blocks for {MESSAGE} ms, and then the work, a matrix product, "
        f"takes {PRODUCT} ms: {MESSAGE + PRODUCT} ms in all",
        f"returns: {max(MESSAGE, PRODUCT)} ms",
    ],
    "stages-example": [
        f"{12 * 10} ms of forward passes",
        f"{12 * 20} ms of backward passes",
        f"That makes {naive_step(12, 3, 10 * ms, 5 * ms)[0] / ms:.0f} ms",
        f"40 + 80 = {_working(1):.0f} ms, or {100 * naive_step(12, 3, 10 * ms, 5 * ms)[1]:.0f} percent",
    ],
    "rounds-example": [f"{WORDS[len(play_rounds(ring_programs('parity', 4))[0])]} rounds"],
    "cost-example": [
        f"{1 * KB / BANDWIDTH / us:g} µs for its bytes",
        f"takes 10 µs and {1 * MB / BANDWIDTH / us:g} µs",
        f"1 GB takes 10 µs and {1 * GB / BANDWIDTH / ms:g} ms",
    ],
    "relay-example": [
        f"In four chunks it takes {WORDS[len(relay_states(4, 4)) - 1]} steps",
        {0.5: "half the time"}[relay_time(1, 3, 4, 1.0) / WHOLE],
        f"take {100 * relay_time(1, 3, 100, 1.0):.0f} steps, "
        "each with a hundredth of the tensor: about a third of the time",
    ],
}


DEEPER = {
    "dtype-example": [f"{128 * 2**23:,}"],
    "chunks-example": [
        f"that is {_relay(1)}",
        f"5 steps of {message_time(1 * MB / 3, 50 * GB, 5 * us) / us:.1f} µs, that is {_relay(3)}",
        f"about {(2 * 20 / 5) ** 0.5:.1f}",
    ],
    "idle-example": [
        f"The step takes {naive_step(8, 4, 5 * ms, 2 * ms)[0] / ms:.0f} ms",
        f"works for {8 * 5 * 3 / 4:.0f} of them, or {100 * naive_step(8, 4, 5 * ms, 2 * ms)[1]:.0f} percent",
    ],
}

FOUND = examples("02-point-to-point")
FOUND_DEEPER = examples("deeper/02-point-to-point-deeper")


@pytest.mark.parametrize("name", DEEPER)
def test_the_numbers_of_an_example_of_the_deeper_page(name):
    assert missing(FOUND_DEEPER[name], DEEPER[name]) == []
    assert FOUND_DEEPER.keys() == DEEPER.keys()


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []
    assert abs(relay_time(1, 3, 100, 1.0) / WHOLE - 1 / 3) < 0.01


def test_every_example_with_a_number_is_computed():
    assert FOUND.keys() - COMPUTED.keys() == {"wait-example"}
