"""Section 1.4, How processes find each other: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip

QUESTIONS = (
    Choice(
        id="01-no-launcher",
        kind="debug",
        title="Two machines and no launcher",
        section="1.4",
        options=(
            "both train alone, and nothing fails",
            "both fail at once: the variables are not set",
            "both wait for the other until the timeout",
            "the second to start finds the port taken",
        ),
        correct=0,
        derivation="A variable that is not set takes its default, so each process is rank 0 of 1. It waits for nobody, "
        "averages with nobody and ends with a model of its own.",
        slips={
            1: "`os.environ[...]` would raise an error; `get` with a default does not.",
            2: "Nobody waits: with a world size of 1, a process is complete by itself.",
            3: "Each opens its store on its own machine, and no port is taken there.",
        },
    ),
    Question(
        id="01-failed-starts",
        kind="debug",
        title="Four starts that fail",
        section="1.4",
        parts=(
            Part(
                "cause of the messages of run A",
                "",
                lambda: 3,
                tolerance=0,
                slips=(
                    Slip("Then only rank 0 itself would have joined: one of three.", value=1),
                    Slip("Then all three would have joined: the store counts processes, not different ranks.", value=2),
                    Slip("Then two processes would find the port taken, and one would wait alone.", value=4),
                ),
            ),
            Part(
                "cause of the messages of run B",
                "",
                lambda: 1,
                tolerance=0,
                slips=(
                    Slip("All three would reach the store then. Here two cannot connect to it.", value=2),
                    Slip("Then rank 1 would reach the store, and two of three would have joined.", value=3),
                    Slip("A process that thinks it is rank 0 connects to nobody: it opens a store.", value=4),
                ),
            ),
            Part(
                "cause of the messages of run C",
                "",
                lambda: 4,
                tolerance=0,
                slips=(
                    Slip("The others would try to connect then. These two tried to listen, as rank 0 does.", value=1),
                    Slip("Only a process with rank 0 opens a store; a second rank 1 connects to it.", value=2),
                    Slip("A process that was never started takes no port.", value=3),
                ),
            ),
            Part(
                "cause of the messages of run D",
                "",
                lambda: 2,
                tolerance=0,
                slips=(
                    Slip("Then ranks 1 and 2 would not have got as far as reading keys: they reach no store.", value=1),
                    Slip("Then rank 0 would still be counting the processes that join.", value=3),
                    Slip("Then two processes would find the port taken.", value=4),
                ),
            ),
        ),
        derivation="Rank 0 opens the store and counts who joins. A process that was never started leaves the count one "
        "short. The other waits for the key of rank 0, which is not written before all have joined. With a wrong "
        "address nobody else joins, and each process says which address it tried. Three processes that all think they "
        "are rank 0 want to listen at one port, and the system gives it to one of them. Two processes with the same "
        "rank are counted as two, so all have joined. Then all wait for the key of the rank that nobody has.",
    ),
)
