"""The live runs of chapter 6: real worlds, small tensors. What they count is checked, what they time is not."""

from __future__ import annotations

import functools
import math

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from experiments.ch06 import block_runs, mlp_runs, split_layer, vocabulary_runs
from experiments.ch06.block_runs import train_twins
from experiments.ch06.checkpoint_runs import CONFIG, LiveBytes, checkpoint_run, measured_sizes, predicted
from experiments.ch06.conjugate_runs import pair_errors, raw_collectives
from experiments.ch06.mlp_runs import bias_error
from experiments.ch06.parallel_block import Operators, ParallelBlock, positions
from experiments.ch06.ring_bytes import collective_calls, ring_bytes
from experiments.ch06.saved_tensors import (
    CPU_MASK,
    UNNAMED,
    ClassicLayer,
    Keeper,
    Kept,
    ModernLayer,
    Sizes,
    beside_the_formula,
    bytes_of_fully_recomputed,
    classic,
    kept,
    unnamed,
)
from experiments.ch06.sharding_runs import block_of, drawn, initial_variances, joined, shard_error
from experiments.ch06.split_layer import WAYS
from experiments.ch06.tensor_parallel_times import mlp_times
from experiments.ch06.vocabulary_runs import TOKENS, two_ways
from rankzero import figures, world
from rankzero.events import Event
from rankzero.tiny import GPT, GPTConfig
from solutions.ch06.activations import best_segment, tensor_parallel_traffic
from solutions.ch06.layer_memory import stored_by_layer
from solutions.ch06.sharded_layers import vocab_parallel_cross_entropy
from solutions.ch06.tensor_parallel import ColumnParallelLinear, copy_to_ranks, reduce_from_ranks

RUNS = pytest.mark.proof(part="runs")
RANKS = (1, pytest.param(2, marks=RUNS), 4)

#: Several tests look at one run.
block_run, mlp_run = functools.cache(block_runs.block_run), functools.cache(mlp_runs.mlp_run)
layer_run, layer_errors = functools.cache(split_layer.layer_run), functools.cache(split_layer.layer_errors)
loss_run, embedding_run = functools.cache(vocabulary_runs.loss_run), functools.cache(vocabulary_runs.embedding_run)

# One matrix.


@pytest.mark.parametrize("ranks", RANKS)
def test_slices_join_and_sums_add(ranks):
    run = joined(ranks)
    assert max(run.by_rows, run.by_columns) < 1e-12
    assert (run.shuffled < 1e-12) == (ranks == 1)


def test_one_seed_for_each_shard_makes_a_test_that_cannot_fail():
    run = joined(4, alike=True)
    assert all(torch.equal(shard, run.shards[0]) for shard in run.shards)
    assert run.shuffled < 1e-12


@pytest.mark.parametrize("ranks", RANKS)
def test_blocks_are_the_whole(ranks):
    x = drawn(0, 8, 3)
    assert torch.equal(torch.cat([block_of(x, 0, rank, ranks) for rank in range(ranks)]), x)


def test_variances_are_those_of_the_rule():
    """Closed form: Xavier's variance is 2 / (fan in + fan out)."""
    h, t = 512, 8
    whole, shard = 5 * h, h + 4 * h // t
    rules = [1, whole / shard, 1, 1 / t**2, whole / shard / t**2]
    assert list(initial_variances(h, t).values()) == pytest.approx(rules, rel=0.02)


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_figure_says_what_is_where(ranks):
    picture = figures.matmul.split_product(ranks)
    assert f"{ranks} ranks" in picture.alt
    assert len(picture.axes) == 6


# The pair.


@pytest.mark.parametrize("ranks", RANKS)
def test_with_f_everything_is_right(ranks):
    errors = pair_errors(ranks)
    largest = errors.pop("largest dX")
    assert max(errors.values()) < 1e-12 < 1 < largest


