"""The live runs of the capstone: real models, bytes and deaths. What they count is checked, what they time is not."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch01.measured_states import counted_flops
from experiments.ch15 import survive as survival
from experiments.ch15.checkpoint_writers import write_rates
from experiments.ch15.counted_flops import counted_parameters, counted_step, matrix_parameters
from experiments.ch15.matmul_peak import matmul_sweep, recomputing, utilization_runs
from experiments.ch15.saved_block import RECOMPUTE, Shape, kept_formula, saved_activations, statistics_bytes
from experiments.ch15.survive import Kill, survive
from rankzero.facts import models
from rankzero.facts.models import Model
from rankzero.facts.units import KB
from rankzero.tiny import GPT, GPTConfig
from rankzero.tiny.long_jobs import Sampler
from rankzero.world import WorldError
from solutions.ch06.activation_memory import activation_bytes
from solutions.ch15.failing_runs import simulate_run
from solutions.ch15.flops import parameter_count, training_flops
from solutions.ch15.run_plan import memory_per_stage

DENSE = [model for model in models.MODELS if not model.experts]
LLAMAS = [model for model in DENSE if not model.biases]
TINY = GPTConfig(layers=1, heads=2, head_dim=8, context=16)


def dimensions(model) -> tuple[int, ...]:
    return model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim, model.ffn, model.vocab


# Counting.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("model", DENSE, ids=lambda model: model.name)
def test_modules_have_the_parameters_of_their_shape(model):
    assert counted_parameters(model) == model.parameters


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("model", LLAMAS, ids=lambda model: model.name)
def test_the_formula_counts_published_modules(model):
    """Kills: queries' width given to keys, two matrices in a gated block, a tied head counted twice."""
    formula = parameter_count(*dimensions(model), model.gated, model.tied_embeddings)
    assert formula == counted_parameters(model)


configs = st.builds(
    lambda layers, groups, kv, half, ffn, vocab: GPTConfig(vocab, layers, groups * kv, kv, 2 * half, ffn, context=8),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 8),
    st.integers(1, 40),
    st.integers(2, 50),
)


@settings(max_examples=15, deadline=None)
@given(configs)
def test_the_formula_counts_a_real_tiny_model(config):
    assert parameter_count(*dimensions(config)) == sum(weight.numel() for weight in GPT(config).parameters())


@pytest.mark.parametrize("context", [8, 32])
def test_the_formula_is_the_librarys_count_to_the_last_flop(context):
    config = GPTConfig(vocab=300, layers=2, heads=4, kv_heads=2, head_dim=8, ffn=24, context=context)
    seen = counted_flops(config)
    phases = [(seen.tokens, context)]
    assert seen.step == 3 * seen.forward
    assert training_flops(GPT(config).matmul_parameters, phases, config.layers, config.hidden) == seen.step


def test_a_published_shape_is_counted_without_its_numbers():
    """Two layers of the 405B, and the step of the page's table: h 256, L 2, a 8, k 2, f 688, V 1,000."""
    two = replace(models.LLAMA3_405B, layers=2)
    seen = counted_step(two, 1024)
    assert seen.step == training_flops(matrix_parameters(two), [(1024, 1024)], 2, two.heads * two.head_dim)
    small = counted_step(Model("small", 2, 256, 8, 2, 32, 688, 1000), 128)
    assert (2 * small.forward, 2 * small.step) == (907_018_240, 2_721_054_720)


@pytest.mark.proof(part="runs")
def test_matrices_are_all_but_look_up_and_norms():
    model = models.LLAMA3_405B
    assert matrix_parameters(model) == 403_747_897_344
    assert matrix_parameters(model) == model.parameters - model.hidden * (model.vocab + 2 * model.layers + 1)


def test_a_mixture_is_refused():
    with pytest.raises(ValueError, match="shape must be a dense model, got Mixtral"):
        counted_parameters(models.MIXTRAL_8X7B)


# Saved activations.

shapes = st.builds(
    lambda hidden, groups, kv, half, ffn: Shape(hidden, groups * kv, kv, 2 * half, ffn),
    *(st.integers(8, 80), st.integers(1, 4), st.integers(1, 3), st.integers(2, 8), st.integers(8, 90)),
)


@settings(max_examples=20, deadline=None)
@given(shapes, st.sampled_from(RECOMPUTE), st.integers(1, 3), st.integers(3, 20))
def test_saved_bytes_are_the_formula_exactly(shape, recompute, batch, sequence):
    """4 (4h + 2A + 2K + 4f) + 8 + 4 heads bytes per token in fp32, and what the two ways of recomputing leave."""
    kept = saved_activations(shape, recompute, batch, sequence)
    per_token = kept_formula(shape, recompute) + statistics_bytes(shape, recompute)
    assert sum(one.bytes_per_token for one in kept) == pytest.approx(per_token, rel=1e-12)


