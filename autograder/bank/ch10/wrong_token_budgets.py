"""Wrong programs for ``TokenBudgetScheduler``: what people really write. Each is an edit of the reference."""

from autograder.items import Slip

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
    Slip(
        "The request that was admitted last is preempted, not the oldest.",
        edits=(
            (
                "self._preempt(self._running.pop())",
                "victim = self._running.pop(0)\n"
                "                self._step = [part for part in self._step if part[0] is not victim]\n"
                "                self._preempt(victim)\n"
                "                turn -= 1",
            ),
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
        "In a step that preempts nobody is admitted: the newcomer would take the blocks that were just freed.",
        edit=("        if not self._preempted:\n            self._admit(budget)\n", "        self._admit(budget)\n"),
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
)
