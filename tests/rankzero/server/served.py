"""What the tests of the server share: small models, the parts of the course, and parts that misbehave."""

from __future__ import annotations

import functools
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import openai
import torch

from experiments.ch11.constrained_runs import schema_constraint
from rankzero.server import Engine, Parts
from rankzero.tiny import GPT, ByteTokenizer, GPTConfig
from solutions.ch08.detokenizer import StreamingDetokenizer
from solutions.ch08.tiny_serving import generate_batch, next_token_probabilities
from solutions.ch09.block_pool import PrefixPool
from solutions.ch10.scheduler import Scheduler

PARTS = Parts(
    *(StreamingDetokenizer, next_token_probabilities, PrefixPool, Scheduler),
    constraint=schema_constraint(),
)
TOKENIZER = ByteTokenizer()
EOS = TOKENIZER.eos


@functools.cache
def model(context: int = 96) -> GPT:
    """Untrained, in double precision: what is most probable does not depend on the batch."""
    return GPT(GPTConfig(vocab=257, layers=2, heads=4, kv_heads=2, head_dim=8, context=context)).double()


def engine(parts: Parts = PARTS, context: int = 96, **options: Any) -> Engine:
    """An engine with the small model."""
    return Engine(model(context), TOKENIZER, parts, **options)


def alone(prompt: Sequence[int], tokens: int, context: int = 96) -> list[int]:
    """The greedy answer of a loop that knows nothing of engines."""
    return generate_batch(model(context), [list(prompt)], tokens)[0]


def saying(text: str | Sequence[int]) -> Parts:
    """Parts with which every answer is ``text``, over and over; each request counts its own tokens.

    For one request at a time.
    """
    tokens = TOKENIZER.encode(text) if isinstance(text, str) else list(text)
    said = iter(tokens * 100)

    def probabilities(logits: torch.Tensor, *how: float) -> torch.Tensor:
        return torch.nn.functional.one_hot(torch.tensor(next(said)), len(logits)).double()

    return replace(PARTS, probabilities=probabilities)


class Gate:
    """Parts whose tokens, after the first few, wait until the gate is open; ``reached`` is set when one waits."""

    def __init__(self, free: int = 0) -> None:
        self.open, self.reached = threading.Event(), threading.Event()
        self.parts = replace(PARTS, probabilities=self._probabilities)
        self._free = free

    def _probabilities(self, logits: torch.Tensor, *how: float) -> torch.Tensor:
        if self._free == 0:
            self.reached.set()
            assert self.open.wait(250)
        self._free = max(0, self._free - 1)
        return next_token_probabilities(logits, *how)


def until(holds: Callable[[], bool]) -> None:
    """Look again and again; a test that waits in vain is ended by its own time limit."""
    while not holds():
        time.sleep(0.005)  # the server's threads need the interpreter


def client(server: Any) -> openai.OpenAI:
    """The real client of a server."""
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


def ask(url: str, path: str = "/v1/completions", body: Any = None, method: str | None = None) -> tuple[int, Any, bytes]:
    """Status, headers and body of a plain request."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    asked = urllib.request.Request(f"{url}{path}", data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=250) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()
