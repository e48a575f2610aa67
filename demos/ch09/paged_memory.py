"""One trace of requests stored two ways: contiguous reservations and blocks. Every slot of the memory is counted.

python -m demos paged_memory --trace chat --block 16 --save memory.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch09.memory_traces import KINDS, Contiguous, MemoryModel, Paged, play, requests

PARTS = ("tokens", "reserved", "inside", "outside", "free")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--trace", choices=sorted(KINDS), default="chat")
    options.add_argument("--block", type=whole(1, 512), default=16, help="tokens of a block")
    options.add_argument("--slots", type=whole(64, 10**5), default=2048, help="tokens that the memory holds")
    options.add_argument(
        "--limit", type=whole(1, 10**4), default=400, help="the longest answer, for which a reservation is made"
    )
    options.add_argument("--requests", type=whole(1, 500), default=36)
    options.add_argument("--seed", type=whole(0, 10**6), default=9)
    asked = options.parse_args(argv)
    trace = requests(asked.trace, 12 if asked.quick else asked.requests, asked.limit, asked.seed)
    longest = max(job.prompt for job in trace) + asked.limit
    blocks = asked.slots // asked.block
    if longest + 1 > blocks * asked.block:
        options.error(f"--slots must be at least {longest + asked.block + 1}: the longest request must fit")
    manager = part(asked.code, "ch09.block_manager", "BlockManager")(blocks, asked.block)
    paged = Paged(manager, blocks, asked.block)
    memories: dict[str, MemoryModel] = {"reserved": Contiguous(asked.slots), f"blocks of {asked.block}": paged}
    runs = {name: play(trace, memory) for name, memory in memories.items()}
    rows = [
        (name, run.steps, run.most, run.preempted, *(100 * run.shares()[share] for share in PARTS))
        for name, run in runs.items()
    ]

    def picture():
        from rankzero.figures.serving import Piece, memory_map

        fullest = {f"{name}, step {run.fullest.step}": run.fullest.strips for name, run in runs.items()}
        return memory_map({title: [Piece(*strip) for strip in strips] for title, strips in fullest.items()})

    tokens = sum(job.prompt + job.output for job in trace)
    over = "over the steps in which one waits (over all, if none ever does)"
    print(f"{len(trace)} requests, {tokens:,} tokens; shares of the memory (%), {over}\n")
    show(asked, Table(("memory", "steps", "most at once", "preempted", *PARTS), rows), picture)
    manager.check()
    given = {name: memories[name].slots for name in runs}
    counted = all(sum(m.parts.values()) == given[name] for name, run in runs.items() for m in run.moments)
    empty = sorted(manager.free_queue()) == list(range(blocks))
    return verdict(counted and empty, "each step counts every slot once, and at the end all blocks are free")


if __name__ == "__main__":
    sys.exit(main())
