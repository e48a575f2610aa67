"""Section 2.11, Who adds, and a chain that closes: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip


def down_the_chain(start: float, adds: list[bool], increment: float = 10) -> float:
    """A value after it has passed ranks of which some add."""
    for add in adds:
        start += increment * add
    return start


QUESTIONS = (
    Question(
        id="02-chain-relays-add",
        kind="derive",
        title="A chain in which only relays add",
        section="2.11",
        bonus=True,
        parts=(
            Part(
                "value on the last of 4 ranks",
                "",
                lambda: down_the_chain(42, [False, True, True, False]),
                tolerance=0,
                slips=(
                    Slip("Three ranks receive, but the last of them does not send, so it does not add.", value=72),
                    Slip("Rank 0 receives nothing and the last rank sends nothing, so neither of them adds.", value=82),
                ),
            ),
            Part(
                "value on the last of 10 ranks",
                "",
                lambda: down_the_chain(42, [False, *[True] * 8, False]),
                tolerance=0,
                slips=(
                    Slip("Nine ranks receive, but the last of them does not send, so it does not add.", value=132),
                    Slip(
                        "Rank 0 receives nothing and the last rank sends nothing, so neither of them adds.", value=142
                    ),
                ),
            ),
        ),
        derivation="The first rank does not receive and the last does not send. Of $W$ ranks, $W-2$ add: $42 + "
        "10\\,(W-2)$.",
    ),
    Question(
        id="02-full-circle",
        kind="derive",
        title="Once round a ring",
        section="2.11",
        bonus=True,
        parts=(
            Part(
                "value at home when rank 0 adds",
                "",
                lambda: down_the_chain(0, [True] * 4),
                tolerance=0,
                slips=(Slip("Rank 0 receives the number in the end, and adds as well.", value=30),),
            ),
            Part(
                "value at home when rank 0 does not add",
                "",
                lambda: down_the_chain(0, [True] * 3 + [False]),
                tolerance=0,
                slips=(Slip("Three ranks receive the number on the way. Rank 0 does not add.", value=40),),
            ),
        ),
        derivation="On a ring of $W$ ranks the number makes $W$ hops, so $W$ ranks receive it, the last of them rank "
        "0: $10\\,W$ when all add, $10\\,(W-1)$ when rank 0 does not.",
    ),
)
