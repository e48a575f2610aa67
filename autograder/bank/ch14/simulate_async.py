"""Chapter 14: ``simulate_async``, asynchronous rollout."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _responses(rng: Random, least: int = 6, most: int = 30) -> list[int]:
    return [rng.choice((rng.randint(1, 4), rng.randint(1, 40))) for _ in range(rng.randint(least, most))]


def _times(rng: Random) -> tuple[float, float, float]:
    """Seconds of a token, of a step, of a transfer: exact in binary."""
    return rng.choice((0.25, 0.5, 1.0)), rng.randint(1, 24) / 4, rng.randint(1, 8) / 8


def _job(rng: Random) -> Case:
    return Case((_responses(rng), rng.randint(2, 8), rng.randint(2, 5), *_times(rng), rng.randint(1, 4)))


def _synchronous(rng: Random) -> Case:
    batch = rng.randint(2, 5)
    return Case((_responses(rng), batch + rng.randint(-1, 2), batch, *_times(rng), 0))


def _meeting(rng: Random) -> Case:
    """Whole seconds everywhere: responses and steps end at the same instants."""
    lengths = [rng.choice((1, 1, 1, 2)) for _ in range(rng.randint(4, 9))]
    batch = rng.randint(2, 4)
    return Case(([1] * 3 * batch + lengths, batch, batch, 1.0, 1.0, 0.0, rng.randint(2, 3)))


def _no_duration(rng: Random) -> Case:
    """Steps that take no time: the version rises before anything starts."""
    batch = rng.randint(2, 4)
    slots, ahead = rng.randint(1, batch), rng.randint(1, 3)  # so that a response may start at that instant
    return Case((_responses(rng, 4 * batch, 6 * batch), slots, batch, 0.5, 0.0, 0.0, ahead))


def _straggler(rng: Random) -> Case:
    lengths = [rng.randint(20, 60), *[1] * rng.randint(12, 20)]
    return Case((lengths, rng.randint(2, 3), 2, 0.5, 0.5, 0.25, rng.randint(1, 3)))


def _small(rng: Random) -> list[Case]:
    few = [rng.randint(1, 9) for _ in range(3)]
    return [
        Case(([], 2, 2, 1.0, 1.0, 0.5, 1)),
        Case((few, 4, 5, 1.0, 1.0, 0.5, 1)),
        Case((few, 1, 1, 1.0, 1.0, 0.5, 2)),
    ]


EXERCISE = Build(
    "14 rlhf_schedule.simulate_async",
    section="14.22",
    bonus=True,
    topic="asynchronous rollout",
    cases=(
        Case(([1] * 8, 2, 2, 1, 1, 0, 0)),
        Case(([1] * 8, 2, 2, 1, 1, 0, 1)),
        Case(([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 0)),
        Case(([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 1)),
        Case(([9] + [1] * 11, 2, 2, 1, 1, 0, 1)),
        Case(([3, 1, 2], 2, 2, 1, 1, 0.5, 1)),
        Case(([1, 1, 40], 3, 2, 1, 1, 0.5, 1)),
    ),
    groups=(
        Group("jobs", _job, 6, "Follow the first responses by hand: who starts, who finishes, what the trainer takes."),
        Group("bound 0", _synchronous, 3, "With bound 0 nothing starts before the batch before is trained."),
        Group(
            "at one instant",
            _meeting,
            4,
            "What ends comes first, then the trainer, then what starts; a step may take no time.",
            lambda rng: [_no_duration(rng)],
        ),
        Group("stragglers", _straggler, 3, "The trainer takes what has finished; a straggler comes late, and stale."),
        listed("few responses", _small, "No response, or less than a batch."),
    ),
    slips=(
        Slip(
            "Staleness is counted for each response; the bound limits how far production runs ahead.",
            edit=("tuple(version - born[response] for response in taken)", "(max_staleness,) * batch"),
        ),
        Slip(
            "The trainer waits for the responses in their order: a straggler blocks all others.",
            edits=(
                ("len(queue) >= batch:", "set(range(len(steps) * batch, (len(steps) + 1) * batch)) <= set(queue):"),
                (
                    "taken, queue = queue[:batch], queue[batch:]",
                    "taken = range(len(steps) * batch, (len(steps) + 1) * batch)\n"
                    "            queue = [response for response in queue if response not in taken]",
                ),
            ),
        ),
        Slip(
            "A response has the version with which it started, not the one at which it finished.",
            edit=(
                "queue.append(heapq.heappop(running)[1])",
                "queue.append(heapq.heappop(running)[1])\n            born[queue[-1]] = version",
            ),
        ),
        Slip(
            "A step ends when the new weights have arrived: training and transfer.",
            edit=("now + train_time + sync_time", "now + train_time"),
        ),
        Slip(
            "With bound 0 the first batch must be allowed to start: bound + version + 1.",
            edit=(
                "min(len(lengths), (max_staleness + version + 1) * batch)",
                "min(len(lengths), (max_staleness + version) * batch)",
            ),
        ),
        Slip(
            "Nothing holds the rollout back: the bound is not used.",
            edit=("min(len(lengths), (max_staleness + version + 1) * batch)", "len(lengths)"),
        ),
        Slip(
            "What fills no batch is not trained.",
            edit=(
                "len(queue) >= batch:",
                "queue and (len(queue) >= batch or (not running and len(born) == len(lengths))):",
            ),
        ),
        Slip(
            "A free slot takes the next response at once; it does not wait for the others.",
            edit=(
                "while len(born) < allowed and len(running) < slots:",
                "fresh = 0 if not running else slots\n"
                "        while len(born) < allowed and fresh < slots:\n"
                "            fresh += 1",
            ),
        ),
        Slip(
            "A step that ends now raises the version before anything starts now.",
            edit=(
                "        if step_end is not None and step_end <= now:\n",
                "        allowed = min(len(lengths), (max_staleness + version + 1) * batch)\n"
                "        while len(born) < allowed and len(running) < slots:\n"
                "            finish = now + lengths[len(born)] * token_time\n"
                "            heapq.heappush(running, (finish, len(born)))\n"
                "            spans.append((now, finish))\n"
                "            born.append(version)\n"
                "        if step_end is not None and step_end <= now:\n",
            ),
        ),
        Slip(
            "`busy` counts every response until the last step ends, trained or not.",
            edits=(
                (
                    "    step_end: float | None = None\n",
                    "    step_end: float | None = None\n    trained: list[int] = []\n",
                ),
                (
                    "taken, queue = queue[:batch], queue[batch:]",
                    "taken, queue = queue[:batch], queue[batch:]\n            trained += taken",
                ),
                (
                    "sum(max(0.0, min(end, total) - start) for start, end in spans)",
                    "sum(spans[response][1] - spans[response][0] for response in trained)",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "busy less what comes after the end",
            edit=(
                "sum(max(0.0, min(end, total) - start) for start, end in spans)",
                "math.fsum((end - start) - max(0.0, end - max(start, total)) for start, end in spans)",
            ),
        ),
        Right(
            "times of a step summed first",
            edit=("step_end = now + train_time + sync_time", "step_end = now + (sync_time + train_time)"),
        ),
    ),
    promises=(
        Promise(
            "ties by their order",
            edits=(
                ("heapq.heappush(running, (finish, len(born)))", "heapq.heappush(running, (finish, -len(born)))"),
                ("heapq.heappop(running)[1]", "-heapq.heappop(running)[1]"),
            ),
        ),
        Promise(
            "seconds in which the new weights reach the rollout, after each step",
            edit=("now + train_time + sync_time", "now + train_time"),
        ),
        Promise("raises the version before anything starts", edit=("if step_end == now:", "if not steps:")),
    ),
)
