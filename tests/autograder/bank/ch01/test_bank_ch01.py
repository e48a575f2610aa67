"""Chapter 01's bank: answers beside numbers of other origin, options beside real runs, other right programs."""

from __future__ import annotations

from random import Random

from autograder import bank
from autograder.items import Build, Choice
from experiments.ch01.measured_states import counted_flops
from experiments.ch01.token_budgets import best_split
from rankzero.facts.scaling_laws import BESIROGLU, HOFFMANN
from rankzero.tiny import GPTConfig
from solutions.ch01.ranks import locate, process_groups
from solutions.ch01.scaling import amdahl_speedup, gustafson_speedup
from tests.autograder import handed_in
from tests.sampler_orders import sampler_orders

SQUARE = {"row": 2, "column": 2}
EXERCISES = {item.function: item for item in bank.of_chapter("ch01") if isinstance(item, Build)}
CHOICES = {item.id: item for item in bank.of_chapter("ch01") if isinstance(item, Choice)}


def answer(identifier: str) -> str:
    item = CHOICES[identifier]
    return item.options[item.correct]


def test_the_device_of_rank_9():
    """Kills an explanation that names another device."""
    assert f"= {locate(9, 8)[1]}$" in CHOICES["01-device-of-rank"].derivation
    assert locate(9, 8)[0] == 1


def test_what_speed_ups_come_to_is_what_the_options_say():
    """Communication beside computing, Amdahl's, none at all, and Gustafson's."""
    found = (8 * 90 / (90 + 10), amdahl_speedup(0.1, 8), 8.0, gustafson_speedup(0.1, 8))
    options = CHOICES["01-not-amdahl"].options
    assert [option.partition(":")[0] for option in options] == [f"{one:.2g}" for one in found]


def groups_by_call() -> list[list[list[int]]]:
    """For each call of ``new_group``, the groups that four ranks name alike if each makes only its own."""
    made = [[g for axis in SQUARE for g in process_groups(SQUARE, axis) if rank in g] for rank in range(4)]
    return [sorted({tuple(groups[call]) for groups in made}) for call in range(2)]


def test_groups_of_members_alone_are_mixed_up():
    """The explanation: in the first call, two columns go by one name."""
    assert groups_by_call()[0] == [(0, 2), (1, 3)]
    assert "[0, 2]" in CHOICES["01-own-groups-only"].derivation


def counted_ratio() -> float:
    return counted_flops(GPTConfig()).ratio


def test_what_is_counted_is_what_the_options_say():
    assert answer("01-counted-ratio").startswith(f"exactly {counted_ratio():g}:")


def test_what_the_sampler_does_is_what_the_options_say():
    """The library's own sampler, which is never told the epoch."""
    epochs = sampler_orders(samples=12, ranks=3, epochs=3, set_epoch=False)
    assert answer("01-forgot-set-epoch") == "every epoch has the same order, and every rank repeats its samples"
    assert epochs[0] == epochs[1] == epochs[2]
    assert sorted(sample for order in epochs[0] for sample in order) == list(range(12))


def nodes_of(order: str, axis: str) -> list[set[int]]:
    """The nodes of eight ranks that each group along ``axis`` touches, for axes in this order."""
    sizes = {name: {"dp": 4, "pp": 2, "tp": 8}[name] for name in order.split(", ")}
    return [{rank // 8 for rank in group} for group in process_groups(sizes, axis)]


def test_what_orders_do_is_what_the_options_say():
    item = CHOICES["01-tp-in-node"]
    spans = [max(len(nodes) for nodes in nodes_of(order, "tp")) for order in item.options]
    assert spans == [1, 1, 2, 4]
    for index in (2, 3):
        assert f"spans {spans[index]} nodes" in item.slips[index]
    apart = [max(max(nodes) - min(nodes) for nodes in nodes_of(order, "pp")) for order in item.options]
    assert item.correct == 0
    assert apart[:2] == [1, 4]
    assert "four nodes apart" in item.slips[1]


def test_what_fits_ask_for_is_what_the_options_say():
    item = CHOICES["01-which-fit"]
    ratios = [tokens / parameters for parameters, tokens in (best_split(fit, 5.76e23) for fit in (HOFFMANN, BESIROGLU))]
    assert f"trained on {ratios[0]:.1f} tokens per parameter" in item.options[1]
    assert f"gives {ratios[1]:.1f}" in item.slips[1]


# Exercises: other right programs are right, and no key lets a slip of the launch environment pass.


def gathered_into_one(value):
    """Another form of the same collective."""
    import torch
    import torch.distributed as dist

    mine = torch.tensor([value], dtype=torch.float64)
    heard = torch.empty(dist.get_world_size(), dtype=torch.float64)
    dist.all_gather_into_tensor(heard, mine)
    return heard.tolist()


def one_hot(value):
    """Right values, and N times the bytes."""
    import torch
    import torch.distributed as dist

    heard = torch.zeros(dist.get_world_size(), dtype=torch.float64)
    heard[dist.get_rank()] = value
    dist.all_reduce(heard)
    return heard.tolist()


def listed(sizes, axis):
    """Groups by their members' other coordinates, without strides."""
    import itertools

    names = list(sizes)
    places = list(itertools.product(*(range(size) for size in sizes.values())))
    groups: dict = {}
    for rank, place in enumerate(places):
        groups.setdefault(tuple(p for name, p in zip(names, place, strict=True) if name != axis), []).append(rank)
    return sorted(groups.values())


def drawn(function: str, key: int) -> list:
    return [case for _, cases in EXERCISES[function].hidden(Random(f"key {key}")) for case in cases]


def test_other_right_programs_are_right():
    """Kills a rule that allows the reference's own way only."""
    assert not any(handed_in.faults(EXERCISES["roll_call"], gathered_into_one))
    assert not any(handed_in.faults(EXERCISES["process_groups"], listed, drawn("process_groups", 0)))


def test_a_vector_for_one_number_breaks_the_rule():
    told = handed_in.faults(EXERCISES["roll_call"], one_hot)
    assert told == [
        "rank 0 handed in 32 bytes: one all-gather, of 8 bytes from each rank, is enough",
        None,
        "rank 0 handed in 16 bytes: one all-gather, of 8 bytes from each rank, is enough",
    ]


def test_coordinates_keep_the_order_of_the_axes():
    item = EXERCISES["coordinates"]
    backwards = next(item.program_of(slip) for slip in item.slips if "fastest first" in slip.sentence)
    assert {fault for fault in handed_in.faults(item, backwards) if fault} == {
        "the axes come back in another order than they were given in"
    }
