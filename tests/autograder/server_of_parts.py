"""A right engine for the milestone "server" of the parts that learners built before: the pool and the detokenizer."""

from solutions.ch08.detokenizer import StreamingDetokenizer
from solutions.ch09.block_pool import OutOfBlocks, PrefixPool


class Live:
    def __init__(self, request, vocabulary):
        self.r = request
        self.name = request.name
        self.tokens = list(request.prompt)
        self.n = 0  # tokens of the answer
        self.done = 0  # tokens that have keys
        self.text = StreamingDetokenizer(vocabulary, request.stop)


class EngineCore:
    def __init__(self, job):
        self.job = job
        self.pool = PrefixPool(job.blocks, job.block_size)
        self.queue: list[Live] = []
        self.running: list[Live] = []

    def submit(self, request):
        self.queue.append(Live(request, self.job.vocabulary))

    def cancel(self, name: str):
        self.queue = [live for live in self.queue if live.name != name]
        for live in self.running:
            if live.name == name:
                self.pool.free(name)
        self.running = [live for live in self.running if live.name != name]

    def step(self):
        left = self.job.budget
        plan = []
        i = 0
        # running first
        while i < len(self.running) and left:
            live = self.running[i]
            n = min(len(live.tokens) - live.done, left)
            try:
                self.pool.append(live.name, live.done + n - self.pool.lengths[live.name])
            except OutOfBlocks:
                last = self.running.pop()
                self.pool.free(last.name)
                last.done = 0
                self.queue.insert(0, last)
                continue
            plan.append((live, n))
            left -= n
            i += 1
        while self.queue and left and len(self.running) < self.job.slots:
            live = self.queue[0]
            cached = self.pool.share(live.name, live.tokens, live.r.salt)
            need = -(-len(live.tokens) // self.job.block_size) - len(self.pool.table(live.name))
            if need > len(self.pool.free_queue()):
                self.pool.free(live.name)
                break
            self.queue.pop(0)
            self.running.append(live)
            live.done = cached
            n = min(len(live.tokens) - live.done, left)
            self.pool.append(live.name, live.done + n - self.pool.lengths[live.name])
            plan.append((live, n))
            left -= n
        if not plan:
            return []
        pieces = [
            (live.name, live.tokens[live.done : live.done + n], live.done, self.pool.table(live.name))
            for live, n in plan
        ]
        out = []
        for (live, n), logits in zip(plan, self.job.forward(pieces), strict=True):
            live.done += n
            self.pool.keep(live.name, live.tokens[: live.done], live.r.salt)
            if live.done == len(live.tokens):
                out.append(self.token(live, logits))
        return out

    def token(self, live, logits):
        allowed = None
        if live.r.constraint:
            allowed = live.r.constraint.allowed(live.r.max_tokens - live.n - 1)
        token = self.job.choose(logits, live.r, live.n, allowed)
        if live.r.constraint:
            live.r.constraint.advance(token)
        live.n += 1
        if token == self.job.eos:
            text, reason = live.text.finish(), "stop"
        else:
            live.tokens.append(token)
            text, reason = live.text.push(token), ""
            if live.text.finished:
                reason = "stop"
            elif live.n == live.r.max_tokens:
                text += live.text.finish()
                reason = "length"
        if reason:
            self.running.remove(live)
            self.pool.free(live.name)
        return live.name, text, reason
