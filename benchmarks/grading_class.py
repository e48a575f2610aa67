"""How fast a class is graded: ``python -m benchmarks.grading_class``.

The closed-form functions of chapter 3, handed in by many learners: the reference, a part of it, or one with a slip,
each file with a comment of its own. Two workers, every layer that works, and all files that `grade-class` writes.

- submissions a second in a class of 500;
- what one costs in a class of 2,000, over what it costs in one of 20;
- what the others take when one of them never ends, over what they take without it.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder import bank
from autograder.classroom import storage
from autograder.classroom.classes import grade_class
from autograder.classroom.collecting import collect
from autograder.classroom.graded import Graded
from autograder.classroom.worker import Spec
from autograder.sandbox import Sandbox
from benchmarks._rows import Row, arguments, finish

ROOT = Path(__file__).parents[1]
ITEMS = tuple(item.id for item in bank.builds() if item.id.startswith("03-") and item.grade == "call")
SPEC = Spec(ITEMS, b"benchmark", level="best")
WORKERS = 2
#: What is aimed at: submissions a second; cost in a large class over a small one.
LEAST_RATE, MOST_GROWTH, MOST_SHARE = 60.0, 1.2, 1.1

ASKING = "asking one, of a worker's time for it"

#: Lines of the reference, and what a learner may have in their place.
SLIPS = (("2 * (ranks - 1)", "(ranks - 1)"), ("(ranks - 1) / ranks", "1"), ("raise ValueError", "print"))
ENDLESS = "\n\ndef ring_all_reduce_time(*_, **__):\n    while True:\n        pass\n"


def homework() -> list[str]:
    """Different submissions: the whole reference, with a slip, and in part."""
    modules = sorted({bank.find(name).file for name in ITEMS})
    future = "from __future__ import annotations\n"
    sources = [(ROOT / "solutions" / name).read_text(encoding="utf-8").replace(future, "") for name in modules]
    sources = [re.sub(r"^from \.\w+ import .*$", "", source, flags=re.MULTILINE) for source in sources]
    whole = future + "\n".join(sources[::-1])
    return [whole, *(whole.replace(*slip) for slip in SLIPS), future + sources[0], future + sources[-1]]


def class_of(count: int, folder: Path, endless: bool = False) -> Path:
    """A folder with that many submissions."""
    folder.mkdir()
    kinds = homework()
    for number in range(count):
        text = f"{kinds[number % len(kinds)]}\n# handed in by learner {number}\n"
        (folder / f"learner{number:05}.py").write_text(text + ENDLESS * (endless and number == 0), encoding="utf-8")
    return folder


def graded(folder: Path, out: Path, spec: Spec = SPEC) -> tuple[float, list[Graded]]:
    """Seconds for a class, and its rows."""
    start = time.perf_counter()
    rows = grade_class(collect(folder), spec, storage.Folder(out), workers=WORKERS)
    return time.perf_counter() - start, rows


def asking(rows: Sequence[Graded]) -> float:
    """Median seconds that a submission was asked; the first, which may be endless, aside."""
    return statistics.median(row.grading.seconds for row in rows[1:])


def scores(rows: Sequence[Graded]) -> list[float]:
    """The points of each row."""
    return [row.grading.score for row in rows]


def measured(folder: Path, middle: int, large: int) -> dict[str, Any]:
    """All figures. The first class is not counted: it computes what is expected of all others."""
    graded(class_of(20, folder / "20"), folder / "first")
    small = [graded(folder / "20", folder / f"small{turn}")[0] / 20 for turn in range(9)]
    seconds, rows = graded(class_of(middle, folder / "middle"), folder / "middle-out")
    most = graded(class_of(large, folder / "large"), folder / "large-out")[0] / large
    _, without = graded(class_of(100, folder / "100"), folder / "100-out")
    ending, beside = graded(class_of(100, folder / "endless", endless=True), folder / "endless-out")
    return {
        "items": len(ITEMS),
        "submissions": len(rows),
        "different scores": len(set(scores(rows))),
        "a second": round(middle / seconds, 1),
        ASKING: round(asking(rows) * middle / (seconds * WORKERS), 2),
        "a second, aimed at": LEAST_RATE,
        f"one of {large} over one of 20": round(most / statistics.median(small), 2),
        "growth aimed at": MOST_GROWTH,
        "with an endless one: seconds for 100": round(ending, 2),
        "the others' time beside it over without": round(asking(beside) / asking(without), 2),
        "the others' scores are the same": [r.grading.score for r in beside[1:]]
        == [r.grading.score for r in without[1:]],
        "share aimed at": MOST_SHARE,
    }


def rows(row: dict[str, Any], large: int) -> list[Row]:
    """How fast, whether it stays as fast, and whether one disturbs the others."""
    return [
        Row(
            f"submissions a second, class of {row['submissions']}, {row['items']} functions, {WORKERS} workers",
            *(row["a second"], "1/s"),
            fair="Sandboxed, with every file of a class written: reports, pages and tables.",
            least=LEAST_RATE,
            missed_by=f"Asking it in the sandbox takes {row[ASKING]:.0%} of a worker's time for one; the rest is its "
            "files, its pages and what is kept of it.",
        ),
        Row(
            f"time of one in a class of {large:,}",
            *(row[f"one of {large} over one of 20"], "x", "one in a class of 20", 1.0),
            fair="The same kinds of submissions.",
            most=MOST_GROWTH,
        ),
        Row(
            "time of the others beside one that never ends",
            *(row["the others' time beside it over without"], "x", "without it", 1.0),
            fair=f"The same {100} submissions but for one; their scores are "
            + ("the same." if row["the others' scores are the same"] else "NOT the same."),
            most=MOST_SHARE,
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--middle", type=int, default=500)
    parser.add_argument("--large", type=int, default=2000)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        row = measured(Path(folder), options.middle, options.large)
    print(json.dumps({"sandbox": Sandbox.measure("best").line, **row}, indent=1))
    return finish(rows(row, options.large), options)


if __name__ == "__main__":
    sys.exit(main())
