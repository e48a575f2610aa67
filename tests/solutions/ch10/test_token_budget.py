"""The scheduler: what vLLM's tests expect, laws over random traces, a simulator that holds every block by number."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from solutions.ch10.token_budget import TokenBudgetScheduler

TRACES = 1_000


def run(scheduler: TokenBudgetScheduler, steps: int) -> list[list[tuple[str, int]]]:
    found = []
    for _ in range(steps):
        found.append(scheduler.schedule())
        scheduler.update()
    return found


# What vLLM expects in tests/v1/core/test_scheduler.py, restated.


def test_concurrent_partial_requests():
    """Three prompts of 800, a budget of 1,024, chunks of 400: the third takes what is left."""
    scheduler = TokenBudgetScheduler(1024, 16, 10_000, 16, max_chunk=400)
    for name in "123":
        scheduler.add(name, 800, 16)
    tokens = [[count for _, count in step] for step in run(scheduler, 3)]
    assert tokens == [[400, 400, 224], [400, 400, 224], [1, 1, 352]]


@pytest.mark.parametrize(("chunked", "step"), [(True, [("1", 800), ("2", 224)]), (False, [("1", 800)])])
def test_order(chunked, step):
    """A long prompt that does not fit whole lets nobody overtake."""
    scheduler = TokenBudgetScheduler(1024, 3, 10_000, 16, chunked_prefill=chunked)
    for name, prompt in zip("1234", (800, 800, 10, 10), strict=True):
        scheduler.add(name, prompt, 16)
    assert scheduler.schedule() == step


def test_preempt_during_execution():
    """Ten blocks hold two prompts of 80 and nothing more: the second leaves, and comes back with what it has said."""
    scheduler = TokenBudgetScheduler(160, 16, 10, 16)
    scheduler.add("a", 80, 4)
    scheduler.add("b", 80, 4)
    steps, gone, finished = [], [], []
    for _ in range(7):
        steps.append(scheduler.schedule())
        gone.append(scheduler.preempted)
        finished.append(scheduler.update())
    assert steps == [
        [("a", 80), ("b", 80)],
        *[[("a", 1)]] * 3,
        [("b", 81)],
        *[[("b", 1)]] * 2,
    ]
    assert gone == [[], ["b"], [], [], [], [], []]
    assert finished == [[], [], [], ["a"], [], [], ["b"]]
    assert (scheduler.preemptions, scheduler.free_blocks, scheduler.running) == (1, 10, [])


# Traces of the page.


def test_two_requests_by_hand():
    scheduler = TokenBudgetScheduler(8, 16, 6, 4)
    scheduler.add("x", 10, 3)
    scheduler.add("y", 3, 4)
    finished, steps = [], []
    for _ in range(5):
        steps.append(scheduler.schedule())
        finished.append(scheduler.update())
    assert steps == [[("x", 8)], [("x", 2), ("y", 3)], [("x", 1), ("y", 1)], [("x", 1), ("y", 1)], [("y", 1)]]
    assert finished == [[], [], [], ["x"], ["y"]]


def test_a_long_prompt_beside_a_stream():
    scheduler = TokenBudgetScheduler(512, 16, 10_000, 16)
    scheduler.add("d", 10, 100)
    run(scheduler, 3)
    scheduler.add("L", 4000, 5)
    assert run(scheduler, 9) == [*[[("d", 1), ("L", 511)]] * 7, [("d", 1), ("L", 423)], [("d", 1), ("L", 1)]]


# Its methods.


def test_schedule_and_update_alternate():
    scheduler = TokenBudgetScheduler(8, 2, 4, 4)
    with pytest.raises(RuntimeError, match="schedule comes first"):
        scheduler.update()
    assert scheduler.schedule() == []
    with pytest.raises(RuntimeError, match="update comes between"):
        scheduler.schedule()
    assert scheduler.update() == []


def test_add_during_a_step_only_queues():
    scheduler = TokenBudgetScheduler(8, 2, 4, 4)
    scheduler.add("a", 2, 2)
    assert scheduler.schedule() == [("a", 2)]
    scheduler.add("b", 2, 2)
    assert (scheduler.update(), scheduler.waiting, scheduler.running) == ([], ["b"], ["a"])
    assert scheduler.schedule() == [("a", 1), ("b", 2)]


def test_a_finished_name_is_new_again():
    scheduler = TokenBudgetScheduler(8, 2, 4, 4)
    scheduler.add("a", 2, 1)
    run(scheduler, 1)
    scheduler.add("a", 2, 1)
    assert scheduler.waiting == ["a"]


def test_what_can_never_be_served_is_refused_at_once():
    scheduler = TokenBudgetScheduler(16, 2, 4, 4)
    scheduler.add("fits", 10, 7)  # 16 tokens need KV, the last one does not
    for request in (("more", 10, 8), ("fits", 1, 1)):
        with pytest.raises(ValueError, match=r"must be|never fit"):
            scheduler.add(*request)
    whole = TokenBudgetScheduler(8, 2, 40, 4, chunked_prefill=False)
    whole.add("fits", 6, 3)
    with pytest.raises(ValueError, match="exceeds max_tokens"):
        whole.add("more", 6, 4)


def test_finish_takes_a_request_out_wherever_it_is():
    scheduler = TokenBudgetScheduler(8, 2, 4, 4)
    for name in "abc":
        scheduler.add(name, 3, 5)
    assert scheduler.schedule() == [("a", 3), ("b", 3)]
    scheduler.finish("a")  # in the middle of a step
    scheduler.finish("c")  # in the queue
    assert (scheduler.update(), scheduler.running, scheduler.waiting, scheduler.free_blocks) == ([], ["b"], [], 3)
    for name in ("a", "c", "nobody"):
        with pytest.raises(KeyError):
            scheduler.finish(name)


# The same rules once more, with blocks that have numbers and tokens that have positions.


class Machine:
    """A brute-force server. Each request has a list of tokens and a list of blocks; nothing is counted, all is held."""

    def __init__(self, max_tokens, max_sequences, blocks, block_size, chunked_prefill=True, max_chunk=0):
        self.budget, self.seats, self.size = max_tokens, max_sequences, block_size
        self.whole, self.chunk = not chunked_prefill, max_chunk
        self.pool = list(range(blocks))
        self.tokens, self.cached, self.blocks, self.left = {}, {}, {}, {}
        self.queue, self.seated = [], []

    def add(self, name, prompt, new):
        self.tokens[name], self.cached[name], self.blocks[name], self.left[name] = ["p"] * prompt, [], [], new
        self.queue.append(name)

    def place(self, name, count):
        """Blocks for ``count`` more tokens, or False and nothing taken."""
        taken = []
        while (len(self.blocks[name]) + len(taken)) * self.size < len(self.cached[name]) + count:
            if not self.pool:
                self.pool += taken
                return False
            taken.append(self.pool.pop())
        self.blocks[name] += taken
        return True

    def step(self):
        budget, plan, gone = self.budget, [], []
        for name in list(self.seated):
            if budget == 0 or name in gone:
                continue
            want = min(len(self.tokens[name]) - len(self.cached[name]), budget, self.chunk or budget)
            while not self.place(name, want):
                victim = self.seated.pop()
                self.pool += self.blocks[victim]
                self.blocks[victim], self.cached[victim] = [], []
                self.queue.insert(0, victim)
                gone.append(victim)
                if victim == name:
                    break
            if name in gone:
                break
            plan.append((name, want))
            budget -= want
        while not gone and self.queue and budget and len(self.seated) < self.seats:
            name = self.queue[0]
            if self.whole and len(self.tokens[name]) > budget:
                break
            if not self.place(name, len(self.tokens[name])):  # all of it, on trial
                break
            self.pool += self.blocks[name]
            self.blocks[name] = []
            want = min(len(self.tokens[name]), budget, self.chunk or budget)
            self.place(name, want)
            self.seated.append(self.queue.pop(0))
            plan.append((name, want))
            budget -= want
        finished = []
        for name, count in plan:
            start = len(self.cached[name])
            self.cached[name] += self.tokens[name][start : start + count]
            if len(self.cached[name]) == len(self.tokens[name]):
                self.tokens[name].append("g")
                self.left[name] -= 1
                if not self.left[name]:
                    finished.append(name)
                    self.seated.remove(name)
                    self.pool += self.blocks.pop(name)
        return plan, gone, finished


def drawn(rng: Random):
    """Settings, requests and the step in which each arrives."""
    chunked = rng.random() < 0.75
    chunk = rng.choice((0, 0, rng.randint(1, 12))) if chunked else 0
    settings = (rng.randint(1, 64), rng.randint(1, 8), rng.randint(4, 40), rng.randint(1, 8), chunked, chunk)
    requests = []
    for number in range(rng.randint(1, 8)):
        prompt, new = rng.randint(1, 60), rng.randint(1, 20)
        room = settings[2] * settings[3] if chunked else min(settings[2] * settings[3], settings[0])
        if prompt + new - 1 <= room:
            requests.append((rng.choice((0, 0, rng.randint(0, 20))), f"r{number}", prompt, new))
    return settings, requests


def test_the_brute_force_machine_and_the_laws():
    """1,000 random traces, each to its end."""
    rng = Random(1)
    preempted = 0
    for _ in range(TRACES):
        settings, requests = drawn(rng)
        scheduler, machine = TokenBudgetScheduler(*settings), Machine(*settings)
        computed, served = Counter(), set()
        for number in range(4_000):
            for arrival, *request in requests:
                if arrival == number:
                    scheduler.add(*request)
                    machine.add(*request)
            running = set(scheduler.running)
            plan = scheduler.schedule()
            assert sum(tokens for _, tokens in plan) <= settings[0]
            assert len({name for name, _ in plan}) == len(plan) <= settings[1]
            if not scheduler.preempted:  # who runs is never skipped
                assert running <= {name for name, _ in plan}
            elif plan:
                assert running - set(scheduler.preempted) <= {name for name, _ in plan}
            gone = scheduler.preempted
            finished = scheduler.update()
            assert (plan, gone, finished) == machine.step()
            assert scheduler.waiting == machine.queue
            assert scheduler.running == machine.seated
            assert scheduler.free_blocks + sum(map(len, machine.blocks.values())) == settings[2]
            computed.update(dict(plan))
            served |= set(finished)
            if len(served) == len(requests):
                break
        assert served == {name for _, name, _, _ in requests}, settings  # nobody starves
        assert scheduler.free_blocks == settings[2]
        for _, name, prompt, new in requests:
            assert computed[name] >= prompt + new - 1
        if not scheduler.preemptions:
            assert all(computed[name] == prompt + new - 1 for _, name, prompt, new in requests)
        preempted += scheduler.preemptions > 0
    assert preempted > 100
