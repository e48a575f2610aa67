"""Chapter 5's bank: answers as the page prints them, what options and slips rest on, and which programs are right."""

from __future__ import annotations

import math
from itertools import pairwise, product
from random import Random

import pytest

from autograder import bank
from autograder.items import Build, Case, Choice, Question
from solutions.ch05.batching import learning_rate_at
from solutions.ch05.buckets import assign_buckets
from solutions.ch05.precision import round_to_format
from solutions.ch05.zero import zero_memory, zero_traffic
from tests.autograder import handed_in

EXERCISES = {item.function: item for item in bank.of_chapter("ch05") if isinstance(item, Build)}
QUESTIONS = {item.id: item for item in bank.of_chapter("ch05") if isinstance(item, Question)}
CHOICES = {item.id: item for item in bank.of_chapter("ch05") if isinstance(item, Choice)}


# What answers and options rest on.


def test_the_areas_are_those_of_the_schedules_step_by_step():
    """Trapezes under the course's own schedule, every 100 steps."""
    answers = [part.answer() for part in QUESTIONS["05-cosine-end"].parts[1:]]
    for area, peak, total in zip(answers, (3e-4, 6e-4), (100_000, 50_000), strict=True):
        rates = [learning_rate_at(step, peak, 0, total) for step in range(100, total + 1, 100)]
        assert area == pytest.approx(100 * (sum(rates) + peak / 2), rel=1e-6)


def test_13b_fits_nowhere_with_less_traffic():
    """Every stage and every number of ranks up to 16, tried."""
    stage, ranks, used, sent = (part.answer() for part in QUESTIONS["05-design-13b"].parts)
    for other_stage, other in product(range(4), range(1, 17)):
        if zero_memory(13e9, other_stage, other) + 18e9 > 80e9:
            continue
        less = zero_traffic(13e9, other_stage, other) / 1e9
        assert less > sent or (less == pytest.approx(sent) and other >= ranks)
    assert zero_memory(13e9, 2, 5) / 1e9 + 18 == pytest.approx(80.4)
    assert (stage, ranks, used <= 80) == (2, 6, True)


def test_stage_2_fits_30b_on_no_number_of_ranks():
    choice = CHOICES["05-zero-30b-ranks"]
    assert choice.options[choice.correct].startswith("on no number")
    assert all(zero_memory(30e9, 2, 2**power) + 20e9 > 80e9 for power in range(31))
    assert zero_memory(30e9, 2, 21) - 60e9 == pytest.approx(20e9)


def test_adams_first_step_is_as_long_as_any():
    """What the question about warm-up rests on: torch's own Adam moves by the rate at step 1, by less later."""
    import torch

    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(1000))
    optimizer = torch.optim.Adam([weight], lr=1e-3)
    lengths = []
    for _ in range(200):
        before = weight.detach().clone()
        weight.grad = 0.1 + torch.randn(1000)
        optimizer.step()
        lengths.append((weight.detach() - before).abs().mean().item() / 1e-3)
    assert lengths[0] == pytest.approx(1, rel=1e-4)
    assert max(lengths[50:]) < 0.5


def test_digits_and_range_of_8_bits():
    """What the question about fp8 rests on, from torch's own formats: spacing, range, and what a wide tensor loses."""
    import torch

    e4m3, e5m2 = (torch.finfo(kind) for kind in (torch.float8_e4m3fn, torch.float8_e5m2))
    assert (e4m3.eps, e5m2.eps) == (2**-3, 2**-2)
    assert (e4m3.max, e5m2.max) == (448, 57_344)
    powers = [math.log2(kind.max / (kind.smallest_normal * kind.eps)) for kind in (e4m3, e5m2)]
    assert powers == pytest.approx([math.log2(448) + 9, math.log2(57_344) + 16])
    wide = 2.0 ** -torch.arange(30.0)
    for kind, kept in ((torch.float8_e4m3fn, 19), (torch.float8_e5m2, 30)):
        assert ((wide * torch.finfo(kind).max).to(kind).float() > 0).sum() == kept


