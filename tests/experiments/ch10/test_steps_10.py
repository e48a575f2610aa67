"""What chapter 10 draws step by step, its four gates, and what others measured beside its functions."""

from __future__ import annotations

from random import Random

import pytest
import torch

from autograder.bank.ch10 import section_07
from experiments.ch10 import gates, launch_steps, published, scheduling_steps
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.models import LLAMA2_70B
from rankzero.tiny import GPT, GPTConfig
from rankzero.tiny.cpu_graph import CpuGraph
from solutions.ch08.serving import pass_time, prefill_time
from solutions.ch10.scheduling import overlap_time

SCENES = {
    "stall": (scheduling_steps.stall_scene, 5),
    "places": (scheduling_steps.place_scene, 3),
    "pool": (scheduling_steps.pool_scene, 4),
    "gate": (scheduling_steps.gate_scene, 6),
    "split": (scheduling_steps.split_scene, 3),
    "launches": (launch_steps.launch_scene, 3),
    "buffers": (launch_steps.buffer_scene, 4),
    "loop": (launch_steps.loop_scene, 2),
}


@pytest.mark.parametrize(("draw", "steps"), SCENES.values(), ids=SCENES)
def test_a_scene_fits_a_phone_and_changes_at_each_step(draw, steps):
    scenes = frames(draw, steps)
    assert scenes[0].width <= NARROW
    assert len({scene.says for scene in scenes}) >= len(scenes) - 2


def test_the_stepped_pool_is_full_and_z_leaves():
    moments = scheduling_steps.pool_moments()
    assert "" not in moments[0].blocks
    assert moments[1].preempted == ("z",)
    assert [one.blocks.count("x") for one in moments[:3]] == [3, 4, 4]


def test_the_first_chunk_alone_computes_the_same_blocks_again_and_again():
    """Three times two blocks, all for nothing; the other gate computes each token once."""
    first, whole = scheduling_steps.thrash(True), scheduling_steps.thrash(False)
    prompt = scheduling_steps.NEWCOMER[1]
    assert [one.left for one in first[:6]] == [False, True] * 3
    assert (first[-1].computed, whole[-1].computed) == (2 * prompt, prompt)
    assert len(first) == len(whole)


def drawn() -> list[tuple[int, int, int]]:
    rng = Random(3)
    return [(rng.randint(50, 400), rng.randint(20, 120), 512) for _ in range(60)]


def everything(new, running, chunk):
    return new.prompt + new.most + sum(one.prompt + one.most - one.computed for one in running)


def test_gates_that_ask_for_more_preempt_less_and_leave_more_unused():
    ways = (lambda new, running, chunk: chunk, lambda new, running, chunk: new.total, everything)
    first, whole, all_of_it = (gates.gate_run(way, drawn(), 120, 16, 128, 32) for way in ways)
    assert first.preemptions > whole.preemptions > all_of_it.preemptions == all_of_it.again == 0
    assert first.used > whole.used > 2 * all_of_it.used
    assert first.again > sum(prompt + answer for prompt, answer, _ in drawn())  # more than half of what it computes
    assert whole.time < first.time < all_of_it.time


def test_without_a_shortage_all_gates_are_alike():
    ways = (lambda new, running, chunk: chunk, everything)
    runs = [gates.gate_run(way, drawn(), 4_000, 16, 128, 32) for way in ways]
    assert runs[0] == runs[1]
    assert runs[0].preemptions == 0


def test_a_prompt_beside_a_stream_against_sarathi():
    """28.3 times as long, at most; the two formulas give 27.8."""
    peaks = 4 * A100_SXM.peak_bf16, 4 * A100_SXM.memory_bandwidth
    size = LLAMA2_70B.parameters, 2 * LLAMA2_70B.parameters
    alone = pass_time(1, [], *size, 0, *peaks)
    together = prefill_time(*size, 4096, *peaks, LLAMA2_70B.layers, LLAMA2_70B.hidden)
    assert together / alone == pytest.approx(published.STALL, rel=0.03)


def test_the_split_against_distserve():
    split = published.SPLIT
    assert (split.together, split.prefill, split.decode) == (
        scheduling_steps.TOGETHER,
        scheduling_steps.PREFILL,
        scheduling_steps.DECODE,
    )
    assert scheduling_steps.split_rate(2, 1) / 3 / split.together == pytest.approx(2.1, abs=0.05)


def test_the_loop_against_vllm():
    before = overlap_time(1000, published.SCHEDULING + published.HTTP, published.GPU, 0.0, overlap=False)
    after = overlap_time(1000, published.SCHEDULING, published.GPU, 0.0)
    assert before / after == pytest.approx(published.THROUGHPUT_TIMES, rel=0.05)


def test_the_operations_of_a_layer():
    """What the page records is what the estimate's answer is computed from."""

    def operations(layers: int) -> int:
        model, graph = GPT(GPTConfig(vocab=257, layers=layers, heads=4, head_dim=8)), CpuGraph()
        with graph.capture():
            model(torch.zeros(1, 1, dtype=torch.int64))
        return len(graph.operations)

    one, two = operations(1), operations(2)
    assert (one, two - one) == (section_07.FIRST_LAYER, section_07.LAYER)
