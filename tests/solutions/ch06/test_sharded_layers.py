"""Heads, vocabulary and sequence split over real ranks, against the unsplit twin, brute force and DTensor."""

from __future__ import annotations

import one_world
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional

from rankzero import world
from solutions.ch06.heads import debug_qkv, head_partition
from solutions.ch06.sharded_layers import (
    debug_embed,
    gather_sequence,
    parallel_attention,
    scatter_sequence,
    vocab_parallel_cross_entropy,
    vocab_parallel_embedding,
)
from solutions.ch06.tensor_parallel import reduce_from_ranks

RANKS = [1, 2, 4]
Tensor = torch.Tensor


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers, the same in every process."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def leaves(*tensors: Tensor) -> list[Tensor]:
    return [tensor.clone().requires_grad_() for tensor in tensors]


def close(got: Tensor | None, expected: Tensor, tolerance: float = 1e-12) -> None:
    assert got is not None
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance * scale)


# Heads.


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8, 16, 64])
@pytest.mark.parametrize("group", [1, 2, 3, 8])
@pytest.mark.parametrize("kv_heads", [1, 2, 3, 4, 8, 12])
def test_a_rank_holds_what_its_query_heads_read(ranks, group, kv_heads):
    """Brute force: the map of query head to key-value head, and how often each stands somewhere."""
    heads = group * kv_heads
    if heads % ranks or (kv_heads % ranks and ranks % kv_heads):
        with pytest.raises(ValueError, match="got"):
            head_partition(heads, kv_heads, ranks, 0)
        return
    parts = [head_partition(heads, kv_heads, ranks, rank) for rank in range(ranks)]
    assert [q for query, _, _ in parts for q in query] == list(range(heads))
    copies = [kv for _, key_value, _ in parts for kv in key_value]
    for query, key_value, replicas in parts:
        assert {q // group for q in query} == set(key_value)
        assert all(copies.count(kv) == replicas for kv in key_value)


def test_heads_of_models():
    assert head_partition(64, 8, 8, 3) == (range(24, 32), range(3, 4), 1)  # Llama 3 70B at 8 ranks: 8 + 1 heads
    assert head_partition(64, 8, 16, 3) == (range(12, 16), range(1, 2), 2)
    assert head_partition(8, 1, 4, 3) == (range(6, 8), range(0, 1), 4)


def test_rows_of_a_fused_weight():
    """Kills: one block of all rows. Split by torch for comparison."""
    assert debug_qkv(4, 2, 0) == [0, 1, 4, 5, 8, 9]
    for ranks in (1, 2, 3, 6):
        thirds = torch.arange(36).reshape(3, ranks, -1)
        assert [debug_qkv(12, ranks, r) for r in range(ranks)] == [
            thirds[:, r].flatten().tolist() for r in range(ranks)
        ]


S, D, HEADS, HIDDEN = 5, 2, 4, 6


def attention_inputs(kv_heads: int) -> list[Tensor]:
    rows = ((2, S, HIDDEN), (HEADS * D, HIDDEN), (kv_heads * D, HIDDEN), (kv_heads * D, HIDDEN), (HIDDEN, HEADS * D))
    return leaves(*(drawn(20 + seed, *shape) for seed, shape in enumerate(rows)))


def twin_attention(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, wo: Tensor, kv_heads: int) -> Tensor:
    """Written without the library's attention: scores, mask, softmax."""
    q, k, v = ((x @ w.t()).unflatten(-1, (-1, D)).transpose(1, 2) for w in (wq, wk, wv))
    k, v = (t.repeat_interleave(HEADS // kv_heads, 1) for t in (k, v))
    later = torch.ones(S, S, dtype=torch.bool).triu(1)
    scores = (q @ k.transpose(-1, -2) / D**0.5).masked_fill(later, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ wo.t()


def split_attention(kv_heads: int) -> tuple[Tensor, ...]:
    inputs = attention_inputs(kv_heads)
    y = parallel_attention(*inputs, HEADS, kv_heads)
    y.backward(drawn(30, 2, S, HIDDEN))
    return y.detach(), *(tensor.grad for tensor in inputs)


KV_HEADS = (4, 2, 1)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("kv_heads", KV_HEADS)
def test_attention_is_its_twin(ranks, kv_heads):
    """Replicated key-value heads too: their gradients are whole only after the sum over the replicas."""
    inputs = attention_inputs(kv_heads)
    expected = twin_attention(*inputs, kv_heads)
    expected.backward(drawn(30, 2, S, HIDDEN))
    run = one_world.runs(split_attention, tuple((heads,) for heads in KV_HEADS), ranks)[kv_heads,]
    for rank, (y, dx, dwq, dwk, dwv, dwo) in enumerate(run.values):
        query, key_value, _ = head_partition(HEADS, kv_heads, ranks, rank)
        rows, kv_rows = (slice(h.start * D, h.stop * D) for h in (query, key_value))
        close(y, expected.detach())
        close(dx, inputs[0].grad)
        close(dwq[rows], inputs[1].grad[rows])
        close(dwk[kv_rows], inputs[2].grad[kv_rows])
        close(dwv[kv_rows], inputs[3].grad[kv_rows])
        close(dwo[:, rows], inputs[4].grad[:, rows])
    sizes = [event.sent for event in run.events if event.rank == 0]
    assert sizes.count(8 * 2 * S * HIDDEN) == (2 if ranks > 1 else 0)
    assert len(sizes) == (0 if ranks == 1 else 2 if kv_heads >= ranks else 4)


def trained(kv_heads: int, split: bool) -> list[float]:
    """Twenty steps of plain gradient descent towards a fixed target; the losses."""
    x, *weights = attention_inputs(kv_heads)
    losses = []
    for _ in range(20):
        y = parallel_attention(x, *weights, HEADS, kv_heads) if split else twin_attention(x, *weights, kv_heads)
        loss = ((y - drawn(40, 2, S, HIDDEN)) ** 2).mean()
        losses.append(loss.item())
        for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            weight.data -= 0.02 * gradient
    return losses


def test_replicated_heads_train_as_their_twin():
    expected = trained(2, split=False)
    assert expected[-1] < 0.9 * expected[0]
    for losses in world.run(trained, 2, True, ranks=4).values:
        assert max(abs(a - b) for a, b in zip(losses, expected, strict=True)) < 1e-10


# The vocabulary.


def split_loss(scale: float, dtype: torch.dtype, shape: tuple[int, ...], vocab: int) -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    logits, target = scale * drawn(1, *shape, vocab), targets(shape, vocab)
    (own,) = leaves(logits.chunk(ranks, -1)[rank].to(dtype))
    loss = vocab_parallel_cross_entropy(own, target)
    loss.backward(drawn(3, *shape).to(dtype))
    return loss.detach(), own.grad


def targets(shape: tuple[int, ...], vocab: int) -> Tensor:
    return torch.randint(vocab, shape, generator=torch.Generator().manual_seed(2))


LOSSES = ((1, (5,), 8), (100, (2, 3), 64), (1e4, (), 4), (0.1, (7,), 512))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("scale", "shape", "vocab"), LOSSES)
def test_the_loss_is_the_librarys(ranks, scale, shape, vocab):
    """Kills: a local maximum, no maximum, foreign targets, a one-hot forgotten or subtracted everywhere."""
    (logits,) = leaves(scale * drawn(1, *shape, vocab))
    expected = functional.cross_entropy(logits.reshape(-1, vocab), targets(shape, vocab).reshape(-1), reduction="none")
    expected.reshape(shape).backward(drawn(3, *shape))
    cases = tuple((scale, torch.float64, shape, vocab) for scale, shape, vocab in LOSSES)
    run = one_world.runs(split_loss, cases, ranks)[scale, torch.float64, shape, vocab]
    for rank, (loss, gradient) in enumerate(run.values):
        close(loss, expected.detach().reshape(shape), 1e-9)
        close(gradient, logits.grad.chunk(ranks, -1)[rank], 1e-9)
    per_token = 8 * max(1, torch.Size(shape).numel())
    calls = [(event.operation, event.sent) for event in run.events if event.rank == 0]
    assert calls == ([("all_reduce", per_token)] * 3 if ranks > 1 else [])


def test_the_loss_in_half_precision_keeps_its_type_and_is_computed_in_float32():
    """Rounded once, at the end: within half a unit in the last of bf16's eight digits."""
    run = world.run(split_loss, 5.0, torch.bfloat16, (6,), 16, ranks=2)
    (logits,) = leaves((5.0 * drawn(1, 6, 16)).bfloat16().double())
    exact = functional.cross_entropy(logits, targets((6,), 16), reduction="none")
    exact.backward(drawn(3, 6).bfloat16().double())
    for rank, (loss, gradient) in enumerate(run.values):
        assert loss.dtype == gradient.dtype == torch.bfloat16
        torch.testing.assert_close(loss.double(), exact.detach(), rtol=2**-8, atol=1e-6)
        torch.testing.assert_close(gradient.double(), logits.grad.chunk(2, -1)[rank], rtol=2**-8, atol=1e-6)
    assert {event.sent for event in run.events} == {6 * 4}


def loss_of_the_library() -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,))
    own = (3 * drawn(1, 5, 8)).chunk(ranks, -1)[rank].contiguous()
    logits = DTensor.from_local(own, mesh, [Shard(-1)]).requires_grad_()
    target = DTensor.from_local(targets((5,), 8), mesh, [Replicate()])
    with loss_parallel():
        loss = functional.cross_entropy(logits, target, reduction="sum")
        loss.backward()
    return loss.to_local().detach() if isinstance(loss, DTensor) else loss.detach(), logits.grad.to_local()


def loss_of_ours() -> tuple[Tensor, Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    (own,) = leaves((3 * drawn(1, 5, 8)).chunk(ranks, -1)[rank])
    loss = vocab_parallel_cross_entropy(own, targets((5,), 8)).sum()
    loss.backward()
    return loss.detach(), own.grad


def both_losses() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    return loss_of_ours(), loss_of_the_library()


@pytest.mark.parametrize("ranks", [2, 4])
def test_loss_parallel_agrees(ranks):
    for own, other in world.run(both_losses, ranks=ranks).values:
        close(own[0], other[0])
        close(own[1], other[1])


def look_up() -> tuple[Tensor, Tensor, Tensor]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    ids = targets((3, 4), 8)
    (own,) = leaves(drawn(5, 8, 3).chunk(ranks)[rank])
    rows = vocab_parallel_embedding(ids, own)
    rows.backward(drawn(6, 3, 4, 3))
    return rows.detach(), own.grad, debug_embed(ids, own.detach())


@pytest.mark.parametrize("ranks", RANKS)
def test_the_look_up_is_the_librarys(ranks):
    (table,) = leaves(drawn(5, 8, 3))
    expected = functional.embedding(targets((3, 4), 8), table)
    expected.backward(drawn(6, 3, 4, 3))
    run = world.run(look_up, ranks=ranks)
    for rank, (rows, gradient, fixed) in enumerate(run.values):
        close(rows, expected.detach())
        close(fixed, expected.detach())
        close(gradient, table.grad.chunk(ranks)[rank])


# The sequence.

H, FFN, BATCH = 8, 16, (2, 3)
MLP_SHAPES = ((*BATCH, H), (FFN, H), (FFN,), (H, FFN), (H,))


def mlp_inputs() -> list[Tensor]:
    return leaves(*(drawn(seed, *shape) for seed, shape in enumerate(MLP_SHAPES)))


def adjoint(dim: int) -> tuple[float, float, bool]:
    """Both sides of the law on this rank, and whether scatter is the own slice of g."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    part, whole = (
        drawn(rank, 2, 3, 2),
        drawn(50 + rank, *(n * (ranks if d == dim % 3 else 1) for d, n in enumerate((2, 3, 2)))),
    )
    (x,) = leaves(part)
    y = gather_sequence(x, dim)
    y.backward(whole)
    (z,) = leaves(whole)
    scattered = scatter_sequence(z, dim)
    scattered.backward(part)
    same = torch.allclose(scattered, reduce_from_ranks(whole).chunk(ranks, dim)[rank])
    same = same and torch.equal(z.grad, y.detach()) and torch.equal(x.grad, scattered.detach())
    return float((y.detach() * whole).sum()), float((part * x.grad).sum()), same


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_and_scatter_are_adjoint(ranks, dim):
    """Kills: a backward pass that takes the own slice, a scatter that only slices, a wrong dimension."""
    run = one_world.runs(adjoint, ((0,), (1,), (-1,)), ranks)[dim,]
    left, right, same = zip(*run.values, strict=True)
    assert sum(left) == pytest.approx(sum(right), rel=1e-12)
    assert all(same)
    kinds = [event.operation for event in run.events if event.rank == 0]
    assert kinds[:4] == ([] if ranks == 1 else ["all_gather", "reduce_scatter", "reduce_scatter", "all_gather"])


def block(x: Tensor, norm: nn.Module, ours: bool) -> Tensor:
    """A norm, then the MLP with a residual; ours on a slice of the sequence."""
    _, up, up_bias, down, down_bias = mlp_inputs()
    if not ours:
        return x + functional.linear(functional.gelu(functional.linear(norm(x), up, up_bias)), down, down_bias)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = gather_sequence(norm(x), 1)
    inner = functional.gelu(functional.linear(whole, up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank]))
    return x + scatter_sequence(functional.linear(inner, down.chunk(ranks, 1)[rank]), 1) + down_bias


def normed(ours: bool, sequence: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """y, dx and the norm's weight gradient, of the own slice, or of the whole sequence."""
    ranks, rank = (dist.get_world_size(), dist.get_rank()) if ours else (1, 0)
    norm = nn.LayerNorm(H, dtype=torch.float64)
    (x,) = leaves(drawn(60, 2, sequence, H).chunk(ranks, 1)[rank])
    y = block(x, norm, ours)
    y.backward(drawn(61, 2, sequence, H).chunk(ranks, 1)[rank])
    gradient = norm.weight.grad.clone()
    if ours:
        dist.all_reduce(gradient)
    return y.detach(), x.grad, gradient


@pytest.mark.parametrize("ranks", RANKS)
def test_a_block_split_along_the_sequence_is_its_twin(ranks):
    """Norm weights see a slice each: their gradients are partial and need the sum."""
    y, dx, dw = normed(ours=False)
    for rank, (own, gradient, weight) in enumerate(world.run(normed, True, ranks=ranks).values):
        close(own, y.chunk(ranks, 1)[rank])
        close(gradient, dx.chunk(ranks, 1)[rank])
        close(weight, dw)


class Normed(nn.Sequential):
    """A norm, then the MLP with a residual: the plain layers that the library splits."""

    def __init__(self) -> None:
        super().__init__(nn.LayerNorm(H), nn.Linear(H, FFN), nn.GELU(), nn.Linear(FFN, H))
        self.double()
        _, *weights = mlp_inputs()
        for own, full in zip((*self[1].parameters(), *self[3].parameters()), weights, strict=True):
            own.data.copy_(full)

    def forward(self, x: Tensor) -> Tensor:
        return x + super().forward(x)


def normed_by_the_library() -> tuple[Tensor, Tensor, Tensor, dict[str, int]]:
    """y, dx, the norm's weight gradient, and the collectives of both passes."""
    mesh, rank = init_device_mesh("cpu", (dist.get_world_size(),)), dist.get_rank()
    column = ColwiseParallel(input_layouts=Shard(1), use_local_output=True)
    row = RowwiseParallel(output_layouts=Shard(1), use_local_output=True)
    norm = SequenceParallel(use_local_output=True)
    model = parallelize_module(Normed(), mesh, {"0": norm, "1": column, "3": row})
    (x,) = leaves(drawn(60, 2, 4, H).chunk(mesh.size(), 1)[rank].contiguous())
    with CommDebugMode() as calls:
        y = model(x)
        y.backward(drawn(61, 2, 4, H).chunk(mesh.size(), 1)[rank].contiguous())
    counts = {str(name).rsplit(".", 1)[-1]: count for name, count in calls.get_comm_counts().items() if count}
    return y.detach(), x.grad, model[0].weight.grad.full_tensor(), counts


def both_normed() -> tuple[tuple, tuple]:
    return normed(ours=True), normed_by_the_library()


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.proof(part="runs")
def test_the_librarys_sequence_parallel_block_agrees(ranks):
    """Values, gradients, and two all-gathers and two reduce-scatters: what the library gathered it keeps."""
    for own, (*other, counts) in world.run(both_normed, ranks=ranks).values:
        for a, b in zip(own, other, strict=True):
            close(a, b)
        assert {name.partition("_into_tensor")[0].partition("_tensor")[0]: n for name, n in counts.items()} == {
            "all_gather": 2,
            "reduce_scatter": 2,
        }


# Bad input.


def said(call) -> str:
    with pytest.raises(ValueError) as caught:
        call()
    return str(caught.value)


def complaints() -> list[str]:
    """What is said where heads, sizes and ids do not fit."""
    w, x = torch.zeros(6, 6), torch.zeros(1, 2, 6)
    return [
        said(lambda: parallel_attention(x, w, w, w, w, 6, 6)),
        said(lambda: scatter_sequence(x, -1)),
        said(lambda: vocab_parallel_cross_entropy(torch.zeros(1, 2), torch.tensor([8]))),
        said(lambda: vocab_parallel_embedding(torch.tensor([-1, 3]), torch.zeros(2, 1))),
    ]


def test_bad_input_is_named_on_every_rank():
    for sentences in world.run(complaints, ranks=4).values:
        assert sentences == [
            "heads must be divisible by ranks, got 6 and 4",
            "x and dim must split over 4 ranks, got (1, 2, 6) and -1",
            "target must be from 0 to 7, got tensor([8])",
            "ids must be from 0 to 7, got tensor([-1,  3])",
        ]