def test_without_f_only_the_input_gradient_is_wrong():
    errors = pair_errors(4, drop_f=True)
    assert errors["dX"] > 1
    assert max(errors[name] for name in ("Y", "dA", "dB")) < 1e-12


def test_a_second_sum_in_the_backward_pass_is_seen():
    """Kills a comparison that looks at the output alone."""
    errors = pair_errors(2, f=copy_to_ranks, g=lambda x: copy_to_ranks(reduce_from_ranks(x)))
    assert errors["Y"] < 1e-12
    assert min(errors["dX"], errors["dA"], errors["dB"]) > 1


def test_raw_collectives_are_no_part_of_autograd():
    said = raw_collectives()
    assert "autograd kernel was not registered" in said["dist.all_reduce"]
    assert said["dist.all_gather"] == "requires_grad = False"


# The MLP.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("kind", ["split", "gathering"])
def test_a_split_mlp_is_the_whole_one(ranks, kind):
    errors = mlp_run(ranks, kind).errors
    assert set(errors) == {"Y", "dX", "dW1", "db1", "dW2", "db2"}
    assert max(errors.values()) < 1e-12


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS[1:])
def test_an_mlp_reduces_once_each_way(ranks):
    unit = (ranks - 1) / ranks * 8 * math.prod((mlp_runs.BATCH, mlp_runs.SEQUENCE, mlp_runs.HIDDEN))
    forward, both = mlp_run(ranks, backward=False), mlp_run(ranks)
    assert (forward.calls, both.calls) == ({"all_reduce": 1}, {"all_reduce": 2})
    assert (forward.bytes, both.bytes) == pytest.approx((2 * unit, 4 * unit))
    gathering = mlp_run(ranks, "gathering", backward=False)
    assert gathering.calls == {"all_gather": 2}
    assert gathering.bytes == pytest.approx(5 * unit)


class Rotated(ColumnParallelLinear):
    """Takes the rows of the whole layer's other end."""

    def __init__(self, weight, bias=None, gather_output=False, group=None):
        super().__init__(weight.roll(1, 0), None if bias is None else bias.roll(1, 0), gather_output, group)


def test_a_wrong_layer_is_seen():
    errors = mlp_run(2, column=Rotated).errors
    assert min(errors["Y"], errors["dW1"], errors["db1"]) > 1e-3


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS)
def test_a_bias_before_the_sum_counts_once_for_each_rank(ranks):
    assert bias_error(ranks, before=True) == pytest.approx([ranks - 1] * mlp_runs.HIDDEN)
    assert bias_error(ranks, before=False) == pytest.approx([0] * mlp_runs.HIDDEN)


def test_times_are_medians_of_the_slowest_rank():
    alone, both = mlp_times(1, hidden=16, steps=2), mlp_times(2, hidden=16, steps=2)
    assert alone.collectives == 0
    assert 0 < both.collectives < both.step < math.inf
    assert both.compute + both.collectives == pytest.approx(both.step)
    assert 0 < both.share < 1


