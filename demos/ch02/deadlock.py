"""A real deadlock: ranks wait for each other until a deadline. Here the deadlock counts as success, with status 0.

send-send: the two ranks of each pair swap messages, and both send first. wrong-source: rank 1 receives from a rank that
does not send. ring: every rank sends to its right neighbor first.

python -m demos deadlock --pattern ring --ranks 4 --deadline 3
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02.blocking_rings import ring_programs, run_program, stuck
from rankzero import world

PATTERNS = ("send-send", "wrong-source", "ring")


def programs(pattern: str, ranks: int) -> list[list[tuple[str, int]]]:
    """What every rank calls."""
    if pattern == "ring":
        return ring_programs("all_send", ranks)
    if pattern == "wrong-source":
        return [[("send", 1)], [("recv", 2)], *([] for _ in range(max(ranks, 3) - 2))]
    return [[("send", rank ^ 1), ("recv", rank ^ 1)] if rank ^ 1 < ranks else [] for rank in range(ranks)]


def _call(call: tuple[str, int] | None) -> str:
    if call is None:
        return "has finished"
    return f"waits in {call[0]} {'to' if call[0] == 'send' else 'from'} {call[1]}"


def _picture(blocked: dict[int, tuple[str, int]], ranks: int):
    from rankzero.figures import diagrams

    return diagrams.wait_graph(blocked, ranks)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--pattern", choices=PATTERNS, default="send-send")
    options.add_argument("--ranks", type=whole(2, 8), default=2)
    options.add_argument("--deadline", type=whole(1, 60), default=3, help="seconds")
    arguments = options.parse_args(argv)
    calls = programs(arguments.pattern, arguments.ranks)
    ranks, blocked = len(calls), {}
    predicted = part(arguments.code, "ch02.deadlock", "simulate")(calls)[1]
    try:
        world.run(run_program, calls, ranks=ranks, timeout=0.7 if arguments.quick else arguments.deadline)
    except world.WorldError as error:
        print(f"{error}\n")
        blocked = stuck(error)
    rows = [(rank, _call(predicted.get(rank)), _call(blocked.get(rank))) for rank in range(ranks)]
    show(arguments, Table(("rank", "the simulator says", "the real rank"), rows), lambda: _picture(blocked, ranks))
    return verdict(bool(blocked) and blocked == predicted, "ranks are stuck exactly where the simulator says")


if __name__ == "__main__":
    sys.exit(main())
