"""What the docstrings of chapter 8 announce and promise."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "08-prefill-time": (
        Clause(
            "An empty prompt reads the weights once.",
            edits=(
                (
                    "    operations = 2 * parameters * prompt_tokens",
                    "    if not prompt_tokens:\n        return 0.0\n    operations = 2 * parameters * prompt_tokens",
                ),
            ),
        ),
        Clause("which computes half of the scores", edits=(("2 * layers * hidden", "4 * layers * hidden"),)),
        Clause(
            "the slower of computing and of reading",
            edits=(
                ("return max(operations", "return sum((operations"),
                ("/ peak, weight_bytes / bandwidth)", "/ peak, weight_bytes / bandwidth))"),
            ),
        ),
    ),
    "08-decode-step-time": (
        Clause(
            "Without a sequence there is no step: 0.0.", edits=(("    if not contexts:\n        return 0.0\n", ""),)
        ),
        Clause(
            "The weights are read once for all of them",
            edits=(("read = weight_bytes +", "read = weight_bytes * len(contexts) +"),),
        ),
        Clause("the cached keys and values are read for each sequence", edits=(("sum(contexts)", "max(contexts)"),)),
    ),
    "08-critical-batch-size": (
        Clause(
            "If it adds at least as much reading, no batch is large enough.",
            edits=(("gain if gain > 0 else math.inf", "(gain or 1e-300) if gain >= 0 else math.inf"),),
        ),
        Clause(
            "not rounded",
            edits=(("return weight_bytes / bandwidth / gain if", "return weight_bytes / bandwidth // gain if"),),
        ),
    ),
    "08-replicas-needed": (
        Clause(
            "if it exceeds a whole number by less than 1e-9 of itself, it counts as that number",
            edits=((" * (1 - 1e-9)", ""),),
        ),
        Clause("The quotient is rounded up", edits=(("(1 - 1e-9)", "(1 - 1e-7)"),)),
        Clause(
            "Without requests: 0.",
            edits=(("return math.ceil(", "return max(1, math.ceil("), ("(1 - 1e-9))", "(1 - 1e-9)))")),
        ),
    ),
    "08-static-batching": (
        Clause(
            "all of a group are released when its longest ends",
            edits=(
                (
                    "spans += [(now, now + max(group))] * len(group)",
                    "spans += [(now, now + length) for length in group]",
                ),
            ),
        ),
        Clause(
            "Consecutive groups", edits=(("for first in range(", "lengths = sorted(lengths)\n    for first in range("),)
        ),
    ),
    "08-continuous-batching": (
        Clause("equal arrivals by index", edits=(("(arrivals[index], index)", "(arrivals[index], -index)"),)),
        Clause("First come, first served", edits=(("(arrivals[index], index)", "index"),)),
        Clause(
            "A slot freed at step t may start a request at t.",
            edits=(
                (
                    "heapq.heapreplace(free, start + lengths[index])",
                    "heapq.heapreplace(free, start + lengths[index] + 1)",
                ),
            ),
        ),
        Clause(
            "step before which a request cannot start",
            edits=(("start = max(free[0], arrivals[index])", "start = free[0]"),),
        ),
    ),
    "08-next-token-probabilities": (
        Clause(
            "to the one with the lowest index if several are equal",
            edits=(("logits.argmax(-1)", "(logits.shape[-1] - 1 - logits.flip(-1).argmax(-1))"),),
        ),
        Clause(
            "of the logits' type",
            edits=(
                (
                    "torch.zeros_like(probabilities).scatter(-1, order, probabilities)",
                    "torch.zeros_like(probabilities).scatter(-1, order, probabilities).double()",
                ),
            ),
        ),
        Clause("of the logits' type", edits=((".to(logits.dtype)", ".double()"),)),
        Clause(
            "up to and including the one at which their sum reaches ``top_p``",
            edits=(("before >= top_p", "before + probabilities > top_p"),),
        ),
        Clause(
            "of the tokens that are left",
            edits=(
                ("    if top_k:\n        ranked[..., top_k:] = -torch.inf\n", ""),
                (
                    "        probabilities = probabilities / probabilities.sum",
                    "        probabilities[..., top_k or None:] = 0\n"
                    "        probabilities = probabilities / probabilities.sum",
                ),
            ),
        ),
        Clause(
            "the kept probabilities sum to 1",
            edits=(("        probabilities = probabilities / probabilities.sum(-1, keepdim=True)\n", ""),),
        ),
    ),
    "08-streaming-detokenizer": (
        Clause(
            "Whatever later tokens could still change is held back",
            edits=(
                ("self._send(0 if self.finished else self._held_back())", "self._send(0)"),
                ("self._held.endswith(stop)]", "(self.text + self._held).endswith(stop)]"),
                ("self._held.removesuffix(self.stopped_by)", "self._held[: -len(self.stopped_by)]"),
            ),
        ),
        Clause(
            "they are never sent.",
            edits=(("                self._held = self._held.removesuffix(self.stopped_by)\n", ""),),
        ),
        Clause(
            "of several that end at the same place, the longest counts",
            edits=(("max(complete, key=len)", "complete[0]"),),
        ),
        Clause(
            "of several that end at the same place, the longest counts",
            edits=(("max(complete, key=len)", "complete[-1]"),),
        ),
        Clause(
            "The text ends before the stop string that is complete first",
            edits=(
                (
                    (
                        "        for character in characters:\n"
                        "            self._held += character\n"
                        "            complete = [stop for stop in self._stop if self._held.endswith(stop)]\n"
                        "            if complete:\n"
                        "                self.stopped_by = max(complete, key=len)\n"
                        "                self._held = self._held.removesuffix(self.stopped_by)\n"
                        "                self.finished = True\n"
                        "                return"
                    ),
                    (
                        "        self._held += characters\n"
                        "        found = [(self._held.find(stop), -len(stop), stop) for stop in self._stop "
                        "if stop in self._held]\n"
                        "        if found:\n"
                        "            start, _, self.stopped_by = min(found)\n"
                        "            self._held, self.finished = self._held[:start], True"
                    ),
                ),
            ),
        ),
        Clause(
            "Bytes that no continuation can turn into a character become U+FFFD at once.",
            edits=(
                (
                    "        self._read(self._decoder.decode(self._vocabulary[token]))\n",
                    (
                        "        self._bytes += self._vocabulary[token]\n"
                        "        try:\n"
                        '            piece, self._bytes = self._bytes.decode(), b""\n'
                        "        except UnicodeDecodeError:\n"
                        '            return ""\n'
                        "        self._read(piece)\n"
                    ),
                ),
                (('self._held = ""\n        self.text'), ('self._held, self._bytes = "", b""\n        self.text')),
                ('self._decoder.decode(b"", final=True)', 'self._bytes.decode(errors="replace")'),
            ),
        ),
        Clause(
            "the longest tail that begins a stop string",
            edits=(("max(lengths, default=0)", "min(lengths, default=0)"),),
        ),
        Clause(
            "the longest tail that begins a stop string",
            edits=(
                (
                    (
                        "        lengths = (n for stop in self._stop for n in range(1, len(stop)) if "
                        "self._held.endswith(stop[:n]))\n"
                        "        return max(lengths, default=0)"
                    ),
                    "        return min(max(map(len, self._stop), default=1) - 1, len(self._held))",
                ),
            ),
        ),
        Clause("everything sent so far", edits=(("        self.text += sent\n", "        self.text = sent\n"),)),
        Clause(
            "everything sent so far",
            edits=(
                (
                    "        self.text += sent\n",
                    "        self.sent = getattr(self, 'sent', '') + sent\n"
                    "        self.text = self.sent if self.finished else ''\n",
                ),
            ),
        ),
        Clause('Once finished: ``""``.', edits=(('        if self.finished:\n            return ""\n', ""),)),
        Clause(
            "True after a stop string, and after :meth:`finish`",
            edits=(("final=True))\n        self.finished = True\n", "final=True))\n"),),
        ),
        Clause(
            "with U+FFFD for an unfinished character",
            edits=(('        self._read(self._decoder.decode(b"", final=True))\n', ""),),
        ),
        Clause("None without one", edits=(("self.stopped_by: str | None = None", 'self.stopped_by: str | None = ""'),)),
    ),
    "08-generate-batch": (
        Clause(
            "Each row is what its prompt gives alone.",
            edits=(("(columns >= padding).unsqueeze(1) & ", "(columns >= padding * 0).unsqueeze(1) & "),),
        ),
        Clause(
            "Padding does not count in positions", edits=(("(new - padding).clamp(min=0)", "new.expand(tokens.shape)"),)
        ),
        Clause("and no token attends to it", edits=(("(columns >= padding)", "(columns >= padding - 1)"),)),
        Clause(
            "no token is computed twice.",
            edits=(
                ("cache, mask)", "None, mask)"),
                (
                    "tokens = logits[:, -1:].argmax(-1)",
                    "tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)",
                ),
                ("yield tokens.squeeze(1).tolist()", "yield tokens[:, -1].tolist()"),
            ),
        ),
        Clause(
            "One forward pass gives the next token of all rows",
            edits=(
                (
                    "_greedy(model, prompts, max_new_tokens):",
                    "list(_greedy(model, prompts, max_new_tokens + 1))[:max_new_tokens]:",
                ),
            ),
        ),
        Clause(
            "mask is True where a new token may attend to one of the S cached and new ones",
            why="what the model expects",
        ),
        Clause(
            "The longest prompt and all new tokens but the last fit the context.",
            edits=(
                (
                    "_greedy(model, prompts, max_new_tokens):",
                    "list(_greedy(model, prompts, max_new_tokens + 1))[:max_new_tokens]:",
                ),
            ),
        ),
        Clause(
            "without ``eos``",
            edits=(
                ("        running -= {row for row in running if tokens[row] == eos}\n", ""),
                (
                    "            rows[row].append(tokens[row])\n",
                    "            rows[row].append(tokens[row])\n"
                    "        running -= {row for row in running if tokens[row] == eos}\n",
                ),
            ),
        ),
        Clause(
            "and the others go on",
            edits=(
                (
                    "        if not running:\n            break",
                    "        if len(running) < len(rows):\n            break",
                ),
            ),
        ),
    ),
}