# The block.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS[1:])
def test_a_block_reduces_twice_each_way_and_sends_what_the_formula_says(ranks):
    config = block_runs.shape()
    size = (block_runs.TOKENS, block_runs.BATCH, config.hidden, ranks, 8)
    forward, both = block_run(ranks, backward=False), block_run(ranks)
    assert (forward.calls, both.calls) == ({"all_reduce": 2}, {"all_reduce": 4})
    assert forward.bytes == pytest.approx(tensor_parallel_traffic(*size, backward=False))
    assert both.bytes == pytest.approx(tensor_parallel_traffic(*size))


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS[1:])
def test_a_split_sequence_sends_as_much_while_it_keeps_what_it_gathered(ranks):
    config = block_runs.shape()
    size = (block_runs.TOKENS, block_runs.BATCH, config.hidden, ranks, 8)
    forward = block_run(ranks, split_sequence=True, backward=False)
    both = block_run(ranks, split_sequence=True, summed=False)
    assert forward.calls == {"all_gather": 2, "reduce_scatter": 2}
    assert both.calls == {"all_gather": 4, "reduce_scatter": 4}
    assert forward.bytes == pytest.approx(tensor_parallel_traffic(*size, backward=False, sequence_parallel=True))
    assert both.bytes == pytest.approx(tensor_parallel_traffic(*size))


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("split_sequence", [False, True])
@pytest.mark.parametrize("ranks", RANKS)
def test_a_split_block_is_the_whole_one(ranks, split_sequence):
    errors = block_run(ranks, split_sequence=split_sequence).errors
    names = {name for name, _ in GPT(block_runs.shape()).blocks[0].named_parameters()}
    assert set(errors) == names | {"Y", "dX"}
    assert max(errors.values()) < 1e-10


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("kv_heads", "replicas"), [(4, 1), (2, 2), (1, 4)])
def test_replicas_need_the_sum_of_their_gradients(kv_heads, replicas):
    run = block_run(4, 8, kv_heads)
    assert run.replicas == replicas
    assert max(run.errors.values()) < 1e-10
    wrong = {name for name, error in run.unsummed.items() if error > 1e-10}
    assert wrong == ({"attention.key.weight", "attention.value.weight"} if replicas > 1 else set())


def test_gains_of_a_split_sequence_need_a_sum():
    wrong = {name for name, error in block_run(4, split_sequence=True).unsummed.items() if error > 1e-10}
    assert wrong == {"attention_norm.weight", "ffn_norm.weight"}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("kv_heads", "split_sequence", "steps"),
    [
        (1, True, 8),
        *(pytest.param(*asked, 20, marks=RUNS) for asked in [(8, False), (2, False), (1, False), (1, True)]),
    ],
)
def test_twins_train_alike(kv_heads, split_sequence, steps):
    run = train_twins(4, 8, kv_heads, split_sequence, steps=steps)
    assert len(run.split) == len(run.whole) == steps
    assert run.difference < 1e-10
    assert run.whole[-1] < run.whole[0] * (1 - steps / 40)


@pytest.mark.proof(part="runs")
def test_without_the_sum_the_twins_part():
    assert train_twins(4, 8, 1, steps=5, summed=False).difference > 1e-3


def test_a_wrong_operator_is_seen():
    operators = Operators(copy=lambda x: x)
    assert block_run(2, operators=operators).errors["dX"] > 1e-3


def _held() -> tuple[int, int]:
    config = block_runs.shape(8, 2)
    part = ParallelBlock(GPT(config).blocks[0].double(), config)
    y = part(torch.zeros(1, 4, config.hidden, dtype=torch.float64), positions(config, 4, torch.float64))
    return sum(weight.numel() for weight in part.parameters()), int(y.isfinite().all())


