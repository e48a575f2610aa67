"""The scheduler of three functions: what vLLM's tests expect, the same rules as one class, a pool that is shared."""

from __future__ import annotations

from random import Random

import pytest

from solutions.ch10.scheduler import Scheduler, admit, make_room, share_budget
from solutions.ch10.token_budget import TokenBudgetScheduler


def test_concurrent_partial_requests():
    """vLLM, tests/v1/core/test_scheduler.py: prompts of 800, a budget of 1,024, chunks of 400."""
    assert share_budget([], [800, 800, 800], 1024, 16, 400) == [400, 400, 224]
    assert share_budget([400, 400, 576], [], 1024, 16, 400) == [400, 400, 224]
    assert share_budget([1, 1, 352], [], 1024, 16, 400) == [1, 1, 352]


def test_a_budget_is_spent_to_its_last_token_and_in_order():
    rng = Random(1)
    for _ in range(500):
        running = [rng.randint(1, 20) for _ in range(rng.randint(0, 5))]
        waiting = [rng.randint(1, 40) for _ in range(rng.randint(0, 5))]
        budget, slots = rng.randint(1, 60), len(running) + rng.randint(0, 4) or 1
        units = [i for i, missing in enumerate([*running, *waiting[: slots - len(running)]]) for _ in range(missing)]
        spent = units[:budget]  # one token after the other
        assert share_budget(running, waiting, budget, slots) == [spent.count(i) for i in range(len(set(spent)))]


def test_rooms_by_hand():
    """Six blocks of four: x holds 3, y 2, z 1, and x needs a fourth: z goes. Nobody else: all stay."""
    assert make_room([3, 2, 1], [1, 0, 0], 0) == (2, 0)
    assert make_room([3, 2, 1], [0, 0, 1], 0) == (2, 1)  # z preempts itself
    assert make_room([3, 2, 1], [0, 0, 1], 1) == (3, 0)
    assert make_room([1, 1, 1], [2, 0, 0], 0) == (1, 0)


def test_no_block_is_lost_or_invented():
    rng = Random(2)
    for _ in range(2_000):
        held = [rng.randint(0, 5) for _ in range(rng.randint(1, 6))]
        need = [rng.choice((0, 0, 1, rng.randint(0, 4))) for _ in held]
        free = rng.randint(0, 4)
        going, left = make_room(held, need, free)
        assert free + sum(held) == left + sum(held[:going]) + sum(need[:going])
        fits = [n for n in range(len(held) + 1) if sum(need[:n]) <= free + sum(held[n:])]
        assert going == max(fits)  # nobody is preempted without need


def test_admission_by_hand():
    """Twelve blocks, ten of them held: a prompt of six waits, of two goes; nobody overtakes."""
    assert admit([(24, 0, 0)], 8, 2, 4) == []
    assert admit([(24, 0, 0), (8, 0, 0)], 8, 2, 4) == []
    assert admit([(8, 0, 0), (4, 0, 0)], 8, 2, 4) == [8]
    assert admit([(8, 0, 0), (4, 0, 0)], 16, 3, 4) == [8, 4]


def test_cached_tokens_cost_no_budget_and_shared_blocks_cost_no_memory():
    assert admit([(4000, 3904, 244)], 512, 6, 16) == [96]  # 250 blocks, 244 of them held by others
    assert admit([(4000, 3904, 0)], 512, 249, 16) == []  # cached, but held by nobody: they come out of the free ones
    assert admit([(4000, 3904, 0)], 512, 250, 16) == [96]
    assert admit([(4000, 0, 0)], 512, 250, 16) == [512]


def drawn(rng: Random):
    chunked = rng.random() < 0.75
    chunk = rng.choice((0, 0, rng.randint(1, 12))) if chunked else 0
    settings = (rng.randint(1, 64), rng.randint(1, 8), rng.randint(4, 40), rng.randint(1, 8), chunked, chunk)
    room = settings[2] * settings[3] if chunked else min(settings[2] * settings[3], settings[0])
    asked = [(f"r{number}", rng.randint(1, 60), rng.randint(1, 20)) for number in range(rng.randint(1, 8))]
    return settings, [(rng.choice((0, 0, rng.randint(0, 20))), *one) for one in asked if one[1] + one[2] - 1 <= room]


def test_it_decides_as_the_class_that_is_written_whole():
    """1,000 random traces, some requests end early: every pass, every queue, every free block is the same."""
    rng = Random(3)
    for _ in range(1_000):
        settings, requests = drawn(rng)
        two, gone = (Scheduler(*settings), TokenBudgetScheduler(*settings)), set()
        for number in range(4_000):
            early = rng.choice(two[1].running) if two[1].running and rng.random() < 0.02 else None
            seen = []
            for scheduler in two:
                for arrival, *request in requests:
                    if arrival == number:
                        scheduler.add(*request)
                if early:
                    scheduler.finish(early)
                step = scheduler.schedule()
                state = (scheduler.preempted, scheduler.preemptions, scheduler.free_blocks)
                seen.append((step, *state, scheduler.running, scheduler.waiting, scheduler.update()))
            assert seen[0] == seen[1], settings
            gone |= {*seen[0][-1], early} - {None}
            if len(gone) == len(requests):
                break
        assert len(gone) == len(requests), settings


def test_schedule_and_update_alternate():
    scheduler = Scheduler(8, 2, 4, 4)
    with pytest.raises(RuntimeError, match="schedule comes first"):
        scheduler.update()
    assert scheduler.schedule() == []
    with pytest.raises(RuntimeError, match="update comes between"):
        scheduler.schedule()


def test_a_view_of_the_pool_is_asked():
    """Two blocks free, eight tokens of twelve cached and shared: the request begins at its ninth token."""

    class View:
        def free(self):
            return 2

        def own(self, request):
            return 1

        def cached(self, request):
            return 8, 2

    scheduler = Scheduler(8, 2, 10, 4)
    scheduler.pool = View()
    scheduler.add("a", 12, 5)
    assert (scheduler.schedule(), scheduler.update(), scheduler.schedule()) == ([("a", 4)], [], [("a", 1)])


def test_without_a_slot_nobody_is_let_in():
    """Kills a slice that counts from the end where more run than have a slot."""
    assert share_budget([1, 1, 1], [4, 4, 4], 50, 2) == [1, 1, 1]
    assert share_budget([1, 1], [4, 4], 50, 2) == [1, 1]
