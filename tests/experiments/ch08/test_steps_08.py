"""The steppers of chapter 8, its small server, and the sentences that rest on them."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest
import torch

from experiments.ch08 import server_steps
from experiments.ch08.small_server import FlatCache, Request, one_pass
from rankzero.explore.steppers import frames
from rankzero.tiny import GPT, GPTConfig
from solutions.ch08.detokenizer import StreamingDetokenizer
from solutions.ch08.serving import pass_time
from solutions.ch08.tiny_serving import next_token_probabilities

SCENES = {
    "request": (server_steps.request_scene, 6),
    "flat": (server_steps.flat_scene, 3),
    "cost": (server_steps.cost_scene, 5),
    "slots": (server_steps.slots_scene, 7),
    "marks": (server_steps.marks_scene, 1),
    "little": (server_steps.little_scene, 5),
    "sampling": (server_steps.sampling_scene, 4),
    "pieces": (server_steps.pieces_scene, 4),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone (it raises), and a step without news."""
    scenes = frames(*SCENES[name])
    assert len({scene.svg() for scene in scenes}) == len(scenes)
    assert all(scene.says and scene.alt for scene in scenes)


def test_the_toy_pass_is_the_chapter_s_pass():
    toy = (server_steps.PARAMETERS, server_steps.ELEMENT * server_steps.PARAMETERS, server_steps.KV)
    for tokens, context in server_steps.PASSES:
        multiply, read, caches = server_steps.toy_pass(tokens, context)
        contexts = [context] * tokens
        whole = pass_time(tokens, contexts, *toy, server_steps.PEAK, server_steps.BANDWIDTH)
        assert 1000 * whole == pytest.approx(max(multiply, read) + caches)


def test_the_stages_of_sampling_are_those_of_the_build():
    chances = server_steps.filtered()
    logits = torch.tensor(chances[0].probabilities, dtype=torch.float64).log()
    for stage, options in ((1, {"temperature": 0.5}), (4, {"top_k": 3, "top_p": 0.8})):
        found = next_token_probabilities(logits, **options).tolist()
        assert found == pytest.approx(chances[stage].probabilities)
    left = next_token_probabilities(logits, top_k=3)
    assert f"{100 * left[:2].sum():.0f} percent" in chances[3].says


def test_the_pieces_are_those_of_the_detokenizer():
    written = {"c a f c3": b"caf\xc3", "a9 _": b"\xa9 ", "a #": b"a#", "b": b"b", "# # !": b"##!"}
    words = StreamingDetokenizer([written[token] for token, *_ in server_steps.PIECES], [server_steps.STOP])
    sent = [words.push(index) for index in range(len(server_steps.PIECES))]
    assert sent == [one[1] for one in server_steps.PIECES]
    assert words.stopped_by == "##"


def _alone(model: GPT, prompt: list[int], limit: int) -> list[int]:
    """Greedy, the whole text again for each token."""
    tokens = list(prompt)
    for _ in range(limit):
        tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
    return tokens


def test_requests_in_one_row_do_not_see_each_other():
    """Kills a mask without owners, positions of the row, logits of the wrong token. Requests come and go."""
    rng, model = Random(8), GPT(GPTConfig(vocab=19, layers=2, heads=2, head_dim=8, context=256)).double().eval()
    asked = [([rng.randrange(19) for _ in range(rng.randint(1, 9))], rng.randint(1, 7)) for _ in range(9)]
    requests = [Request(str(number), list(prompt), limit) for number, (prompt, limit) in enumerate(asked)]
    waiting, running, cache = deque(requests), list[Request](), FlatCache()
    while waiting or running:
        while waiting and len(running) < 3:
            running.append(waiting.popleft())
        for one, row in zip(running, one_pass(model, cache, running), strict=True):
            one.tokens.append(int(row.argmax()))
            one.answered += 1
        running = [one for one in running if not one.done]
    for request, (prompt, limit) in zip(requests, asked, strict=True):
        assert request.tokens == _alone(model, prompt, limit)
    assert cache.length == sum(len(prompt) + limit - 1 for prompt, limit in asked)