def test_a_part_holds_its_share_of_the_parameters():
    config = block_runs.shape(8, 2)
    h, d, ffn = config.hidden, config.head_dim, config.ffn
    matrices = 2 * h * h + 3 * h * ffn
    held = [count for count, finite in world.run(_held, ranks=4).values if finite]
    assert held == [matrices // 4 + 2 * d * h + 2 * h] * 4  # one KV head each, gains whole


# The vocabulary.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", RANKS)
def test_loss_and_embedding_are_the_librarys(ranks):
    for run in (loss_run(ranks), embedding_run(ranks), loss_run(ranks, scale=1e4)):
        assert max(run.value_error, run.gradient_error) < 1e-9


def _forward_alone() -> None:
    logits = block_of(drawn(0, TOKENS, 8), 1, dist.get_rank(), 2).requires_grad_()
    vocab_parallel_cross_entropy(logits, torch.zeros(TOKENS, dtype=torch.int64))


def test_a_loss_reduces_three_times_forward_and_never_backward():
    assert collective_calls(world.run(_forward_alone, ranks=2).events) == {"all_reduce": 3}
    assert loss_run(2).calls == {"all_reduce": 3}
    assert loss_run(2).bytes == pytest.approx(3 * 2 / 2 * 8 * TOKENS)
    assert embedding_run(2).calls == {"all_reduce": 1}


def test_a_loss_that_sees_its_own_shard_alone_is_wrong():
    run = loss_run(2, lambda logits, target: functional.cross_entropy(logits, target % 16, reduction="none"))
    assert min(run.value_error, run.gradient_error) > 1e-3


def test_both_ways_of_a_large_vocabulary():
    assert two_ways(128_256, 8192, 8) == {"gather all logits": 1_838_678_016, "three reductions": 172_032}


# Bytes on the wire.


def test_rings_price_what_a_rank_called():
    events = [
        Event(0, "all_reduce", (0, 1, 2, 3), 400, 400),
        Event(0, "all_gather", (0, 1, 2, 3), 100, 400),
        Event(0, "reduce_scatter", (0, 1, 2, 3), 400, 100),
        Event(0, "send", (1,), 1000, 0),
        Event(0, "barrier", (0, 1, 2, 3), 0, 0),
        Event(0, "all_reduce", (0,), 400, 400),
        Event(1, "all_reduce", (0, 1, 2, 3), 400, 400),
    ]
    assert ring_bytes(events) == 600 + 300 + 300
    assert ring_bytes(events, 1) == 600
    assert collective_calls(events, 1) == {"all_reduce": 1}


# What autograd keeps.

shapes = st.builds(
    lambda s, b, a, width, kv: Sizes(s, b, 8 * width * a, a, 8 * kv * a, math.gcd(a, kv)),
    *(st.integers(2, 24), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)),
)


def _split(found: list[Kept]) -> tuple[int, dict[str, int]]:
    assert UNNAMED not in {tensor.name for tensor in found}
    extra = {tensor.name: tensor.bytes for tensor in found if tensor.name in ("norm statistics", "log-sum-exp")}
    return sum(tensor.bytes for tensor in found) - sum(extra.values()), extra


@settings(max_examples=15, deadline=None)
@given(shapes)
def test_the_classic_layer_keeps_what_the_formula_says(sizes):
    size = (sizes.sequence, sizes.batch, sizes.hidden, sizes.heads)
    tokens = sizes.sequence * sizes.batch
    for options, extras in (
        ({}, {"norm statistics": 8 * tokens}),
        ({"recompute": "selective"}, {"norm statistics": 8 * tokens}),
        ({"flash": True}, {"norm statistics": 8 * tokens, "log-sum-exp": 4 * sizes.heads * tokens}),
    ):
        main, extra = _split(kept(ClassicLayer(sizes, **options)))
        attention = "flash" if options.get("flash") else "materialised"
        recompute = options.get("recompute", "none")
        assert main == stored_by_layer(*size, attention=attention, recompute=recompute, mask_bytes=CPU_MASK)
        assert extra == extras


@settings(max_examples=15, deadline=None)
@given(shapes)
def test_the_modern_layer_keeps_what_the_formula_says(sizes):
    main, extra = _split(kept(ModernLayer(sizes)))
    size = (sizes.sequence, sizes.batch, sizes.hidden, sizes.heads, sizes.ffn, sizes.kv_heads)
    tokens = sizes.sequence * sizes.batch
    assert main == stored_by_layer(*size, attention="flash", gated=True, dropout=False)
    assert extra == {"norm statistics": 8 * tokens, "log-sum-exp": 4 * sizes.heads * tokens}


def test_the_layers_of_the_page():
    """Bytes that were measured once, by hand, with the hooks of the library alone."""
    assert _split(kept(ClassicLayer(Sizes()))) == (196_608, {"norm statistics": 512})
    assert _split(kept(ModernLayer(Sizes()))) == (147_456, {"norm statistics": 512, "log-sum-exp": 1024})
    assert bytes_of_fully_recomputed(ClassicLayer(Sizes())) == stored_by_layer(32, 2, 64, 4, recompute="full") == 8192


