"""Section 1.2, Processes, and why not threads: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-why-processes",
        kind="trace",
        title="One process per device",
        section="1.2",
        options=(
            "because they run Python in parallel, and a crash kills only one",
            "because the lock keeps two threads from multiplying matrices at once",
            "because the threads of one process cannot use different devices",
            "because tensors move faster between processes than between threads",
        ),
        correct=0,
        derivation="Matrix products, backward passes and communication release the interpreter's lock, so threads do "
        "overlap in them. What stays serial is the Python that starts them. A process has an interpreter and a memory "
        "of its own, so a crash kills only that process directly. And each process can run on any machine.",
        slips={
            1: "A matrix product releases the lock while it computes, so two threads do overlap there.",
            2: "One process can use all devices of its node. Older data-parallel code did, with threads.",
            3: "Threads share the host's memory and need no copy there: that is an argument for threads.",
        },
    ),
)
