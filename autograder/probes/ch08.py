"""Drivers of chapter 8: a stream of tokens, a batch on a small model, a clock for waiting, another process's hash."""

# mypy: no-check-untyped-defs


def streamed(program, vocabulary, stop, tokens):
    """The class is made, every token is pushed, `finish` is called twice. Vocabulary: as inside a bytes literal."""
    streaming = program([one.encode().decode("unicode_escape").encode("latin-1") for one in vocabulary], stop)
    pushed = []
    for token in tokens:
        try:
            pushed.append(streaming.push(token))
        except RuntimeError:
            pushed.append(("raised", "RuntimeError"))
    seen = {"pushed": pushed, "finished": streaming.finished}
    seen["flushed"] = [streaming.finish(), streaming.finish()]
    return seen | {"text": streaming.text, "stopped_by": streaming.stopped_by, "at the end": streaming.finished}


def batched(program, seed, prompts, max_new_tokens, eos=None):
    """Called with a small random model in float64; passes are counted: one for a new token of all rows together."""
    model = small_model(seed)
    answer = program(model, prompts, max_new_tokens, eos)
    fed = max_new_tokens - 1 + max(map(len, prompts), default=0)
    return {
        "new tokens": answer,
        "at most one pass per new token": model.passes <= max_new_tokens,
        "no token is computed twice": model.fed <= fed,
    }


def small_model(seed, vocab=11, width=8, layers=2):
    """A model with the interface of the tiny GPT, of two attention layers. It counts passes and tokens of a row."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def matrix(rows, columns):
        return torch.randn(rows, columns, generator=generator, dtype=torch.float64) * (2 / rows) ** 0.5

    class SmallModel(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = matrix(vocab, width) * 2, matrix(width, vocab)
            self.layers = [[matrix(width, width) for _ in range(5)] for _ in range(layers)]
            self.passes = self.fed = 0

        def forward(self, tokens, positions=None, cache=None, mask=None):
            rows, new = tokens.shape
            length = 0 if cache is None else cache.length
            self.passes, self.fed = self.passes + 1, self.fed + new
            if mask is None:
                mask = torch.ones(rows, new, length + new, dtype=torch.bool).tril(length)
            if mask.dtype != torch.bool or tuple(mask.shape) != (rows, new, length + new):
                raise ValueError(f"mask must be bool of shape {(rows, new, length + new)}, got {tuple(mask.shape)}")
            if positions is None:
                positions = torch.arange(length, length + new).unsqueeze(0)
            angles = positions.unsqueeze(-1) * torch.tensor([1.0, 0.6, 0.3, 0.1], dtype=torch.float64)
            x = self.embedding[tokens] + torch.cat((angles.sin(), angles.cos()), dim=-1)
            for layer, (query, key, value, output, last) in enumerate(self.layers):
                keys, values = (x @ key).unsqueeze(1), (x @ value).unsqueeze(1)  # [B, 1, T, width]
                if cache is not None:
                    keys, values = cache.append(layer, keys, values)
                scores = ((x @ query).unsqueeze(1) @ keys.transpose(2, 3)).masked_fill(~mask.unsqueeze(1), -1e9)
                x = x + (scores.softmax(-1) @ values).squeeze(1) @ output
                x = x + (x @ last).tanh()
            if cache is not None:
                cache.length = length + new
            return x @ self.head

    return SmallModel()


def two_processes(program, words, vocabulary=None):
    """The function gets each word in two processes; their `hash` differs, as Python's does from run to run.

    Without a vocabulary the second process leaves it to the default.
    """
    import builtins
    import zlib

    def salted(salt):
        return lambda value: zlib.crc32(f"{salt} {value!r}".encode())

    given = () if vocabulary is None else (vocabulary,)
    vocabulary = 1000 if vocabulary is None else vocabulary
    real, ids = builtins.hash, []
    try:
        for salt, more in (("first", (vocabulary,)), ("second", given)):
            builtins.hash = salted(salt)
            ids.append([program(word, *more) for word in words])
    finally:
        builtins.hash = real
    whole = all(type(one) is int and 0 <= one < vocabulary for one in ids[0])
    return {
        "the same in both": ids[0] == ids[1],
        "whole numbers below the vocabulary": whole,
        "different words mostly differ": len(set(ids[0])) > 0.5 * min(len(set(words)), vocabulary),
    }


def on_a_clock(program, latencies):
    """Requests start together on a virtual clock and each awaits one step; the answer is when each is done, seconds."""
    import asyncio
    import heapq
    import time

    now = 0.0

    class Sleep:
        def __init__(self, seconds):
            self.seconds = seconds

        def __await__(self):
            yield self.seconds

    def block(seconds):
        nonlocal now
        now += seconds

    async def request(latency):
        await program(latency)

    real = asyncio.sleep, time.sleep
    names = getattr(program, "__globals__", {})
    own = {name: value for name, value in names.items() if any(value is one for one in real)}
    asyncio.sleep, time.sleep = lambda seconds, result=None: Sleep(seconds), block
    names.update({name: asyncio.sleep if value is real[0] else block for name, value in own.items()})
    ends = [0.0] * len(latencies)
    due = [(0.0, index, request(latency)) for index, latency in enumerate(latencies)]
    try:
        while due:
            when, index, coroutine = heapq.heappop(due)
            now = max(now, when)
            try:
                seconds = coroutine.send(None)
            except StopIteration:
                ends[index] = now
            else:
                heapq.heappush(due, (now + seconds, index, coroutine))
    finally:
        asyncio.sleep, time.sleep = real
        names.update(own)
        for _, _, coroutine in due:
            coroutine.close()
    return ends