def test_every_kept_tensor_has_a_name():
    layers = (ClassicLayer(Sizes()), ClassicLayer(Sizes(), flash=True), ModernLayer(Sizes()))
    names = [tensor.name for layer in layers for tensor in kept(layer)]
    assert UNNAMED not in names
    assert "dropped" not in names  # what is added to the stream is not kept


class Hoarding(nn.Linear):
    """A product that also keeps a copy of its input, of which the layer knows nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + 0 * x.clone().square().sum()


def test_a_tensor_that_nobody_named_counts():
    """Kills a keeper that takes what it cannot name for a parameter."""
    layer = ClassicLayer(Sizes())
    layer.up = Hoarding(64, 256, dtype=torch.bfloat16)
    found = {tensor.name: tensor.bytes for tensor in kept(layer)}
    assert found[UNNAMED] == 2 * 32 * 2 * 64
    assert beside_the_formula(kept(layer)) == (196_608 + found[UNNAMED], 512)


def test_parameters_do_not_count():
    x, weight = torch.ones(3, 5, requires_grad=True), torch.ones(7, 5, requires_grad=True)
    for apart, sizes in (((), [60, 140]), ((weight,), [60]), ((x, weight), [])):
        keeper = Keeper(apart)
        with keeper.watching():
            keeper.name("y", functional.linear(x, weight))
        assert sorted(tensor.bytes for tensor in keeper.kept()) == sorted([sum(sizes)] if sizes else [])


@pytest.mark.parametrize("recompute", ["selective", "full"])
def test_what_is_recomputed_gives_the_same_gradients(recompute):
    """Fewer bytes would prove nothing if another function were computed; dropout draws the same masks again."""

    def gradients(how: str) -> list[torch.Tensor]:
        torch.manual_seed(3)
        layer = ClassicLayer(Sizes(), recompute="selective" if how == "selective" else "none").double()
        x = drawn(5, 32, 2, 64).requires_grad_()
        torch.manual_seed(4)
        y = checkpoint(layer, x, unnamed, use_reentrant=False) if how == "full" else layer(x, unnamed)
        (y * drawn(6, 32, 2, 64)).sum().backward()
        return [y.detach(), x.grad, *(parameter.grad for parameter in layer.parameters())]

    for plain, again in zip(gradients("none"), gradients(recompute), strict=True):
        assert plain.abs().max() > 0
        torch.testing.assert_close(again, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"attention": "flash"}, {"recompute": "selective"}, {"recompute": "full"}])
def test_every_definition_of_the_table_is_measured(options):
    counted, _ = beside_the_formula(classic(Sizes(), **options))
    assert counted == stored_by_layer(32, 2, 64, 4, mask_bytes=CPU_MASK, **options)


# The layer over ranks, three ways.


OTHER = Sizes(sequence=8, batch=3, hidden=96, heads=8)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("ranks", "sizes"), [(1, Sizes()), (4, Sizes()), pytest.param(2, OTHER, marks=RUNS)], ids=["1", "4", "2, other"]
)
def test_a_split_layer_keeps_and_sends_what_the_formulas_say(ranks, way, sizes):
    """To the byte, on real ranks. Who keeps what was gathered sends 8 units and keeps more; who gathers twice, 10."""
    run, s, b, h = layer_run(ranks, way, sizes), sizes.sequence, sizes.batch, sizes.hidden
    parallel, share = way != "whole", (ranks - 1) / ranks
    formula = stored_by_layer(s, b, h, sizes.heads, ranks=ranks, sequence_parallel=parallel, mask_bytes=CPU_MASK)
    gathered = 2 * 2 * s * b * h * share if way == "split, gathered once" else 0  # other ranks' tokens, twice, bf16
    assert run.kept == formula + gathered
    assert run.statistics == 8 * s * b / (ranks if parallel else 1)
    sent = tensor_parallel_traffic(s, b, h, ranks, sequence_parallel=way == "split, gathered twice")
    assert run.bytes == pytest.approx(sent)
    if ranks == 1:
        assert run.calls == {}
    elif way == "whole":
        assert run.calls == {"all_reduce": 4}
    else:
        assert run.calls == {"all_gather": 6 if way == "split, gathered twice" else 4, "reduce_scatter": 4}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ranks", [1, 4])
def test_a_split_layer_is_the_whole_one(ranks, way):
    """Outputs and gradients of all twelve parameters, biases too."""
    errors = layer_errors(ranks, way)
    assert set(errors) == {"Y", "dX"} | {name for name, _ in ClassicLayer(Sizes()).named_parameters()}
    assert len(errors) == 14
    assert max(errors.values()) < 1e-12


def test_a_wrong_scatter_of_a_split_layer_is_seen():
    """Kills a comparison of shapes: each rank keeps its own partial sum."""

    def own_slice(x: torch.Tensor, dim: int) -> torch.Tensor:
        return x.chunk(dist.get_world_size(), dim)[dist.get_rank()]

    errors = layer_errors(2, "split, gathered once", operators=Operators(scatter=own_slice))
    assert min(errors["Y"], errors["dX"]) > 1e-3


def test_a_layer_is_split_in_three_ways_alone():
    with pytest.raises(ValueError, match=r"way must be one of whole; .*, got 'half'"):
        layer_run(2, "half")
    with pytest.raises(ValueError, match="heads must be divisible by 3 ranks, got 4"):
        layer_errors(3, "whole")


def test_a_shard_counts_against_its_own_slice():
    whole = drawn(0, 4, 6)
    assert shard_error(whole[2:], whole, 1, 2) == shard_error(whole[:, 2:4], whole, 1, 3) == 0
    assert shard_error(whole[:2], whole, 1, 2) > 0


# Checkpoints.

SMALL = GPTConfig(vocab=16, layers=5, heads=2, head_dim=4, context=8)


@pytest.mark.parametrize("segment", range(1, 6))
def test_the_peak_is_the_formulas_but_for_shared_inputs(segment):
    """The living segment's input is a checkpoint too; a short last segment has let go of its own."""
    run, (layer, point) = checkpoint_run(segment, SMALL), measured_sizes(SMALL)
    assert run.stored == -(-5 // segment) * point
    short = 5 % segment and segment < 5
    assert predicted(segment, SMALL) - run.peak == (2 if short else 1) * point
    assert predicted(segment, SMALL) == -(-5 // segment) * point + segment * layer


def test_without_checkpoints_everything_is_kept():
    run, (layer, _) = checkpoint_run(0, SMALL), measured_sizes(SMALL)
    assert run.stored == run.peak == 5 * layer


def test_recomputed_gradients_are_the_same():
    plain = checkpoint_run(0, SMALL).gradient
    assert plain.abs().max() > 0
    for segment in (1, 2, 5):
        torch.testing.assert_close(checkpoint_run(segment, SMALL).gradient, plain)


def test_the_best_distance_by_the_formula_is_the_best_of_those_measured():
    layer, point = measured_sizes(CONFIG)
    peaks = {segment: checkpoint_run(segment).peak for segment in (1, 2, 3, 12)}
    assert min(peaks, key=lambda segment: peaks[segment]) == best_segment(CONFIG.layers, layer, point)[0]


def test_live_bytes_count_a_storage_once_and_let_go():
    x = torch.ones(10, requires_grad=True)
    live = LiveBytes([x])
    with live.watching():
        square = (x * 2).exp()  # keeps its output, 40 bytes
        y = (square * square.view(2, 5).view(10)).sum()  # the same storage again
        assert live.now == 40
        y.backward()
    assert (live.now, live.peak) == (0, 40)