def test_a_sum_is_rounded_back_to_one():
    """What the question about a stalled weight rests on: half of the grid next to 1.0."""
    import torch

    weight, master = torch.tensor(1.0, dtype=torch.bfloat16), torch.tensor(1.0)
    for _ in range(1000):
        weight, master = weight + 0.001, master + 0.001
    choice = CHOICES["05-bf16-stall"]
    assert choice.options[choice.correct].startswith("1.0:")
    assert weight.item() == 1.0
    assert master.item() == pytest.approx(2.0, rel=1e-4)
    by_the_rule = 1.0
    for _ in range(1000):
        by_the_rule = round_to_format(by_the_rule + 0.001, 8, 7)
    assert by_the_rule == 1.0


def test_forty_layers_make_one_bucket_and_then_three():
    """What the question about DDP's buckets rests on; the run on the page shows the first pass."""
    choice = CHOICES["05-first-bucket"]
    assert [len(assign_buckets([2**20] * 40, caps)) for caps in ([2.0**63], [2**20, 25 * 2**20])] == [1, 3]
    assert choice.options[choice.correct].startswith("1, then 3:")


def test_a_reduction_in_every_pass_changes_nothing():
    """What the question about no_sync rests on: two ranks, four micro-batches, averaged after each or once."""
    gradients = ((1.0, 3.0), (5.0, 7.0), (2.0, 8.0), (4.0, 6.0))
    every = [0.0, 0.0]
    for pair in gradients:
        every = [held + new for held, new in zip(every, pair, strict=True)]
        every = [sum(every) / 2] * 2
    once = [sum(rank) for rank in zip(*gradients, strict=True)]
    assert every == [sum(once) / 2] * 2
    assert CHOICES["05-sync-every"].correct == 0


def test_the_stages_cost_what_the_option_says():
    """With three ranks: in units of plain data parallelism."""
    sent = [zero_traffic(6, stage, 3) / zero_traffic(6, 0, 3) for stage in (1, 2, 3)]
    assert sent == pytest.approx([1, 1, 1.5])
    assert CHOICES["05-zero-cost"].options[0].startswith("1, 1 and 1.5:")


