"""The ledger adds up what the events say, no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.events import Entry, Event, Ledger

events = st.lists(
    st.builds(
        Event,
        rank=st.integers(0, 3),
        operation=st.sampled_from(["send", "recv", "all_reduce"]),
        peers=st.just(()),
        sent=st.integers(0, 10**12),
        received=st.integers(0, 10**12),
    ),
    max_size=30,
)


@given(events)
def test_sums_over_entries_are_sums_over_events(log):
    ledger = Ledger(log, ranks=4)
    assert sum(entry.calls for entry in ledger.values()) == len(log)
    for rank in range(4):
        mine = [event for event in log if event.rank == rank]
        assert ledger.sent(rank) == sum(event.sent for event in mine)
        assert ledger.received(rank) == sum(event.received for event in mine)
        assert ledger.calls(rank) == len(mine)


@given(events, st.randoms())
def test_order_does_not_matter(log, random):
    shuffled = random.sample(log, len(log))
    assert dict(Ledger(log, 4)) == dict(Ledger(shuffled, 4))


@given(events)
def test_only_what_happened_is_in_it_and_in_order(log):
    ledger = Ledger(log, ranks=4)
    assert list(ledger) == sorted({(event.rank, event.operation) for event in log})
    assert ledger.operations == tuple(sorted({event.operation for event in log}))
    assert len(ledger) == len(list(ledger))


def test_a_ledger_reads_as_a_table():
    ledger = Ledger([Event(0, "send", (1,), 4096, 0), Event(1, "recv", (0,), 0, 4096)], ranks=2)
    assert ledger[0, "send"] == Entry(calls=1, sent=4096, received=0)
    assert str(ledger).splitlines() == [
        "rank  operation  calls   sent  received",
        "   0  send           1  4,096         0",
        "   1  recv           1      0     4,096",
    ]
    with pytest.raises(KeyError):
        ledger[0, "recv"]


def test_events_are_frozen():
    with pytest.raises(AttributeError):
        Event(0, "send", (1,), 1, 0).sent = 2
