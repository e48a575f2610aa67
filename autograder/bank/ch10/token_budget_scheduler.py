"""Chapter 10: ``TokenBudgetScheduler``, scheduling."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Promise, Slip

Call = tuple[str, tuple[Any, ...] | None]

#: What a step shows, and what is there at the end.
STEP: tuple[Call, ...] = (("schedule", ()), ("preempted", None), ("update", ()))

END: tuple[Call, ...] = (("waiting", None), ("running", None), ("preemptions", None), ("free_blocks", None))


def _steps(count: int) -> tuple[Call, ...]:
    return STEP * count + END


def _adds(*requests: tuple[str, int, int]) -> tuple[Call, ...]:
    return tuple(("add", request) for request in requests)


def _names(count: int) -> list[str]:
    return list("abcdefgh"[:count])


def _served(rng: Random, settings: tuple[Any, ...], requests: list[tuple[str, int, int]], later: int = 0) -> Case:
    """All requests at once, or the last ``later`` of them a few steps on; then steps until most have ended."""
    first = requests[: len(requests) - later]
    calls = _adds(*first)
    for request in requests[len(first) :]:
        calls += STEP * rng.randint(1, 5) + _adds(request)
    return Case(settings, calls=calls + _steps(rng.randint(8, 18)))


def _ample(rng: Random) -> Case:
    """Streams that decode, then a long prompt; memory for everything."""
    budget = rng.randint(6, 24)
    requests = [(name, rng.randint(1, 6), rng.randint(10, 20)) for name in _names(rng.randint(1, 4))]
    requests.append(("L", rng.randint(3, 6) * budget + rng.randint(1, 5), rng.randint(1, 6)))
    return _served(rng, (budget, 8, 1000, 4), requests, 1)


def _capped(rng: Random) -> Case:
    chunk = rng.randint(3, 9)
    budget = chunk * rng.randint(2, 3) + rng.randint(1, chunk - 1)
    requests = [(name, rng.randint(2, 5) * chunk + 1, rng.randint(1, 6)) for name in _names(rng.randint(3, 6))]
    return _served(rng, (budget, rng.randint(2, 6), 1000, 4, True, chunk), requests)


def _whole(rng: Random) -> Case:
    """Without chunks: a head that does not fit, and short prompts behind it that would."""
    budget = rng.randint(12, 30)
    requests = []
    for index, name in enumerate(_names(rng.randint(3, 7))):
        new = rng.randint(1, 5)
        most = budget - new + 1
        requests.append((name, rng.randint(most // 2 + 1, most) if index % 3 < 2 else rng.randint(1, 3), new))
    return _served(rng, (budget, 8, 1000, 4, False), requests)


def _tight(rng: Random, least: int = 2) -> Case:
    """Prompts that fill the pool to its last block: the first decode that needs one more preempts."""
    size, count = rng.randint(1, 8), rng.randint(least, 4)
    prompts = [size * rng.randint(1, 5) for _ in range(count)]
    room = sum(prompts) // size + rng.randint(0, 1)
    new = [rng.randint(1, 4) + size for _ in prompts]
    room = max([room, *(-(-(prompt + own - 1) // size) for prompt, own in zip(prompts, new, strict=True))])
    requests = [(name, prompts[i], new[i]) for i, name in enumerate(_names(count))]
    settings = (rng.randint(sum(prompts), sum(prompts) + 20), 8, room, size)
    calls = _adds(*requests) + STEP * 2 + _adds(("z", 1, rng.randint(1, 3)))
    return Case(settings, calls=calls + _steps(rng.randint(16, 26)))


def _twice_full(rng: Random) -> Case:
    """Three answers outgrow the pool in two steps, each time one of them is preempted."""
    size = rng.randint(1, 5)
    new = [2 * size + rng.randint(1, 3) for _ in range(3)]
    room = max(4, -(-(size + max(new) - 1) // size))
    requests = [(name, size, own) for name, own in zip(_names(3), new, strict=True)]
    return Case((50, 8, room, size), calls=_adds(*requests) + _steps(30))


def _tight_chunks(rng: Random) -> Case:
    """A pool that runs full in the middle of a long prompt."""
    size = rng.randint(2, 6)
    long, short = size * rng.randint(6, 9), size * rng.randint(2, 3)
    settings = (rng.randint(4, 2 * size + 4), 8, (long + short) // size + 1, size)
    requests = [("a", short, 3 * size), ("L", long, rng.randint(2, size + 1)), ("b", rng.randint(1, size), 3)]
    return Case(settings, calls=_adds(*requests) + _steps(rng.randint(16, 24)))


def _exact(rng: Random) -> Case:
    """Requests that fill the whole pool, alone: the last token needs no block."""
    size, blocks = rng.randint(1, 6), rng.randint(4, 12)
    requests = []
    for name in _names(2):
        new = rng.randint(1, 5)
        requests.append((name, size * blocks - new + 1, new))
    return Case((rng.randint(8, 64), 4, blocks, size), calls=_adds(*requests) + _steps(16))


def _seats(rng: Random) -> Case:
    seats = rng.randint(1, 3)
    requests = [(name, rng.randint(1, 12), rng.randint(1, 6)) for name in _names(rng.randint(4, 8))]
    return _served(rng, (rng.randint(8, 24), seats, 200, rng.randint(1, 8)), requests, 1)


def _anything(rng: Random) -> Case:
    """Any settings; requests that can never be served are among them and are refused."""
    chunked = rng.random() < 0.7
    chunk = rng.choice((0, 0, rng.randint(1, 12))) if chunked else 0
    settings = (rng.randint(1, 64), rng.randint(1, 8), rng.randint(4, 40), rng.randint(1, 8), chunked, chunk)
    requests = [(name, rng.randint(1, 40), rng.randint(1, 12)) for name in _names(rng.randint(2, 8))]
    return _served(rng, settings, requests, rng.randint(0, 2))


def _ended(rng: Random) -> Case:
    """Requests that end early: in the queue, between steps, in the middle of one."""
    requests = [(name, rng.randint(2, 9), rng.randint(4, 12)) for name in _names(5)]
    calls = _adds(*requests) + STEP * rng.randint(1, 3) + (("finish", ("a",)), ("free_blocks", None))
    calls += (("schedule", ()), ("finish", ("b",)), ("update", ()), ("finish", ("e",)), ("finish", ("nobody",)))
    calls += _adds(("a", rng.randint(1, 5), 2)) + _steps(rng.randint(3, 12))
    return Case((rng.randint(10, 30), rng.randint(2, 4), 30, rng.randint(2, 4)), calls=calls)


def _last_token(rng: Random) -> Case:
    """A request that ends early in the very step that would have finished it; its name is reused at once."""
    prompt, new = rng.randint(2, 9), rng.randint(1, 4)
    calls = _adds(("a", prompt, new), ("b", prompt, new)) + STEP * (new - 1)
    calls += (("schedule", ()), ("finish", ("a",)), *_adds(("a", rng.randint(1, 5), 1)), ("update", ()))
    return Case((rng.randint(20, 30), rng.randint(2, 4), 30, rng.randint(2, 4)), calls=calls + _steps(2))


def _out_of_turn(rng: Random) -> Case:
    request = ("a", rng.randint(1, 9), rng.randint(3, 6))
    calls = (("update", ()), *_adds(request), ("schedule", ()), ("schedule", ()), ("update", ()), ("update", ()), *STEP)
    return Case((rng.randint(9, 20), 2, 20, 4), calls=calls + _steps(3))


def _refused(rng: Random) -> Case:
    """Requests that must be refused at once, and one that fits to the last token."""
    blocks, size = rng.randint(2, 6), rng.randint(2, 6)
    room, budget = blocks * size, rng.randint(3, 9)
    bad = (("b", room, 2), ("a", 1, 1), ("e", room + 1, 1))
    if rng.random() < 0.5:
        return Case((budget, 4, blocks, size), calls=_adds(("a", room, 1), *bad) + _steps(4))
    calls = _adds(("a", budget, 1), ("a", 1, 1), ("b", budget, 2), ("c", budget + 1, 1)) + _steps(2)
    return Case((budget, 4, 90, size, False), calls=calls)


EXERCISE = Build(
    "10 token_budget.TokenBudgetScheduler",
    section="10.13",
    bonus=True,
    topic="scheduling",
    grade="calls",
    cases=(
        Case((1024, 16, 10_000, 16, True, 400), calls=_adds(*((name, 800, 16) for name in "123")) + STEP * 3),
        Case((1024, 3, 10_000, 16), calls=_adds(*zip("1234", (800, 800, 10, 10), (16,) * 4, strict=True)) + STEP),
        Case(
            (1024, 3, 10_000, 16, False), calls=_adds(*zip("1234", (800, 800, 10, 10), (16,) * 4, strict=True)) + STEP
        ),
        # These three are in vLLM's tests/v1/core/test_scheduler.py, and so is the next one's rule.
        Case((160, 16, 10, 16), calls=_adds(("a", 80, 4), ("b", 80, 4)) + _steps(7)),
        Case((8, 16, 6, 4), calls=_adds(("x", 10, 3), ("y", 3, 4)) + _steps(5)),
        Case((512, 16, 10_000, 16), calls=_adds(("d", 10, 100)) + STEP * 2 + _adds(("L", 4000, 5)) + STEP * 9),
        Case(
            (8, 2, 8, 4), calls=_adds(("a", 3, 5), ("b", 3, 5)) + (("schedule", ()), ("finish", ("a",)), ("update", ()))
        ),
        Case((8, 2, 4, 4), calls=(("update", ()), ("schedule", ()), ("schedule", ()), *_adds(("a", 16, 2)))),
    ),
    groups=(
        Group(
            "a long prompt beside streams",
            _ample,
            3,
            "Running requests first, one token each; a prompt gets what is left.",
        ),
        Group("chunks of a given size", _capped, 3, "`max_chunk` bounds what one request gets in one step."),
        Group(
            "whole prompts", _whole, 3, "Without chunks a prompt runs whole or waits, and all behind it wait with it."
        ),
        Group(
            "a pool that runs full",
            _tight,
            4,
            "Who leaves, where does it go, and what must it compute when it comes back?",
            lambda rng: [_twice_full(rng)],
        ),
        Group(
            "chunks in a small pool",
            _tight_chunks,
            3,
            "Who is let in needs room for all its tokens, and takes the blocks of its first chunk.",
        ),
        Group("the last block", _exact, 2, "A request that fills the pool runs: its last token needs no KV."),
        Group("few seats", _seats, 2, "At most `max_sequences` requests run."),
        Group("everything mixed", _anything, 4, "All rules at once, and requests that can never be served."),
        Group(
            "requests that end early",
            _ended,
            3,
            "`finish` frees the blocks at once, whether the request waits or runs, and takes it out of the step.",
            lambda rng: [_last_token(rng)],
        ),
        Group(
            "calls that are refused",
            _refused,
            4,
            "`schedule` and `update` take turns; `add` refuses what can never be served, and a name that is taken.",
            lambda rng: [_out_of_turn(rng) for _ in range(2)],
        ),
    ),
    slips=(
        Slip(
            "Running requests come first: with prompts first, streams wait while a prompt is computed.",
            edits=(
                (
                    ("        self._admit(self._schedule_running(self.max_tokens))\n"),
                    (
                        "        before = list(self._running)\n"
                        "        budget = self._admit(self.max_tokens)\n"
                        "        admitted, self._running = self._running[len(before) :], before\n"
                        "        self._schedule_running(budget)\n"
                        "        self._running += admitted\n"
                    ),
                ),
                (
                    "            if not self.chunked_prefill and request.total > budget:\n                return\n",
                    "            if not self.chunked_prefill and request.total > budget:\n                break\n",
                ),
                (
                    (
                        "            if self._blocks_for(request.total) > self._free:\n"
                        "                return\n"
                        "            want = self._want(request, budget)\n"
                        "            self._take(request, want)\n"
                        "            self._running.append(self._waiting.popleft())\n"
                        "            budget -= self._scheduled(request, want)\n"
                    ),
                    (
                        "            if self._blocks_for(request.total) > self._free:\n"
                        "                break\n"
                        "            want = self._want(request, budget)\n"
                        "            self._take(request, want)\n"
                        "            self._running.append(self._waiting.popleft())\n"
                        "            budget -= self._scheduled(request, want)\n"
                        "        return budget\n"
                    ),
                ),
            ),
        ),
        Slip(
            "Nobody overtakes: when the head of the queue does not fit, all others wait too.",
            edits=(
                (
                    (
                        "        while self._waiting and budget and len(self._running) < self.max_sequences:\n"
                        "            request = self._waiting[0]\n"
                        "            if not self.chunked_prefill and request.total > budget:\n"
                        "                return\n"
                    ),
                    (
                        "        for request in list(self._waiting):\n"
                        "            if not budget or len(self._running) == self.max_sequences:\n"
                        "                break\n"
                        "            if not self.chunked_prefill and request.total > budget:\n"
                        "                continue\n"
                    ),
                ),
                (
                    (
                        "            if self._blocks_for(request.total) > self._free:\n"
                        "                return\n"
                        "            want = self._want(request, budget)\n"
                        "            self._take(request, want)\n"
                        "            self._running.append(self._waiting.popleft())\n"
                    ),
                    (
                        "            if self._blocks_for(request.total) > self._free:\n"
                        "                continue\n"
                        "            want = self._want(request, budget)\n"
                        "            self._take(request, want)\n"
                        "            self._waiting.remove(request)\n"
                        "            self._running.append(request)\n"
                    ),
                ),
            ),
        ),
        Slip(
            "A prompt that is computed in part generates nothing: a token comes when none is missing any more.",
            edit=("request.total += request.computed == request.total", "request.total += 1"),
        ),
        Slip(
            "The request that was admitted last is preempted, not the oldest.",
            edit=(
                "self._preempt(self._running.pop())",
                "victim = self._running.pop(0)\n"
                "                self._step = [part for part in self._step if part[0] is not victim]\n"
                "                self._preempt(victim)\n"
                "                turn -= 1",
            ),
        ),
        Slip(
            "A preempted request keeps what it has generated: it comes back as part of its prompt.",
            edits=(
                ("    computed: int = 0\n", "    prompt: int\n    computed: int = 0\n"),
                ("prompt_tokens + max_new_tokens))", "prompt_tokens + max_new_tokens, prompt_tokens))"),
                ("request.computed = 0", "request.computed, request.total = 0, request.prompt"),
            ),
        ),
        Slip(
            "A preempted request has lost its blocks, and with them all that was computed: it starts at 0.",
            edit=("        request.computed = 0\n", ""),
        ),
        Slip(
            "A token that is only sampled needs no block yet: it is computed in the next step.",
            edit=(
                "self._blocks_for(request.computed + tokens) - request.blocks",
                "self._blocks_for(request.computed + tokens + 1) - request.blocks",
            ),
        ),
        Slip(
            "A request is admitted when the blocks for all its tokens are free, not only those of its first chunk: the "
            "rest of its prompt would collide with those who write.",
            edit=(
                "            if self._blocks_for(request.total) > self._free:\n                return\n"
                "            want = self._want(request, budget)\n            self._take(request, want)\n",
                "            want = self._want(request, budget)\n"
                "            if not self._take(request, want):\n                return\n",
            ),
        ),
        Slip(
            "A preempted request goes to the head of the queue: it was there before all that wait.",
            edit=("self._waiting.appendleft(request)", "self._waiting.append(request)"),
        ),
        Slip(
            "A name that waits or runs, and a request that can never be served, must raise ValueError.",
            edit=(
                "        if any(request == other.name for other in (*self._waiting, *self._running)):\n"
                '            raise ValueError(f"request must be new, got {request!r}, which waits or runs")\n'
                "        most = prompt_tokens + max_new_tokens - 1\n"
                "        if self._blocks_for(most) > self.blocks:\n"
                '            raise ValueError(f"prompt_tokens + max_new_tokens - 1 = {most} tokens never fit into '
                '{self.blocks} blocks")\n'
                "        if most > self.max_tokens and not self.chunked_prefill:\n"
                '            raise ValueError(f"prompt_tokens + max_new_tokens - 1 = {most} exceeds max_tokens = '
                '{self.max_tokens}")\n',
                "",
            ),
        ),
        Slip(
            "`schedule` and `update` take turns: anything else must raise RuntimeError.",
            edits=(
                (
                    (
                        "        if self._step is not None:\n"
                        '            raise RuntimeError("schedule was called twice; update comes between")\n'
                    ),
                    "",
                ),
                (
                    (
                        "        if self._step is None:\n"
                        '            raise RuntimeError("update was called without a step; schedule comes '
                        'first")\n'
                        "        step, self._step, finished = self._step, None, []"
                    ),
                    "        step, self._step, finished = self._step or [], None, []",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "also between ``schedule`` and ``update``.",
            edit=(
                "        checks.count(prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)\n",
                "        checks.count(prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)\n"
                '        if self._step is not None:\n            raise ValueError("a step is running")\n',
            ),
        ),
        Promise(
            "Put a request at the end of the queue",
            edit=("self._waiting.append(_Request(", "self._waiting.appendleft(_Request("),
        ),
        Promise(
            "for its last token needs no KV",
            edit=("most = prompt_tokens + max_new_tokens - 1", "most = prompt_tokens + max_new_tokens"),
        ),
        Promise("0 sets no limit", edit=("self.max_chunk or budget", "self.max_chunk or 1")),
        Promise(
            "holds ``ceil(computed / block_size)`` blocks, counted with the tokens of the step that is being run",
            edit=(
                "return -(-tokens // self.block_size)",
                "return tokens // self.block_size + 1",
            ),
        ),
        Promise(
            "the request that runs last is preempted",
            edit=("self._preempt(self._running.pop())", "self._preempt(self._running.pop(0))"),
        ),
        Promise("has nothing computed any more", edit=("        request.computed = 0\n", "")),
        Promise(
            "goes to the head of the queue with",
            edit=("self._waiting.appendleft(request)", "self._waiting.append(request)"),
        ),
        Promise("while fewer than ``max_sequences`` run", edit=(" and len(self._running) < self.max_sequences:", ":")),
        Promise(
            "Nobody overtakes: a head whose blocks are missing blocks the queue",
            edit=(
                "            if self._blocks_for(request.total) > self._free:\n                return\n",
                "            if self._blocks_for(request.total) > self._free:\n"
                "                self._waiting.rotate(-1)\n"
                "                request = self._waiting[0]\n"
                "                if self._blocks_for(request.total) > self._free:\n"
                "                    self._waiting.rotate(1)\n"
                "                    return\n",
            ),
        ),
        Promise(
            "without chunked prefill so does one that misses more tokens than the budget has left",
            edit=("            if not self.chunked_prefill and request.total > budget:\n                return\n", ""),
        ),
        Promise(
            "A prompt that is only partly computed generates nothing.",
            edit=("request.total += request.computed == request.total", "request.total += 1"),
        ),
        Promise("in the order of the step", edit=("finished.append(request.name)", "finished.insert(0, request.name)")),
        Promise("Its blocks are free at once.", edit=("                    self._release(other)\n", "")),
        Promise(
            "its part of the step is dropped",
            edit=(
                "self._step = self._step and [part for part in self._step if part[0] is not other]",
                "",
            ),
        ),
        Promise(
            "Preemptions since the start",
            edit=("        self._preemptions += 1\n", "        self._preemptions = len(self._preempted)\n"),
        ),
    ),
)
