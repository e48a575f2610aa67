"""Chapter 12: ``policy_value``, values."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

#: Five states in a row, left and right with equal chances; leaving on the right earns 1.
WALK = (
    (0, 0.5, 0, 0, 0),
    (0.5, 0, 0.5, 0, 0),
    (0, 0.5, 0, 0.5, 0),
    (0, 0, 0.5, 0, 0.5),
    (0, 0, 0, 0.5, 0),
)


def _chain(rng: Random, size: int, kept: float) -> tuple[tuple[float, ...], ...]:
    """Rows that sum to ``kept`` or less; about a third of the entries are 0."""
    rows = []
    for _ in range(size):
        weights = [rng.randint(1, 9) * (rng.random() < 0.7) for _ in range(size)]
        weights[rng.randrange(size)] += 1
        share = kept * rng.uniform(0.8, 1)
        rows.append(tuple(share * weight / sum(weights) for weight in weights))
    return tuple(rows)


def _sums(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-3, 5), 2) for _ in range(size))


def _never_ends(rng: Random) -> Case:
    """Rows of sum 1."""
    size = rng.randint(3, 6)
    rows = tuple(tuple(p / sum(row) for p in row) for row in _chain(rng, size, 1))
    return Case((rows, _sums(rng, size), round(rng.uniform(0.5, 0.95), 3)))


def _may_end(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((_chain(rng, size, 0.95), _sums(rng, size), round(rng.uniform(0.5, 0.95), 3)))


def _undiscounted(rng: Random) -> Case:
    size = rng.randint(2, 12)
    return Case((_chain(rng, size, 0.9), _sums(rng, size), 1))


def _chain_edges(rng: Random) -> list[Case]:
    size = rng.randint(3, 6)
    return [
        Case(((), (), 0.9)),
        Case((((0.0,) * size,) * size, _sums(rng, size), 1)),
        Case((_chain(rng, size, 0.9), _sums(rng, size), 0)),
        Case((((0.5, 0.5 + 4e-10), (0.25, 0.5)), _sums(rng, 2), 0.9)),
        Case((tuple(tuple(float(t == s + 1) for t in range(size)) for s in range(size)), _sums(rng, size), 0.9)),
    ]


def policy_value_by_sweeps(transitions, rewards, discount):
    """Bellman sweeps until nothing changes any more."""
    states = range(len(rewards))
    values, change = [0.0] * len(rewards), 1.0
    for _ in range(100_000):
        new = [rewards[s] + discount * sum(transitions[s][to] * values[to] for to in states) for s in states]
        change = max((abs(a - b) for a, b in zip(new, values, strict=True)), default=0.0)
        values = new
        if change < 1e-15:
            break
    return values


def policy_value_by_a_library(transitions, rewards, discount):
    import numpy

    if not len(rewards):
        return []
    system = numpy.eye(len(rewards)) - discount * numpy.array(transitions, dtype=float)
    return numpy.linalg.solve(system, numpy.array(rewards, dtype=float)).tolist()


EXERCISE = Build(
    "12 rl.policy_value",
    section="12.12",
    bonus=True,
    topic="values",
    cases=(
        Case((((0, 1, 0), (0, 0, 1), (0, 0, 0)), (0, 0, 1), 0.9)),
        Case((((0.5, 0.5), (0.2, 0.8)), (1, 0), 0.9)),
        Case((((0.5, 0.5), (0.2, 0.8)), (1, 0), 0.5)),
        Case((WALK, (0, 0, 0, 0, 0.5), 1)),
    ),
    groups=(
        Group("chains that never end", _never_ends, 4, "Row s holds the probabilities of the states after s."),
        Group(
            "chains that may end", _may_end, 5, "What a row lacks to 1 is the probability that the episode ends there."
        ),
        Group("no discount", _undiscounted, 3, "With a discount of 1 the ends keep values finite."),
        listed(
            "edges", _chain_edges, "No state; steps that all end; discount 0; a row may miss the sum 1 by up to 1e-9."
        ),
    ),
    slips=(
        Slip(
            "Row s says where s leads: here the matrix is transposed.",
            edit=("discount * transitions[row][column]", "discount * transitions[column][row]"),
        ),
        Slip(
            "That is one sweep from V = R; the value of a state depends on more than two steps.",
            edit=(
                "_solved(rows)",
                (
                    "[rewards[s] + discount * sum(p * r for p, r in zip(transitions[s], rewards, "
                    "strict=True)) for s in range(size)]"
                ),
            ),
        ),
        Slip("The discount is missing.", edit=("discount * transitions[row][column]", "transitions[row][column]")),
        Slip(
            "The sweeps stop too early: solve the system, or sweep until nothing moves.",
            edit=(
                "    rows = [\n        [float(row == column)",
                (
                    "    values, change = [0.0] * size, 1.0\n"
                    "    while change > 1e-2:\n"
                    "        new = [\n"
                    "            rewards[s] + discount * sum(p * v for p, v in zip(transitions[s], "
                    "values, strict=True)) for s in range(size)\n"
                    "        ]\n"
                    "        change = max([0.0, *(abs(a - b) for a, b in zip(new, values, "
                    "strict=True))])\n"
                    "        values = new\n"
                    "    return values\n"
                    "    rows = [\n"
                    "        [float(row == column)"
                ),
            ),
        ),
        Slip(
            "A row that sums to less than 1 may end there: do not stretch it to 1.",
            edits=(
                (
                    "    rows = [\n        [float(row == column)",
                    "    transitions = [[p / (sum(row) or 1.0) for p in row] for row in transitions]\n"
                    "    rows = [\n        [float(row == column)",
                ),
                (
                    "        for row in range(column + 1, size):\n",
                    "        if abs(rows[column][column]) < 1e-12:\n"
                    "            return [0.0] * size\n"
                    "        for row in range(column + 1, size):\n",
                ),
            ),
        ),
    ),
    rights=(
        Right("sweeps", program=policy_value_by_sweeps),
        Right("a library's solver", program=policy_value_by_a_library),
    ),
    promises=(
        Promise("only if an episode that starts in any state ends sooner or later", why="what it is called with"),
        Promise("empty without states", edit=("[0.0] * size", "[0.0] * max(size, 1)")),
        Promise(
            "what a row lacks to 1 is the chance that the episode ends after s",
            edits=(("- discount * transitions[row][column]", "- discount * transitions[row][column] / _kept(row)"),)
            + (
                ("    size = len(rewards)\n", "    size, _kept = len(rewards), lambda s: sum(transitions[s]) or 1.0\n"),
            ),
        ),
    ),
)
