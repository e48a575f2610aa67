"""What the docstrings of chapter 10 promise."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "10-eager-time": (
        Clause(
            "A kernel starts when it has been launched and the kernel before it has ended.",
            edits=(("max(end, (place + 1) * launch_time) + kernel", "max(end + kernel, (place + 1) * launch_time)"),),
        ),
        Clause("ends at ``(i + 1) * launch_time``", edits=(("(place + 1) * launch_time", "place * launch_time"),)),
        Clause(
            "to the last kernel's end",
            edits=(("    return end\n", "    return end - launch_time if kernel_times else end\n"),),
        ),
    ),
    "10-graph-time": (
        Clause("Without kernels the time is 0.", edits=((" if kernel_times else 0.0", ""),)),
        Clause(
            "one launch for all, then each right after the one before",
            edits=(("replay_time + sum(kernel_times)", "max(replay_time, sum(kernel_times))"),),
        ),
    ),
    "10-capture-size": (
        Clause("the smallest that is large enough", edits=(("if size >= batch", "if size > batch"),)),
        Clause(
            "in any order",
            edits=(
                (
                    "min((size for size in sizes if size >= batch), default=None)",
                    "next((size for size in sizes if size >= batch), None)",
                ),
            ),
        ),
        Clause(
            "None when the batch is larger than all of them",
            edits=(("default=None", "default=max(sizes, default=None)"),),
        ),
    ),
    "10-padding-waste": (
        Clause("Walked through once.", edits=(("    padded = run = 0\n", "    padded = run = 0\n    sum(batches)\n"),)),
        Clause(
            "A batch that has no graph counts nowhere.",
            edits=(("        if size is not None:\n", "        size = size or batch\n        if size is not None:\n"),),
        ),
        Clause("0.0 when no batch has a graph", edits=(("if run else 0.0", "if run else 1.0"),)),
        Clause("among all rows that run in graphs", edits=(("padded / run", "padded / (run - padded)"),)),
    ),
    "10-overlap-time": (
        Clause("0 steps take no time", edits=(("+ post if steps else 0.0", "+ post"),)),
        Clause(
            "Then the CPU processes the step *before*, as soon as the device has ended that one",
            edits=(("cpu = max(cpu, previous) + post", "cpu = max(cpu, device) + post"),),
        ),
        Clause(
            "Then the CPU processes the step *before*, as soon as the device has ended that one",
            edits=(("cpu = max(cpu, previous) + post", "cpu = cpu + post"),),
        ),
        Clause(
            "or when it has ended the step before",
            edits=(("max(cpu, device) + compute", "cpu + compute"),),
        ),
        Clause(
            "After the last step it waits for the device, and processes it.",
            edits=(("return max(cpu, device) + post", "return max(cpu + post, device)"),),
        ),
        Clause("without it the steps run in turn", edits=(("    if not overlap:\n", "    if overlap is None:\n"),)),
    ),
    "10-debug-yield": (
        Clause(
            "after every step, all others that are ready get a turn",
            edits=(
                (
                    "            await asyncio.sleep(0)\n",
                    "            if count % 2:\n                await asyncio.sleep(0)\n",
                ),
            ),
        ),
        Clause("it gives how often it ran", edits=(("        return count\n", "        return count - 1\n"),)),
    ),
    "10-debug-budget": (
        Clause(
            "both in the order of their numbers",
            edits=(("[i for i in here if missing[i]]:", "[i for i in here[::-1] if missing[i]]:"),),
        ),
        Clause(
            "In each step those that decode get one token each, then those",
            edits=(
                ("in decoding + [i for i in here if missing[i]]:", "in [i for i in here if missing[i]] + decoding:"),
            ),
        ),
        Clause(
            "The step that ends a prompt yields the first output token",
            edits=(("unsaid[i] -= step[i] > 0 and not missing[i]", "unsaid[i] -= step[i] > 0 and i in decoding"),),
        ),
        Clause(
            "the first step in which it may run",
            edits=(("if arrival <= len(steps)", "if arrival < len(steps) + (not arrival)"),),
        ),
    ),
    "10-debug-graph": (
        Clause("What a recorded program gives for a new input.", edits=(("    graph.replay()\n", ""),)),
        Clause(
            "what the program gives for ``new``, in a tensor that later calls leave alone.",
            edits=(("return y.clone()", "return y"),),
        ),
        Clause(
            "what the program gives for ``new``",
            edits=(("    x.copy_(new)\n    graph.replay()\n", "    graph.replay()\n    x.copy_(new)\n"),),
        ),
        Clause("new: in the shape of x.", why="what it is called with"),
    ),
    "10-graph-runner": (
        Clause(
            "The first batch that needs a size captures its graph.",
            edits=(("if size not in self._held:", "if size not in self._held or len(x) == size:"),),
        ),
        Clause(
            "A graph reads and writes static buffers: rows are copied into",
            edits=(
                (
                    "        static_input[: len(x)].copy_(x)\n",
                    "        static_input = torch.cat([x, static_input[len(x) :]])\n",
                ),
            ),
        ),
        Clause("its input, the rest of which is zero", edits=(("        static_input.zero_()\n", ""),)),
        Clause(
            "its input, the rest of which is zero, and what comes back is a copy, which later calls leave alone.",
            edits=(("static_output[: len(x)].clone()", "static_output[: len(x)]"),),
        ),
        Clause(
            "A batch larger than every size runs eagerly.",
            edits=(
                (
                    "            with torch.no_grad():\n                return self._model(x)\n",
                    "            return torch.cat([self.run(part) for part in x.split(max(self._sizes))])\n",
                ),
            ),
        ),
        Clause(
            "without gradients",
            edits=(
                (
                    "            with torch.no_grad():\n                return self._model(x)\n",
                    "            return self._model(x)\n",
                ),
            ),
        ),
        Clause("Args: model: from a tensor [b, width]", why="what it is called with"),
        Clause(
            "graphs that have been captured",
            edits=(("        self.captures += 1\n", "        self.captures = len(self._sizes)\n"),),
        ),
    ),
    "10-future-map": (
        Clause(
            "their slots are empty now.",
            edits=(
                (
                    "        self._slots |= dict.fromkeys(reserved)\n",
                    "        for one in reserved:\n            self._slots.setdefault(one)\n",
                ),
            ),
        ),
        Clause(
            "The cursor then moves to ``(k + count) % (3 * max_running)``: a reservation never wraps in its middle, "
            "the last",
            edits=(
                (
                    "-(self._cursor + place) for place in range(1, count + 1)",
                    "-((self._cursor + place) % (3 * self.max_running) + 1) for place in range(count)",
                ),
            ),
        ),
        Clause(
            "The cursor then moves to ``(k + count) % (3 * max_running)``",
            edits=((" % (3 * self.max_running)", " % (2 * self.max_running)"),),
        ),
        Clause(
            "nothing is stored then",
            edits=(
                (
                    "        for placeholder in placeholders:\n",
                    "        for placeholder, token in zip(placeholders, tokens, strict=True):\n",
                ),
                (
                    "        self._slots |= zip(placeholders, tokens, strict=True)\n",
                    "            self._slots[placeholder] = token\n",
                ),
            ),
        ),
        Clause("what is not negative stays", edits=(("token if token >= 0 else", "token if token > 0 else"),)),
    ),
    "10-token-budget-scheduler": (
        Clause(
            "also between ``schedule`` and ``update``.",
            edits=(
                (
                    "        checks.count(prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)\n",
                    "        checks.count(prompt_tokens=prompt_tokens, max_new_tokens=max_new_tokens)\n"
                    '        if self._step is not None:\n            raise ValueError("a step is running")\n',
                ),
            ),
        ),
        Clause(
            "Put a request at the end of the queue",
            edits=(("self._waiting.append(_Request(", "self._waiting.appendleft(_Request("),),
        ),
        Clause(
            "for its last token needs no KV",
            edits=(("most = prompt_tokens + max_new_tokens - 1", "most = prompt_tokens + max_new_tokens"),),
        ),
        Clause("0 sets no limit", edits=(("self.max_chunk or budget", "self.max_chunk or 1"),)),
        Clause(
            "holds ``ceil(computed / block_size)`` blocks, counted with the tokens of the step that is being run",
            edits=(
                (
                    "return -(-tokens // self.block_size)",
                    "return tokens // self.block_size + 1",
                ),
            ),
        ),
        Clause(
            "the request that runs last is preempted",
            edits=(("self._preempt(self._running.pop())", "self._preempt(self._running.pop(0))"),),
        ),
        Clause("has nothing computed any more", edits=(("        request.computed = 0\n", ""),)),
        Clause(
            "goes to the head of the queue with",
            edits=(("self._waiting.appendleft(request)", "self._waiting.append(request)"),),
        ),
        Clause(
            "if nothing was preempted in this step",
            edits=(
                ("        if not self._preempted:\n            self._admit(budget)\n", "        self._admit(budget)\n"),
            ),
        ),
        Clause(
            "while fewer than ``max_sequences`` run", edits=((" and len(self._running) < self.max_sequences:", ":"),)
        ),
        Clause(
            "Nobody overtakes: a head whose blocks are missing blocks the queue",
            edits=(
                (
                    "            if not self._take(request, want):\n                return\n",
                    "            if not self._take(request, want):\n"
                    "                self._waiting.rotate(-1)\n"
                    "                request = self._waiting[0]\n                want = self._want(request, budget)\n"
                    "                if not self._take(request, want):\n"
                    "                    self._waiting.rotate(1)\n"
                    "                    return\n",
                ),
            ),
        ),
        Clause(
            "without chunked prefill so does one that misses more tokens than the budget has left",
            edits=(
                ("            if not self.chunked_prefill and request.total > budget:\n                return\n", ""),
            ),
        ),
        Clause(
            "A prompt that is only partly computed generates nothing.",
            edits=(("request.total += request.computed == request.total", "request.total += 1"),),
        ),
        Clause(
            "in the order of the step", edits=(("finished.append(request.name)", "finished.insert(0, request.name)"),)
        ),
        Clause("Its blocks are free at once.", edits=(("                    self._release(other)\n", ""),)),
        Clause(
            "its part of the step is dropped",
            edits=(
                (
                    "self._step = self._step and [part for part in self._step if part[0] is not other]",
                    "",
                ),
            ),
        ),
        Clause(
            "Preemptions since the start",
            edits=(("        self._preemptions += 1\n", "        self._preemptions = len(self._preempted)\n"),),
        ),
    ),
}
