"""Chapter 07: in which order the ranks of a pipeline work."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Slip


def _order(rng: Random, name: str, few: bool = False) -> Case:
    ranks = rng.randint(3, 8)
    if name == "interleaved":
        ranks = rng.randint(2, 5)
        return Case((name, ranks, ranks * rng.randint(1, 4), rng.randint(2, 4)))
    return Case((name, ranks, rng.randint(2, ranks - 1) if few else rng.randint(ranks + 1, 24)))


NAMES = ("gpipe", "1f1b", "zb-h1", "interleaved")


def _some_order(rng: Random) -> Case:
    return _order(rng, rng.choice(NAMES))


def _one_of_each(rng: Random) -> list[Case]:
    return [_order(rng, name) for name in (*NAMES, *NAMES, "interleaved")]


def _plain(rng: Random) -> list[Case]:
    return [_order(rng, "gpipe"), _order(rng, "1f1b"), _order(rng, "1f1b", few=True)]


def _chunked(rng: Random) -> list[Case]:
    return [_order(rng, "interleaved") for _ in range(3)]


def _halved(rng: Random) -> list[Case]:
    return [_order(rng, "zb-h1"), _order(rng, "zb-h1"), _order(rng, "zb-h1", few=True)]


def _few(rng: Random) -> list[Case]:
    return [_order(rng, name, few=True) for name in ("gpipe", "1f1b", "zb-h1")]


def _alone(rng: Random) -> list[Case]:
    cases = [Case((name, 1, rng.randint(1, 6))) for name in ("gpipe", "1f1b", "zb-h1")]
    return [*cases, Case(("interleaved", 1, rng.randint(1, 4), rng.randint(2, 3)))]


SCHEDULE = Build(
    id="07-pipeline-schedule",
    module="pipeline",
    function="pipeline_schedule",
    grade="call",
    section="7.16",
    bonus=True,
    topic="pipeline schedules",
    probe="ch07_schedules.timed",
    cases=(
        Case(("gpipe", 1, 2)),
        Case(("gpipe", 4, 8)),
        Case(("1f1b", 4, 6)),
        Case(("1f1b", 4, 8)),
        Case(("1f1b", 4, 2)),
        Case(("interleaved", 2, 4, 2)),
        Case(("interleaved", 4, 8, 2)),
        Case(("zb-h1", 3, 4)),
        Case(("zb-h1", 4, 8)),  # Qi et al., ZB-H1: idle (p - 1)(F + I - W)
    ),
    groups=(
        Group(
            "all four",
            _some_order,
            9,
            "The order of every rank must be legal, as fast as the schedule's own, and hold as few micro-batches.",
            _one_of_each,
        ),
        one_of_each(
            "fewer micro-batches than ranks", _few, "With fewer micro-batches than ranks the warm-up takes all of them."
        ),
        one_of_each("one rank", _alone, "One rank runs a schedule, too."),
        replace(
            one_of_each(
                "GPipe and 1F1B", _plain, "One chunk per rank and whole backwards: the two differ in the warm-up."
            ),
            step="GPipe and 1F1B",
        ),
        replace(
            one_of_each(
                "interleaved", _chunked, "A rank takes p micro-batches through one chunk, then through the next."
            ),
            step="interleaved",
        ),
        replace(
            one_of_each("ZB-H1", _halved, "Backwards are halves: rank r runs a W when more than r of them are due."),
            step="ZB-H1",
        ),
    ),
    slips=(
        Slip(
            "The warm-up is one forward too long: every rank holds one micro-batch more.",
            edits=(
                ("else min(microbatches, ranks - 1 - rank)", "else min(microbatches, ranks - rank)"),
                (
                    "    warm_up = min(microbatches, ranks - 1 - rank)\n",
                    "    warm_up = min(microbatches, ranks - rank)\n",
                ),
                ("(chunks - 1) * ranks))", "(chunks - 1) * ranks + 1))"),
            ),
        ),
        Slip(
            "Every rank warms up like rank 0, so that all hold p micro-batches: rank r needs p - 1 - r.",
            edits=(
                ("else min(microbatches, ranks - 1 - rank)", "else min(microbatches, ranks - 1)"),
                ("    warm_up = min(microbatches, ranks - 1 - rank)\n", "    warm_up = min(microbatches, ranks - 1)\n"),
                ("2 * (ranks - 1 - rank)", "2 * (ranks - 1)"),
            ),
        ),
        Slip(
            "The last backwards are missing: some are still due after the forwards run out.",
            edits=(
                ("append(_in_turn(", 'append(forwards + backwards if name == "gpipe" else _in_turn('),
                ("return order + list(second[len(first) - warm_up :])", "return order"),
                (
                    "_in_turn(inputs[microbatches - warm_up :], weights[done:], 0)",
                    "weights[done : microbatches - warm_up]",
                ),
            ),
        ),
        Slip(
            "The backwards of the chunks are in forward order: the gradient comes from the last chunk.",
            edit=("(chunks - 1 - chunk) * ranks", "chunk * ranks"),
        ),
        Slip(
            "With neighboring chunks on one rank the pipeline only gets longer: rank r holds r, r + p, r + 2p, ...",
            edits=(
                ("k % (ranks * chunks) // ranks, k // (ranks * chunks) * ranks + k % ranks", "k % chunks, k // chunks"),
                ("rank + chunk * ranks}", "rank * chunks + chunk}"),
                ("rank + (chunks - 1 - chunk) * ranks}", "rank * chunks + chunks - 1 - chunk}"),
                (
                    "_in_turn(forwards, backwards, min(len(forwards), 2 * (ranks - 1 - rank) + (chunks - 1) * ranks))",
                    "[\n"
                    "        one\n"
                    "        for turn in _in_turn(\n"
                    "            [forwards[k : k + chunks] for k in range(0, len(forwards), chunks)],\n"
                    "            [backwards[k : k + chunks] for k in range(0, len(backwards), chunks)],\n"
                    "            min(microbatches, ranks - 1 - rank),\n"
                    "        )\n"
                    "        for one in turn\n"
                    "    ]",
                ),
            ),
        ),
    ),
)

ITEMS = (SCHEDULE,)
