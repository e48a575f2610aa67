"""Another right engine for the milestone "server": its own pool, blocks found by all tokens before them, text cut late.

It keeps unused blocks with a key in the order in which they were given back, the first of a table first, and holds back
as many characters as the longest stop string has, less one.
"""

from collections import OrderedDict


class EngineCore:
    def __init__(self, job):
        self.job = job
        self.waiting = []
        self.running = []
        self.free = list(range(job.blocks))
        self.cache = {}  # (salt, all tokens up to the end of the block) -> block
        self.key = {}  # block -> its key
        self.users = [0] * job.blocks
        self.unused = OrderedDict()  # blocks with a key that nobody uses, oldest first

    def submit(self, request):
        self.waiting.append(Answer(request))

    def cancel(self, name):
        for queue in (self.waiting, self.running):
            for answer in list(queue):
                if answer.request.name == name:
                    queue.remove(answer)
                    self.give_back(answer)

    # blocks
    def available(self):
        return len(self.free) + len(self.unused)

    def new_block(self):
        if self.free:
            block = self.free.pop()
        else:
            block, _ = self.unused.popitem(last=False)
            del self.cache[self.key.pop(block)]
        self.users[block] = 1
        return block

    def give_back(self, answer):
        for block in answer.table:
            self.users[block] -= 1
            if self.users[block] == 0:
                if block in self.key:
                    self.unused[block] = True
                else:
                    self.free.append(block)
        answer.table = []
        answer.computed = 0

    def prefix(self, answer):
        size, found = self.job.block_size, []
        for end in range(size, len(answer.tokens), size):
            block = self.cache.get((answer.request.salt, tuple(answer.tokens[:end])))
            if block is None:
                break
            found.append(block)
        return found

    def remember(self, answer):
        size = self.job.block_size
        for i in range(answer.computed // size):
            key = (answer.request.salt, tuple(answer.tokens[: (i + 1) * size]))
            if key not in self.cache and answer.table[i] not in self.key:
                self.cache[key] = answer.table[i]
                self.key[answer.table[i]] = key

    def blocks_for(self, tokens):
        return -(-tokens // self.job.block_size)

    def step(self):
        budget, batch = self.job.budget, []
        for answer in list(self.running):
            if answer not in self.running or budget == 0:
                continue
            count = min(budget, len(answer.tokens) - answer.computed)
            need = self.blocks_for(answer.computed + count) - len(answer.table)
            while need > self.available() and answer in self.running:
                victim = self.running.pop()
                self.give_back(victim)
                self.waiting.insert(0, victim)
            if answer in self.running:
                answer.table += [self.new_block() for _ in range(need)]
                batch.append((answer, count))
                budget -= count
        while self.waiting and len(self.running) < self.job.slots and budget:
            answer = self.waiting[0]
            found = self.prefix(answer)
            need = self.blocks_for(len(answer.tokens)) - len(found)
            if need > self.available() - sum(self.users[block] == 0 for block in found):
                break
            self.waiting.pop(0)
            self.running.append(answer)
            for block in found:
                self.users[block] += 1
                self.unused.pop(block, None)
            answer.table, answer.computed = found, len(found) * self.job.block_size
            count = min(budget, len(answer.tokens) - answer.computed)
            need = self.blocks_for(answer.computed + count) - len(found)
            answer.table += [self.new_block() for _ in range(need)]
            batch.append((answer, count))
            budget -= count
        if not batch:
            return []
        pieces = [(a.request.name, a.tokens[a.computed : a.computed + n], a.computed, a.table) for a, n in batch]
        result = []
        for (answer, count), logits in zip(batch, self.job.forward(pieces), strict=True):
            answer.computed += count
            self.remember(answer)
            if answer.computed == len(answer.tokens):
                result.append(self.token(answer, logits))
        return result

    def token(self, answer, logits):
        request = answer.request
        if request.constraint:
            allowed = request.constraint.allowed(request.max_tokens - answer.count - 1)
            token = self.job.choose(logits, request, answer.count, allowed)
            request.constraint.advance(token)
        else:
            token = self.job.choose(logits, request, answer.count)
        answer.count += 1
        reason = ""
        if token == self.job.eos:
            reason = "stop"
        else:
            answer.tokens.append(token)
            answer.data += self.job.vocabulary[token]
            if answer.count == request.max_tokens:
                reason = "length"
        text = answer.data.decode(errors="replace" if reason else "ignore")
        for stop in request.stop:
            if stop in text:
                text = text[: text.index(stop)]
                reason = "stop"
        safe = len(text)
        if not reason and request.stop:
            safe = max(answer.sent, len(text) - max(map(len, request.stop)) + 1)
        piece, answer.sent = text[answer.sent : safe], max(safe, answer.sent)
        if reason:
            self.running.remove(answer)
            self.give_back(answer)
        return request.name, piece, reason


class Answer:
    def __init__(self, request):
        self.request = request
        self.tokens = list(request.prompt)
        self.count = self.computed = self.sent = 0
        self.table, self.data = [], b""
