"""What goes wrong with graphs, run on the CPU: each mistake, what came out, and what was wanted.

python -m demos graph_pitfalls
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict

#: What comes out of the mistakes that are silent.
SILENT = {
    "replay without a copy": "[1.0, 1.0]",
    "a new tensor for the output": "[0.0, 0.0]",
    "an answer that is not copied out": "[5.0, 5.0]",
    "an `if` on the host's copy": "[-2.0, -2.0]",
    "one row into three": "[11.0, 11.0, 11.0]",
}


def kept_apart(code: str) -> bool:
    """Whether the runner of the exercise copies in and out: each input has its own answer, and keeps it."""
    import torch

    runner = part(code, "ch10.graph_runner", "GraphRunner")(lambda x: 2 * x + 1, [2, 4], 2)
    answers = [runner.run(torch.full((2, 2), value)) for value in (1.0, 2.0, 3.0)]
    return [answer[0, 0].item() for answer in answers] == [3.0, 5.0, 7.0]


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    asked = options.parse_args(argv)
    from experiments.ch10 import dispatch_runs

    seen = [pitfall() for pitfall in dispatch_runs.PITFALLS]
    show(asked, Table(("mistake", "came out", "wanted"), [(one.name, one.got, one.wanted) for one in seen]))
    right = {one.name: one.got for one in seen if one.name in SILENT} == SILENT
    good = kept_apart(asked.code)
    return verdict(right and good, "every mistake gives what the chapter says, and the runner makes none of them")


if __name__ == "__main__":
    sys.exit(main())
