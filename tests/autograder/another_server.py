"""Another right engine for the milestone "server": without names of blocks, and without stop strings.

It knows each request by its name, admits one when the blocks of its prompt are free, and takes blocks away from whoever
came last.
"""

import codecs


class EngineCore:
    def __init__(self, job):
        self.job, self.all, self.free = job, {}, set(range(job.blocks))

    def submit(self, request):
        if request.stop:
            raise NotImplementedError("later")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.all[request.name] = {"r": request, "answer": [], "done": 0, "table": [], "decoder": decoder, "runs": False}

    def cancel(self, name):
        self.drop(self.all.pop(name))

    def drop(self, row):
        self.free |= set(row["table"])
        row.update(table=[], done=0, runs=False)

    def room(self, row, tokens):
        """Make room for so many tokens; False if there is none even when all younger ones have lost their blocks."""
        missing = -(-tokens // self.job.block_size) - len(row["table"])
        rows = list(self.all.values())
        younger = [one for one in rows[rows.index(row) + 1 :] if one["table"]]
        while missing > len(self.free) and younger:
            self.drop(younger.pop())
        if missing > len(self.free):
            return False
        row["table"] += [self.free.pop() for _ in range(max(missing, 0))]
        return True

    def step(self):
        left, pieces = self.job.budget, []
        for row in list(self.all.values()):
            text = [*row["r"].prompt, *row["answer"]]
            if not row["runs"]:
                others = sum(one["runs"] for one in self.all.values())
                if others == self.job.slots or -(-len(text) // self.job.block_size) > len(self.free):
                    break
                row["runs"] = True
            count = min(left, len(text) - row["done"])
            if count and self.room(row, row["done"] + count):
                pieces.append((row, text[row["done"] : row["done"] + count]))
                left -= count
        pieces = [(row, tokens) for row, tokens in pieces if row["table"]]
        if not pieces:
            return []
        asked = [(row["r"].name, tokens, row["done"], row["table"]) for row, tokens in pieces]
        said = []
        for (row, tokens), logits in zip(pieces, self.job.forward(asked), strict=True):
            row["done"] += len(tokens)
            if row["done"] == len(row["r"].prompt) + len(row["answer"]):
                said.append(self.chosen(row, logits))
        return said

    def chosen(self, row, logits):
        request, answer, form = row["r"], row["answer"], row["r"].constraint
        number = len(answer)
        if form:
            token = self.job.choose(logits, request, number, form.allowed(request.max_tokens - number - 1))
            form.advance(token)
        else:
            token = self.job.choose(logits, request, number)
        answer.append(token)
        reason = "stop" if token == self.job.eos else "length" if number + 1 == request.max_tokens else ""
        text = row["decoder"].decode(self.job.vocabulary[token], bool(reason))
        if reason:
            self.drop(self.all.pop(request.name))
        return request.name, text, reason