def test_every_saved_tensor_has_its_name_and_size():
    shape = Shape()
    kept = {one.name: one.bytes_per_token for one in saved_activations(shape)}
    h, width, shared, f = shape.hidden, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim, shape.ffn
    sizes = {"queries": width, "attention output": width, "keys": shared, "values": shared, "gate": f, "up": f}
    assert {name: kept[name] for name in sizes} == {name: 4 * size for name, size in sizes.items()}
    assert kept["the block's input"] == kept["output of the second norm"] == 4 * h
    assert kept["the norms' scales"] == 2 * 4
    assert kept["attention's log-sums"] == 4 * shape.heads
    assert len(saved_activations(shape)) == 14


def test_the_block_computes_what_the_tiny_model_computes():
    """A block that saved the right bytes and computed something else would prove nothing; gradients too."""
    from experiments.ch15.saved_block import AuditedBlock
    from rankzero.tiny import layers
    from rankzero.tiny.layers import Block, Pass

    config = GPTConfig(heads=4, kv_heads=2, head_dim=8, ffn=48, context=16)
    plain = Block(config)
    with torch.no_grad():
        plain.attention_norm.weight.uniform_(0.5, 1.5)
    angles = layers.angles(torch.arange(16).unsqueeze(0), 8).float()
    now = Pass(angles.cos()[:, None], angles.sin()[:, None], torch.ones(1, 1, 16, 16, dtype=torch.bool).tril(), None)
    turn = torch.stack([angles.cos()[0], angles.sin()[0]]).unsqueeze(2)
    attention, ffn = plain.attention, plain.ffn
    weights = (attention.query, attention.key, attention.value, attention.output, ffn.gate, ffn.up, ffn.down)
    x = torch.randn(2, 16, 32, generator=torch.Generator().manual_seed(0))
    expected = _with_gradient(lambda y: plain(y, now, 0), x)
    for recompute in RECOMPUTE:
        block = AuditedBlock(Shape(32, 4, 2, 8, 48), recompute)
        ours = (*block.qkv, block.output, block.gate, block.up, block.down)
        for mine, theirs in zip(ours, weights, strict=True):
            mine.weight = theirs.weight
        block.gains[0] = plain.attention_norm.weight
        found = _with_gradient(lambda y, block=block: block(y, turn), x)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def _with_gradient(block, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.clone().requires_grad_()
    out = block(y)
    out.square().sum().backward()
    return out.detach(), y.grad


def test_chapter_six_and_the_plan_count_the_same_bytes():
    """Three formulas of activations for one block, written apart from each other."""
    model = models.LLAMA3_405B
    shape = Shape(model.hidden, model.heads, model.kv_heads, model.head_dim, model.ffn)
    for recompute, number in (("none", 626_688), ("cheap", 348_160), ("full", 32_768)):
        rows = memory_per_stage(model, [model.layers], 1, 1, 1, 1, 1, recompute=recompute)
        assert kept_formula(shape, recompute, 2) == rows[0]["activations"] / model.layers == number
    assert activation_bytes(model, 1) == pytest.approx(kept_formula(shape, "none", 2))


# Utilization.


@pytest.mark.proof(part="runs")
def test_recomputing_changes_no_loss_and_is_counted():
    run = utilization_runs(steps=2, batch=2, config=TINY, sides=(16, 32))
    assert run.kept.losses == run.recomputed.losses
    assert run.kept.recomputed_forward == 0 < run.recomputed.recomputed_forward < 1
    assert run.kept.flops_per_token == run.recomputed.flops_per_token
    assert run.peak == max(run.sweep.values()) > 0
    seen = counted_flops(TINY)
    assert run.kept.flops_per_token == seen.step / seen.tokens


def test_recomputed_gradients_are_the_same():
    tokens = torch.arange(16).unsqueeze(0)
    gradients = []
    for model in (GPT(TINY), recomputing(TINY)):
        model(tokens).square().sum().backward()
        gradients.append([weight.grad for weight in model.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


def test_a_sweep_names_every_side():
    rates = matmul_sweep((8, 16), repeats=1)
    assert list(rates) == [8, 16]
    assert all(0 < rate < math.inf for rate in rates.values())


# Writing.


def test_writers_share_the_size(tmp_path):
    found = write_rates((1, 3), size=30 * KB, repeats=1, folder=str(tmp_path))
    assert [(one.writers, one.size) for one in found] == [(1, 30_000), (3, 30_000)]
    assert all(0 < one.bandwidth < math.inf for one in found)
    assert list(tmp_path.iterdir()) == []


def test_nobody_writes_nothing():
    with pytest.raises(ValueError, match="size must be at least one byte for each writer"):
        write_rates((4,), size=3)


# Surviving.


@pytest.fixture(scope="module")
def plain():
    return survive(12, every=4, config=TINY)


KILLS = (Kill(2, after=6), Kill(0, after=1), Kill(3, after=3, writing=True), Kill(1, after=0))


@pytest.fixture(scope="module")
def killed():
    return survive(12, every=4, kills=KILLS, config=TINY)


@pytest.mark.proof(part="systems")
def test_after_four_kills_the_run_is_bit_for_bit_the_uninterrupted_one(plain, killed):
    """Weights, every loss and the order of the data; a rank dies in a step, while writing, and at once."""
    assert len(killed.deaths) == 4
    assert all("SIGKILL" in death for death in killed.deaths)
    assert killed.digest == plain.digest
    assert killed.losses == plain.losses
    assert killed.windows == plain.windows
    assert (killed.repeated, plain.repeated) == (0, 0)


@pytest.mark.proof(part="runs")
def test_a_death_in_the_middle_of_a_write_leaves_a_part_and_the_run_goes_on(plain, monkeypatch, tmp_path):
    """The file that the dead rank leaves behind cannot be read; the checkpoint before still stands, and counts.

    Kills: a death before the first byte or after the last, and a writer that works under the final name.
    """
    kept = SimpleNamespace(TemporaryDirectory=lambda: nullcontext(str(tmp_path)))
    monkeypatch.setattr(survival, "tempfile", kept)
    killed = survive(12, every=4, kills=(Kill(1, after=8, writing=True),), config=TINY)
    torn, whole = tmp_path / "draft-0-8" / "rank-1.pt", tmp_path / "step-000012" / "rank-1.pt"
    assert 0 < torn.stat().st_size < 0.9 * whole.stat().st_size
    with pytest.raises((RuntimeError, OSError)):
        torch.load(torn)
    assert [path.name for path in tmp_path.glob("step-*")] == ["step-000012"]
    assert (killed.lost_steps, killed.checkpoints) == (4, 3)
    assert killed.digest == plain.digest


@pytest.mark.proof(part="runs")
def test_lost_steps_are_those_of_the_simulation(plain, killed):
    """In units of steps; a step cut in its middle is half a step, a write just before its end a whole segment."""
    gaps = [kill.after + (0.999 if kill.writing else 0.5) for kill in KILLS]
    model = simulate_run(12, 4, 0, 0, gaps)
    assert killed.lost_steps == 2 + 1 + 4 + 0
    assert model["lost"] == pytest.approx(killed.lost_steps + 3 * 0.5, abs=0.002)
    assert model["failures"] == len(killed.deaths)
    assert killed.checkpoints == plain.checkpoints == 3


@pytest.mark.proof(part="runs")
def test_weights_alone_are_not_enough(plain):
    """Kills: a proof that any resume would pass."""
    killed = survive(12, every=4, kills=KILLS[:1], whole=False, config=TINY)
    assert killed.digest != plain.digest
    assert killed.losses[:4] == plain.losses[:4]
    assert killed.losses[4:] != plain.losses[4:]
    assert killed.repeated == 4 * 4 * survival.SHARE  # the first four steps' windows again
    assert len(killed.losses) == 12


@pytest.mark.proof(part="runs")
def test_without_kills_what_is_saved_does_not_matter(plain):
    assert survive(12, every=5, whole=False, config=TINY).digest == plain.digest


def test_the_seconds_are_accounted_for(plain):
    parts = (plain.useful, plain.checkpoint, plain.lost, plain.restart)
    assert plain.wall == pytest.approx(sum(parts))
    assert plain.lost == plain.restart == 0 < plain.useful
    assert 0 < plain.goodput < 1


def test_another_failure_is_not_survived(monkeypatch):
    """Kills: a loop that restarts whatever happens, for ever."""
    monkeypatch.setattr(survival, "TIMEOUT", 1e-3)
    with pytest.raises(WorldError, match=r"0\.001 s"):
        survive(4, every=2, config=TINY)


def test_a_torn_checkpoint_does_not_count(tmp_path: Path):
    (tmp_path / "draft-0-8").mkdir()
    assert survival._newest(tmp_path) is None
    for step in (4, 12, 8):
        (tmp_path / f"step-{step:06d}").mkdir()
    assert survival._newest(tmp_path).name == "step-000012"


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 40))
def test_a_restored_sampler_goes_on_where_the_other_was(windows, count, before):
    one, other = Sampler(windows, seed=0), Sampler(windows, seed=5)
    one.take(before)
    other.load_state_dict(one.state_dict())
    assert [one.take(count) for _ in range(5)] == [other.take(count) for _ in range(5)]


@given(st.integers(1, 30), st.integers(1, 4))
def test_an_epoch_sees_every_window_once(windows, epochs):
    sampler = Sampler(windows, seed=0)
    for _ in range(epochs):
        assert sorted(sampler.take(windows)) == list(range(windows))
