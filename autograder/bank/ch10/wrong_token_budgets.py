"""Wrong programs for ``TokenBudgetScheduler``: what people really write. Each is an edit, or complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class PreemptsTheOldest:
    def __init__(self, max_tokens, max_sequences, blocks, block_size, chunked_prefill=True, max_chunk=0):
        counts = (max_tokens, max_sequences, blocks, block_size)
        if any(not isinstance(one, int) or isinstance(one, bool) or one < 1 for one in counts):
            raise ValueError("a count is out of range")
        if not isinstance(max_chunk, int) or max_chunk < 0 or (max_chunk and not chunked_prefill):
            raise ValueError("max_chunk is out of range")
        self.max_tokens, self.seats, self.blocks, self.size = counts
        self.chunked, self.max_chunk, self.step = chunked_prefill, max_chunk, None
        self.waiting, self.running, self.preempted = [], [], []
        self.preemptions, self.free_blocks = 0, blocks
        self.computed, self.total, self.end, self.held = {}, {}, {}, {}

    def add(self, request, prompt_tokens, max_new_tokens):
        if any(not isinstance(one, int) or one < 1 for one in (prompt_tokens, max_new_tokens)):
            raise ValueError("a number is below 1")
        most = prompt_tokens + max_new_tokens - 1
        if request in (*self.waiting, *self.running) or -(-most // self.size) > self.blocks:
            raise ValueError("known, or too large for the pool")
        if most > self.max_tokens and not self.chunked:
            raise ValueError("too large for one step")
        self.waiting.append(request)
        self.computed[request] = self.held[request] = 0
        self.total[request], self.end[request] = prompt_tokens, prompt_tokens + max_new_tokens

    def want(self, request, budget):
        return min(self.total[request] - self.computed[request], self.max_chunk or budget, budget)

    def take(self, request, tokens):
        missing = -(-(self.computed[request] + tokens) // self.size) - self.held[request]
        if missing > self.free_blocks:
            return False
        self.free_blocks -= missing
        self.held[request] += missing
        return True

    def release(self, request):
        self.free_blocks += self.held[request]
        self.held[request] = 0

    def preempt(self):
        victim = self.running.pop(0)
        self.step = [part for part in self.step if part[0] != victim]
        self.release(victim)
        self.computed[victim] = 0
        self.waiting.insert(0, victim)
        self.preempted.append(victim)
        self.preemptions += 1

    def run(self, budget):
        for request in list(self.running):
            want = self.want(request, budget)
            while want and request not in self.preempted and not self.take(request, want):
                self.preempt()
            if not want or request in self.preempted:
                break
            self.step.append((request, want))
            budget -= want
        return budget

    def admit(self, budget):
        while self.waiting and budget and len(self.running) < self.seats:
            request = self.waiting[0]
            want = self.want(request, budget)
            if (not self.chunked and self.total[request] > budget) or not self.take(request, want):
                break
            self.running.append(self.waiting.pop(0))
            self.step.append((request, want))
            budget -= want
        return budget

    def schedule(self):
        if self.step is not None:
            raise RuntimeError("update comes first")
        self.step, self.preempted = [], []
        budget = self.run(self.max_tokens)
        if not self.preempted:
            self.admit(budget)
        return list(self.step)

    def update(self):
        if self.step is None:
            raise RuntimeError("schedule comes first")
        step, self.step, finished = self.step, None, []
        for request, tokens in step:
            self.computed[request] += tokens
            if self.computed[request] == self.total[request]:
                self.total[request] += 1
            if self.total[request] == self.end[request]:
                self.release(request)
                self.running.remove(request)
                finished.append(request)
        return finished

    def finish(self, request):
        queue = self.running if request in self.running else self.waiting
        if request not in queue:
            raise KeyError(request)
        queue.remove(request)
        self.release(request)
        self.step = self.step and [part for part in self.step if part[0] != request]


class ForgetsWhatWasSaid:
    def __init__(self, max_tokens, max_sequences, blocks, block_size, chunked_prefill=True, max_chunk=0):
        counts = (max_tokens, max_sequences, blocks, block_size)
        if any(not isinstance(one, int) or isinstance(one, bool) or one < 1 for one in counts):
            raise ValueError("a count is out of range")
        if not isinstance(max_chunk, int) or max_chunk < 0 or (max_chunk and not chunked_prefill):
            raise ValueError("max_chunk is out of range")
        self.max_tokens, self.seats, self.blocks, self.size = counts
        self.chunked, self.max_chunk, self.step = chunked_prefill, max_chunk, None
        self.waiting, self.running, self.preempted = [], [], []
        self.preemptions, self.free_blocks = 0, blocks
        self.computed, self.total, self.end, self.held, self.prompt = {}, {}, {}, {}, {}

    def add(self, request, prompt_tokens, max_new_tokens):
        if any(not isinstance(one, int) or one < 1 for one in (prompt_tokens, max_new_tokens)):
            raise ValueError("a number is below 1")
        most = prompt_tokens + max_new_tokens - 1
        if request in (*self.waiting, *self.running) or -(-most // self.size) > self.blocks:
            raise ValueError("known, or too large for the pool")
        if most > self.max_tokens and not self.chunked:
            raise ValueError("too large for one step")
        self.waiting.append(request)
        self.computed[request] = self.held[request] = 0
        self.prompt[request] = prompt_tokens
        self.total[request], self.end[request] = prompt_tokens, prompt_tokens + max_new_tokens

    def want(self, request, budget):
        return min(self.total[request] - self.computed[request], self.max_chunk or budget, budget)

    def take(self, request, tokens):
        missing = -(-(self.computed[request] + tokens) // self.size) - self.held[request]
        if missing > self.free_blocks:
            return False
        self.free_blocks -= missing
        self.held[request] += missing
        return True

    def release(self, request):
        self.free_blocks += self.held[request]
        self.held[request] = 0

    def preempt(self):
        victim = self.running.pop()
        self.release(victim)
        said = self.total[victim] - self.prompt[victim]
        self.total[victim] -= said
        self.computed[victim] = 0
        self.waiting.insert(0, victim)
        self.preempted.append(victim)
        self.preemptions += 1

    def run(self, budget):
        for request in list(self.running):
            want = self.want(request, budget)
            while want and request not in self.preempted and not self.take(request, want):
                self.preempt()
            if not want or request in self.preempted:
                break
            self.step.append((request, want))
            budget -= want
        return budget

    def admit(self, budget):
        while self.waiting and budget and len(self.running) < self.seats:
            request = self.waiting[0]
            want = self.want(request, budget)
            if (not self.chunked and self.total[request] > budget) or not self.take(request, want):
                break
            self.running.append(self.waiting.pop(0))
            self.step.append((request, want))
            budget -= want
        return budget

    def schedule(self):
        if self.step is not None:
            raise RuntimeError("update comes first")
        self.step, self.preempted = [], []
        budget = self.run(self.max_tokens)
        if not self.preempted:
            self.admit(budget)
        return list(self.step)

    def update(self):
        if self.step is None:
            raise RuntimeError("schedule comes first")
        step, self.step, finished = self.step, None, []
        for request, tokens in step:
            self.computed[request] += tokens
            if self.computed[request] == self.total[request]:
                self.total[request] += 1
            if self.total[request] == self.end[request]:
                self.release(request)
                self.running.remove(request)
                finished.append(request)
        return finished

    def finish(self, request):
        queue = self.running if request in self.running else self.waiting
        if request not in queue:
            raise KeyError(request)
        queue.remove(request)
        self.release(request)
        self.step = self.step and [part for part in self.step if part[0] != request]


class AnySettings:
    def __init__(self, max_tokens, max_sequences, blocks, block_size, chunked_prefill=True, max_chunk=0):
        counts = (max_tokens, max_sequences, blocks, block_size)
        self.max_tokens, self.seats, self.blocks, self.size = counts
        self.chunked, self.max_chunk, self.step = chunked_prefill, max_chunk, None
        self.waiting, self.running, self.preempted = [], [], []
        self.preemptions, self.free_blocks = 0, blocks
        self.computed, self.total, self.end, self.held = {}, {}, {}, {}

    def add(self, request, prompt_tokens, max_new_tokens):
        self.waiting.append(request)
        self.computed[request] = self.held[request] = 0
        self.total[request], self.end[request] = prompt_tokens, prompt_tokens + max_new_tokens

    def want(self, request, budget):
        return min(self.total[request] - self.computed[request], self.max_chunk or budget, budget)

    def take(self, request, tokens):
        missing = -(-(self.computed[request] + tokens) // self.size) - self.held[request]
        if missing > self.free_blocks:
            return False
        self.free_blocks -= missing
        self.held[request] += missing
        return True

    def release(self, request):
        self.free_blocks += self.held[request]
        self.held[request] = 0

    def preempt(self):
        victim = self.running.pop()
        self.release(victim)
        self.computed[victim] = 0
        self.waiting.insert(0, victim)
        self.preempted.append(victim)
        self.preemptions += 1

    def run(self, budget):
        for request in list(self.running):
            want = self.want(request, budget)
            while want and request not in self.preempted and not self.take(request, want):
                self.preempt()
            if not want or request in self.preempted:
                break
            self.step.append((request, want))
            budget -= want
        return budget

    def admit(self, budget):
        while self.waiting and budget and len(self.running) < self.seats:
            request = self.waiting[0]
            want = self.want(request, budget)
            if (not self.chunked and self.total[request] > budget) or not self.take(request, want):
                break
            self.running.append(self.waiting.pop(0))
            self.step.append((request, want))
            budget -= want
        return budget

    def schedule(self):
        if self.step is not None:
            raise RuntimeError("update comes first")
        self.step, self.preempted = [], []
        budget = self.run(self.max_tokens)
        if not self.preempted:
            self.admit(budget)
        return list(self.step)

    def update(self):
        if self.step is None:
            raise RuntimeError("schedule comes first")
        step, self.step, finished = self.step, None, []
        for request, tokens in step:
            self.computed[request] += tokens
            if self.computed[request] == self.total[request]:
                self.total[request] += 1
            if self.total[request] == self.end[request]:
                self.release(request)
                self.running.remove(request)
                finished.append(request)
        return finished

    def finish(self, request):
        queue = self.running if request in self.running else self.waiting
        if request not in queue:
            raise KeyError(request)
        queue.remove(request)
        self.release(request)
        self.step = self.step and [part for part in self.step if part[0] != request]


TOKEN_BUDGET = (
    Slip(
        "Running requests come first: with prompts first, streams wait while a prompt is computed.",
        edits=(
            (
                (
                    "        budget = self._schedule_running(self.max_tokens)\n"
                    "        if not self._preempted:\n"
                    "            self._admit(budget)\n"
                ),
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
                    "            if not self._take(request, want):\n"
                    "                return\n"
                    "            self._running.append(self._waiting.popleft())\n"
                    "            budget -= self._scheduled(request, want)\n"
                ),
                (
                    "            if not self._take(request, want):\n"
                    "                break\n"
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
                    "            if not self._take(request, want):\n"
                    "                return\n"
                    "            self._running.append(self._waiting.popleft())\n"
                ),
                (
                    "            if not self._take(request, want):\n"
                    "                continue\n"
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
    Slip("The request that was admitted last is preempted, not the oldest.", PreemptsTheOldest),
    Slip("A preempted request keeps what it has generated: it comes back as part of its prompt.", ForgetsWhatWasSaid),
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
        "In a step that preempts nobody is admitted: the newcomer would take the blocks that were just freed.",
        edit=(("        if not self._preempted:\n            self._admit(budget)\n"), "        self._admit(budget)\n"),
    ),
    Slip(
        "A chunk needs blocks for its own tokens, not for the whole prompt.",
        edit=(
            "            if not self._take(request, want):\n                return\n",
            (
                "            if request.total > self._free * self.block_size or not "
                "self._take(request, want):\n"
                "                return\n"
            ),
        ),
    ),
    Slip(
        "A preempted request goes to the head of the queue: it was there before all that wait.",
        edit=("self._waiting.appendleft(request)", "self._waiting.append(request)"),
    ),
    Slip(
        "Bad input must raise ValueError: settings out of range, a name twice, a request that can never be served.",
        AnySettings,
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
)
