"""Chapter 12: returns and values."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

UNCHECKED = "Bad input was accepted, or raised another error than ValueError: {}."

# --- discounted_returns


def slip_from_the_start(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    weighted = [discount**t * reward for t, reward in enumerate((*rewards, bootstrap))]
    return [sum(weighted[t:]) for t in range(len(rewards))]


def slip_bootstrap_undiscounted(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    found: list[float] = []
    for reward in reversed(rewards):
        found.append(reward + (discount * found[-1] if found else bootstrap))
    return found[::-1]


def slip_whole_episode(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    following = bootstrap
    for reward in reversed(rewards):
        following = reward + discount * following
    return [following] * len(rewards)


def slip_forwards(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    found, before = [], bootstrap
    for reward in rewards:
        before = reward + discount * before
        found.append(before)
    return found


def slip_last_first(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    found, following = [], bootstrap
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found


def slip_no_bootstrap(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    found, following = [], 0.0
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found[::-1]


def slip_without_own_reward(rewards, discount, bootstrap=0.0):
    if not 0 <= discount <= 1:
        raise ValueError("discount")
    found, following = [], bootstrap
    for reward in reversed(rewards):
        found.append(following)
        following = reward + discount * following
    return found[::-1]


def slip_any_discount(rewards, discount, bootstrap=0.0):
    found, following = [], bootstrap
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found[::-1]


def _rewards(rng: Random, low: int, high: int) -> list[float]:
    return [round(rng.uniform(-3, 3), 3) for _ in range(rng.randint(low, high))]


def _episode(rng: Random) -> Case:
    return Case((_rewards(rng, 4, 30), round(rng.uniform(0.6, 0.99), 3)))


def _cut_off(rng: Random) -> Case:
    return Case((_rewards(rng, 3, 20), round(rng.uniform(0.6, 0.99), 3), round(rng.uniform(1, 20), 2)))


def _edges(rng: Random) -> list[Case]:
    return [
        Case(([], 0.9, 3.0)),
        Case((_rewards(rng, 5, 9), 0, 4.0)),
        Case((_rewards(rng, 5, 9), 1, 4.0)),
        Case((_rewards(rng, 200, 200), 0.99)),
    ]


RETURNS = Build(
    id="12-discounted-returns",
    module="rl",
    function="discounted_returns",
    grade="call",
    section="12.3",
    topic="returns",
    cases=(
        Case(([0, 0, 1], 0.9)),
        Case(([1, 0, 2], 0.9)),
        Case(([1] * 5, 1)),
        Case(([1, 1, 1], 0.99, 10)),
        Case(([1] * 500, 0.99)),
        invalid([1, 2], 1.5),
    ),
    groups=(
        Group("episodes that end", _episode, 6, "Each step sees what comes after it, a step's discount later."),
        Group("episodes that are cut off", _cut_off, 5, "The bootstrap is the return after the last step."),
        Group("edges", lambda rng: rng.choice(_edges(rng)), 4, "No step, discounts of 0 and 1, many steps.", _edges),
        Group(
            "bad input",
            lambda rng: invalid([1.0, 2.0], rng.choice((-1, 1)) * rng.uniform(1.01, 3)),
            3,
            "A discount is from 0 to 1; else ValueError.",
        ),
    ),
    slips=(
        Slip("The discount counts from the step that looks, not from the start of the episode.", slip_from_the_start),
        Slip("The bootstrap is one step after the last reward: it is discounted, too.", slip_bootstrap_undiscounted),
        Slip(
            "That is the first step's return at every step: a step has earned only what came after it.",
            slip_whole_episode,
        ),
        Slip("That adds up what came before each step; a return is what comes after it.", slip_forwards),
        Slip("Computed from behind, the returns stand the wrong way round: turn the list.", slip_last_first),
        Slip("An episode that was cut off goes on: the bootstrap stands for the rest.", slip_no_bootstrap),
        Slip("A step's own reward belongs to its return.", slip_without_own_reward),
        Slip(UNCHECKED.format("a discount outside [0, 1]"), slip_any_discount),
    ),
)

# --- policy_value


def slip_transposed(transitions, rewards, discount):
    n = len(rewards)
    if len(transitions) != n or any(len(row) != n or min(row) < 0 or sum(row) > 1 + 1e-9 for row in transitions):
        raise ValueError("transitions")
    left = {s for s in range(n) if sum(transitions[s]) > 1 - 1e-9}
    for _ in range(n):
        left = {s for s in left if not any(p > 0 and to not in left for to, p in enumerate(transitions[s]))}
    if not 0 <= discount <= 1 or (discount == 1 and left):
        raise ValueError("discount")
    rows = [[(s == t) - discount * transitions[t][s] for t in range(n)] + [rewards[s]] for s in range(n)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda row: abs(rows[row][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        if rows[c][c] == 0:
            return [0.0] * n
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for s in range(n):
            if s != c:
                rows[s] = [a - rows[s][c] * b for a, b in zip(rows[s], rows[c], strict=True)]
    return [row[n] for row in rows]


def slip_one_sweep(transitions, rewards, discount):
    n = len(rewards)
    if len(transitions) != n or any(len(row) != n or min(row) < 0 or sum(row) > 1 + 1e-9 for row in transitions):
        raise ValueError("transitions")
    left = {s for s in range(n) if sum(transitions[s]) > 1 - 1e-9}
    for _ in range(n):
        left = {s for s in left if not any(p > 0 and to not in left for to, p in enumerate(transitions[s]))}
    if not 0 <= discount <= 1 or (discount == 1 and left):
        raise ValueError("discount")
    return [rewards[s] + discount * sum(p * r for p, r in zip(transitions[s], rewards, strict=True)) for s in range(n)]


def slip_no_discount(transitions, rewards, discount):
    n = len(rewards)
    if len(transitions) != n or any(len(row) != n or min(row) < 0 or sum(row) > 1 + 1e-9 for row in transitions):
        raise ValueError("transitions")
    left = {s for s in range(n) if sum(transitions[s]) > 1 - 1e-9}
    for _ in range(n):
        left = {s for s in left if not any(p > 0 and to not in left for to, p in enumerate(transitions[s]))}
    if not 0 <= discount <= 1 or (discount == 1 and left):
        raise ValueError("discount")
    rows = [[(s == t) - transitions[s][t] for t in range(n)] + [rewards[s]] for s in range(n)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda row: abs(rows[row][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        if rows[c][c] == 0:
            return [0.0] * n
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for s in range(n):
            if s != c:
                rows[s] = [a - rows[s][c] * b for a, b in zip(rows[s], rows[c], strict=True)]
    return [row[n] for row in rows]


def slip_early_stop(transitions, rewards, discount):
    n = len(rewards)
    if len(transitions) != n or any(len(row) != n or min(row) < 0 or sum(row) > 1 + 1e-9 for row in transitions):
        raise ValueError("transitions")
    left = {s for s in range(n) if sum(transitions[s]) > 1 - 1e-9}
    for _ in range(n):
        left = {s for s in left if not any(p > 0 and to not in left for to, p in enumerate(transitions[s]))}
    if not 0 <= discount <= 1 or (discount == 1 and left):
        raise ValueError("discount")
    values, change = [0.0] * n, 1.0
    while change > 1e-2:
        new = [
            rewards[s] + discount * sum(p * v for p, v in zip(transitions[s], values, strict=True)) for s in range(n)
        ]
        change = max([0.0, *(abs(a - b) for a, b in zip(new, values, strict=True))])
        values = new
    return values


def slip_rows_to_one(transitions, rewards, discount):
    n = len(rewards)
    if len(transitions) != n or any(len(row) != n or min(row) < 0 or sum(row) > 1 + 1e-9 for row in transitions):
        raise ValueError("transitions")
    left = {s for s in range(n) if sum(transitions[s]) > 1 - 1e-9}
    for _ in range(n):
        left = {s for s in left if not any(p > 0 and to not in left for to, p in enumerate(transitions[s]))}
    if not 0 <= discount <= 1 or (discount == 1 and left):
        raise ValueError("discount")
    full = [[p / sum(row) if sum(row) else 0.0 for p in row] for row in transitions]
    rows = [[(s == t) - discount * full[s][t] for t in range(n)] + [rewards[s]] for s in range(n)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda row: abs(rows[row][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        if abs(rows[c][c]) < 1e-12:
            return [0.0] * n
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for s in range(n):
            if s != c:
                rows[s] = [a - rows[s][c] * b for a, b in zip(rows[s], rows[c], strict=True)]
    return [row[n] for row in rows]


def slip_any_chain(transitions, rewards, discount):
    n = len(rewards)
    rows = [[(s == t) - discount * transitions[s][t] for t in range(n)] + [rewards[s]] for s in range(n)]
    for c in range(n):
        pivot = max(range(c, n), key=lambda row: abs(rows[row][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        if rows[c][c] == 0:
            return [float("inf")] * n
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for s in range(n):
            if s != c:
                rows[s] = [a - rows[s][c] * b for a, b in zip(rows[s], rows[c], strict=True)]
    return [row[n] for row in rows]


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
        Case((tuple(tuple(float(t == s + 1) for t in range(size)) for s in range(size)), _sums(rng, size), 0.9)),
    ]


def _bad_chains(rng: Random) -> list[Case]:
    size = rng.randint(3, 5)
    good, sums = _chain(rng, size, 0.9), _sums(rng, size)
    endless = ((1.0, *(0.0,) * (size - 1)), *good[1:])
    return [
        invalid(good, sums[:-1], 0.9),
        invalid((*good[:-1], good[-1][:-1]), sums, 0.9),
        invalid(((1.0, 0.2, *(0.0,) * (size - 2)), *good[1:]), sums, 0.9),
        invalid(((-0.1, *good[0][1:]), *good[1:]), sums, 0.9),
        invalid(good, sums, 1.2),
        invalid(endless, sums, 1),
        invalid(((0.0, 1.0), (1.0, 0.0)), (1, 1), 1),
    ]


VALUES = Build(
    id="12-policy-value",
    module="rl",
    function="policy_value",
    grade="call",
    section="12.4",
    topic="values",
    cases=(
        Case((((0, 1, 0), (0, 0, 1), (0, 0, 0)), (0, 0, 1), 0.9)),
        Case((((0.5, 0.5), (0.2, 0.8)), (1, 0), 0.9)),
        Case((((0.5, 0.5), (0.2, 0.8)), (1, 0), 0.5)),
        Case((WALK, (0, 0, 0, 0, 0.5), 1)),
        invalid(((0.5, 0.5), (0.2, 0.8)), (1, 0), 1),
        invalid(((0.9, 0.2), (0, 0)), (1, 0), 0.9),
    ),
    groups=(
        Group("chains that never end", _never_ends, 4, "Row s holds the chances of the states after s."),
        Group("chains that may end", _may_end, 5, "What a row lacks to 1 is the chance that nothing more is earned."),
        Group("no discount", _undiscounted, 3, "With a discount of 1 the ends keep values finite."),
        Group(
            "edges",
            lambda rng: rng.choice(_chain_edges(rng)),
            4,
            "No state; steps that all end; discount 0.",
            _chain_edges,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_chains(rng)),
            7,
            "A square matrix of chances, rows of at most 1, and with discount 1 an end that can be reached; else "
            "ValueError.",
            _bad_chains,
        ),
    ),
    slips=(
        Slip("Row s is where s leads: the matrix stands transposed.", slip_transposed),
        Slip("That is one sweep from V = R: a value looks further than two steps.", slip_one_sweep),
        Slip("The discount is missing.", slip_no_discount),
        Slip("The sweeps stop too early: solve the system, or sweep until nothing moves.", slip_early_stop),
        Slip("A row that sums to less than 1 may end there: do not stretch it to 1.", slip_rows_to_one),
        Slip(
            UNCHECKED.format("sums above 1, negative chances, chains without an end and without a discount"),
            slip_any_chain,
        ),
    ),
)

ITEMS: tuple[Build, ...] = (RETURNS, VALUES)