@pytest.mark.proof(part="bank")
def test_what_a_rank_holds_at_the_peak():
    """The option of the question is the run's; the others are parts that people leave out."""
    from experiments.ch05.fsdp_runs import WIDTHS, fsdp_step

    layers = [a * b + b for a, b in pairwise(WIDTHS)]
    assert layers == [4160, 4160, 4160, 4810]
    own, largest = sum(layers) // 2, max(layers)
    sizes = [option.split(":")[0] for option in CHOICES["05-fsdp-peak"].options]
    assert sizes == [f"{size:,}" for size in (own + largest, own, own + largest // 2, own + sum(layers))]
    assert max(moment.whole + moment.slices for moment in fsdp_step().moments) == 4 * (own + largest)


# Programs that are right, and inputs that are fair.


def wrong_cases(item: Build, program, key: int = 0) -> int:
    """How many public and hidden cases a program gets wrong."""
    cases = [*item.cases, *(case for _, drawn in item.hidden(Random(f"key {key}")) for case in drawn)]
    return sum(fault is not None for fault in handed_in.faults(item, program, cases))


def searching(params, stage, memory, other=0.0, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    """The fewest ranks by search; what is not sliced is tried on more ranks than there are atoms."""
    held = [zero_memory(params, stage, 10**80, weight_bytes, gradient_bytes, optimizer_bytes) + other]
    sizes, slack = (weight_bytes, gradient_bytes, optimizer_bytes), memory * (1 + 1e-12)
    if zero_memory(params, stage, 1, *sizes) + other <= slack:
        return 1
    if held[0] >= memory * (1 - 1e-12):
        return None
    return next(n for n in range(1, 10**6) if zero_memory(params, stage, n, *sizes) + other <= slack)


def in_fractions(params, stage, memory, other=0.0, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    """In fractions, so that nothing is rounded; the memory is larger by the slack that the docstring allows."""
    from fractions import Fraction

    rows = ((3, weight_bytes), (2, gradient_bytes), (1, optimizer_bytes))
    kept = sum(Fraction(size) for first, size in rows if stage < first) * Fraction(params)
    sliced = sum(Fraction(size) for first, size in rows if stage >= first) * Fraction(params)
    slack = Fraction(memory) / 10**12
    room = Fraction(memory) - Fraction(other) - kept
    if room < -slack or (sliced and room <= slack):
        return None
    return max(1, math.ceil(sliced / (room + slack))) if sliced else 1


@pytest.mark.parametrize("program", [searching, in_fractions])
@pytest.mark.parametrize("key", range(6))
def test_the_fewest_ranks_may_be_found_in_other_ways(program, key):
    assert wrong_cases(bank.find("05-min-ranks"), program, key) == 0


def rounded_by_a_table(value, exponent_bits, mantissa_bits, infinities=True):
    """All numbers of a small format in a list; the nearest, and of two the one at an even place."""
    if math.isnan(value):
        return value
    bias, grid = 2 ** (exponent_bits - 1) - 1, 2**mantissa_bits
    numbers = [place * 2.0 ** (1 - bias - mantissa_bits) for place in range(grid)]
    for exponent in range(1 - bias, bias + 1 + (not infinities)):
        numbers += [(grid + place) * 2.0 ** (exponent - mantissa_bits) for place in range(grid)]
    if not infinities:
        numbers.pop()  # the one that stands for nan
    size = min(abs(value), 2 * numbers[-1])
    over = numbers[-1] + (numbers[-1] - numbers[-2]) / 2
    if infinities and size >= over:
        return math.copysign(math.inf, value)
    low = max(place for place, number in enumerate(numbers) if number <= size)
    high = min(low + 1, len(numbers) - 1)
    below, above = size - numbers[low], numbers[high] - size
    place = low if below < above or (below == above and low % 2 == 0) else high
    return math.copysign(numbers[place], value)


def test_a_table_of_all_numbers_rounds_as_well():
    """On the formats of 8 and 16 bits; the table of tf32 would be long."""
    item = EXERCISES["round_to_format"]
    cases = [*item.cases, *(case for _, drawn in item.hidden(Random("key 0")) for case in drawn)]
    short = [case for case in cases if case.args[1:3] != (8, 10)]
    assert len(short) > 50
    assert not any(handed_in.faults(item, rounded_by_a_table, short))


def test_no_drawn_number_for_e4m3_lies_where_torch_and_the_rule_part():
    """Between 448 and 464 old versions of torch rounded down and newer ones too; beyond, they gave nan."""
    item = EXERCISES["round_to_format"]
    for key in range(20):
        for _, cases in item.hidden(Random(f"key {key}")):
            values = [abs(case.args[0]) for case in cases if case.args[1:] == (4, 3, False)]
            assert not any(449 < value < 465 for value in values)


def test_times_of_streams_are_exact_in_binary():
    """So that the order in which a right program adds up does not matter."""
    item = EXERCISES["exposed_communication"]
    for key in range(20):
        for _, cases in item.hidden(Random(f"key {key}")):
            times = [time for case in cases for part in case.args for time in part]
            assert all(float(time * 1024).is_integer() for time in times)


def test_the_wrong_programs_are_the_labs_and_fail():
    for item in (bank.find(name) for name in ("05-debug-loss", "05-debug-stage", "05-debug-clip", "05-debug-norm")):
        assert item.slips[0].program is item.wrong
        assert wrong_cases(item, item.wrong) >= 3


def test_the_mended_clip_needs_no_special_zero():
    """Another right program: shorten by the larger of norm and limit."""

    def clipped(gradients, scale, max_norm):
        true = [gradient / scale for gradient in gradients]
        norm = math.hypot(*true)
        return [gradient * max_norm / max(norm, max_norm) for gradient in true]

    assert wrong_cases(EXERCISES["debug_clip"], clipped) == 0


def test_a_plain_case_is_what_it_says():
    """Kills a drawn case that an inattentive generator made trivial: several ranks, and something to send."""
    item = EXERCISES["zero_traffic"]
    for key in range(10):
        ordinary = item.hidden(Random(f"key {key}"))[0][1]
        assert all(isinstance(case, Case) and case.args[0] > 0 and case.args[2] > 1 for case in ordinary)
        assert [sorted(case.args[1] for case in ordinary).count(stage) for stage in range(4)] == [2, 2, 2, 2]
