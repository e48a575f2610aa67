"""Chapter 08's bank: answers as worked out by hand, what options say, and probes that allow every right program."""

from __future__ import annotations

import asyncio
import builtins
import time
from random import Random

import pytest
import torch

from autograder import bank
from autograder.bank.ch08 import debug_token_id, generate_batch
from autograder.items import Build, Case, Choice, Order
from autograder.marking import trusted
from autograder.probes import ch08, ch08_batches, ch08_clock
from rankzero.tiny import GPT, GPTConfig
from solutions.ch08 import serving_repairs, tiny_serving
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch08") if isinstance(item, Build)}
CHOICES = {item.id: item for item in bank.of_chapter("ch08") if isinstance(item, Choice)}


def test_the_order_of_the_parts():
    orders = [item.steps for item in bank.of_chapter("ch08") if isinstance(item, Order)]
    assert ("API adapter", "tokenizer", "scheduler") in [steps[:3] for steps in orders]


def test_what_the_right_options_say():
    right = {name: item.options[item.correct] for name, item in CHOICES.items()}
    assert right["08-split-emoji"] == "nothing"
    assert "99th percentile" in right["08-itl-p99"]
    assert right["08-latency-changes"].startswith("yes, it falls")


# The detokenizer.


class BufferedBytes:
    """A right program of another kind: all bytes again at each token, and everything that stop strings allow."""

    def __init__(self, vocabulary, stop=()):
        self.vocabulary, self.stop = vocabulary, stop
        self.data, self.text, self.finished, self.stopped_by = b"", "", False, None

    def known(self, final):
        import codecs

        return codecs.getincrementaldecoder("utf-8")("replace").decode(self.data, final)

    def look(self, final):
        known = self.known(final)
        ends = [(known.find(one) + len(one), known.find(one), one) for one in self.stop if one in known]
        if ends:
            _, start, self.stopped_by = min(ends)
            self.finished, known = True, known[:start]
        else:
            tails = [n for one in self.stop for n in range(1, len(one)) if known.endswith(one[:n])]
            known = known[: len(known) - (0 if final else max(tails, default=0))]
        sent, self.text = known[len(self.text) :], known
        return sent

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        self.data += self.vocabulary[token]
        return self.look(False)

    def finish(self):
        if self.finished:
            return ""
        sent = self.look(True)
        self.finished = True
        return sent


@pytest.mark.proof(part="bank")
def test_another_right_detokenizer_passes():
    item = EXERCISES["StreamingDetokenizer"]
    for key in range(30):
        cases = [*item.cases, *(case for _, cases in item.hidden(Random(key)) for case in cases)]
        assert not any(handed_in.faults(item, BufferedBytes, cases)), key


def test_a_vocabulary_is_written_as_in_a_bytes_literal():
    seen = []

    class Keeps(BufferedBytes):
        def __init__(self, vocabulary, stop=()):
            seen.extend(vocabulary)
            super().__init__(vocabulary, stop)

    ch08.streamed(Keeps, ["a", r"\xf0\x9f", " ", r"\x5c"], [], [0])
    assert seen == [b"a", b"\xf0\x9f", b" ", b"\\"]


# Batches.


def test_the_small_model_has_the_interface_of_the_tiny_gpt():
    """A program that runs on one runs on the other."""
    prompts = [[1, 2, 3], [4], [5, 6, 7, 8, 9]]
    case = Case((8, prompts, 6))
    answer = generate_batch.batched(case, ch08_batches.batched(tiny_serving.generate_batch, *case.args))
    assert answer["at most one pass per new token"]
    assert answer["no token is computed twice"]
    tiny = GPT(GPTConfig(vocab=11, layers=2, heads=2, head_dim=8, context=24)).double()
    assert [len(row) for row in tiny_serving.generate_batch(tiny, prompts, 6)] == [6, 6, 6]


def right_padded(model, prompts, max_new_tokens, eos=None):
    """A right program of another kind: padding on the right, logits read at each row's own last token."""
    if not prompts:
        return []
    longest, cache = max(map(len, prompts)), tiny_serving.GrowingCache()
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    tokens = torch.tensor([prompt + [0] * (longest - len(prompt)) for prompt in prompts])
    rows: list[list[int]] = [[] for _ in prompts]
    over: set[int] = set()
    last = lengths - 1
    for step in range(max_new_tokens):
        columns = torch.arange(cache.length + tokens.shape[1])
        real = (columns < lengths[:, None]) | (columns >= longest)
        mask = real[:, None] & (columns <= columns[cache.length :, None])
        positions = lengths[:, None] + step - 1 if step else columns.expand(len(prompts), -1)
        logits = model(tokens, positions, cache, mask)
        tokens = logits[torch.arange(len(prompts)), last].argmax(-1, keepdim=True)
        last = torch.zeros_like(last)
        for row, token in enumerate(tokens[:, 0].tolist()):
            over |= {row} if token == eos else set()
            rows[row] += [] if row in over else [token]
    return rows


@pytest.mark.proof(part="bank")
def test_padding_on_the_right_passes():
    item = EXERCISES["generate_batch"]
    for key in range(5):
        for case in [*item.cases, *(case for _, cases in item.hidden(Random(key)) for case in cases)]:
            right, other = (
                generate_batch.batched(case, ch08_batches.batched(program, *case.args))
                for program in (tiny_serving.generate_batch, right_padded)
            )
            assert other == right


# Repairs.


def test_any_stable_number_of_a_word_passes():
    """Kills a rule that wants one digest: a table of primes will do, and so does CRC-32."""
    import zlib

    case = Case(([f"word {number}" for number in range(40)], 1000))

    def concluded(program):
        numbers = tuple(ch08.two_processes(program, *case.args, process=process) for process in range(2))
        return debug_token_id.two_processes(case, numbers)

    right, real = concluded(serving_repairs.debug_token_id), builtins.hash
    assert all(right.values())
    assert concluded(lambda word, vocabulary: zlib.crc32(word.encode()) % vocabulary) == right
    assert not concluded(lambda word, vocabulary: hash(word) % vocabulary)["the same in both"]
    assert builtins.hash is real


def test_waiting_blocks_nobody():
    real = asyncio.sleep, time.sleep
    assert ch08_clock.on_a_clock(serving_repairs.debug_sleep, [10, 30, 20]) == pytest.approx([0.01, 0.03, 0.02])
    item = EXERCISES["debug_sleep"]
    blocking = next(item.program_of(slip) for slip in item.slips if "time.sleep" in slip.sentence)
    assert ch08_clock.on_a_clock(blocking, [10, 30, 20]) == pytest.approx([0.06, 0.06, 0.06])
    assert (asyncio.sleep, time.sleep) == real


async def two_naps(latency_ms):
    """A right program of another kind."""
    await asyncio.sleep(latency_ms / 2000)
    await asyncio.sleep(latency_ms / 2000)


def test_a_coroutine_may_sleep_twice():
    assert ch08_clock.on_a_clock(two_naps, [10, 30]) == pytest.approx([0.01, 0.03])


def test_no_token_follows_a_stop_string_but_where_that_is_tried():
    """Kills: hints about stop strings for a program whose only fault is another error after the end."""
    item = EXERCISES["StreamingDetokenizer"]
    for key in range(20):
        for group, cases in item.hidden(Random(key)):
            answers = [one.value for one in trusted.run(item, item.solution(), cases) if one.kind == "value"]
            after = any(("raises", "RuntimeError") in answer["pushed"] for answer in answers)
            assert after == (group.name == "after the end")
