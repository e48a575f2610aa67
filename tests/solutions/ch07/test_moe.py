"""Routing against the library, the balancing loss against its laws, expert parallelism against the dense layer."""

from __future__ import annotations

import one_world
import pytest
import torch
import torch.distributed as dist
from torch import nn

from rankzero import world
from solutions.ch07.moe import expert_parallel_forward, load_balancing_loss, route

ROWS = torch.tensor([[2.0, 1.0, 0.0, -1.0], [0.0, 0.5, 3.0, 1.0], [-1.0, -2.0, 0.0, 4.0]])

# route


def test_the_rows_of_the_page():
    weights, experts = route(ROWS[:2], 2)
    assert experts.tolist() == [[0, 1], [2, 3]]
    assert weights.flatten().tolist() == pytest.approx([0.731059, 0.268941, 0.880797, 0.119203], abs=1e-6)
    plain, _ = route(ROWS[:2], 2, renormalize=False)
    assert plain.flatten().tolist() == pytest.approx([0.643914, 0.236883, 0.789137, 0.106798], abs=1e-6)


@pytest.mark.parametrize("top_k", [1, 2, 5, 8])
def test_renormalised_weights_are_a_softmax_over_the_kept_logits(top_k):
    """The second way to write it, Mixtral's: keep first, then take the softmax of what was kept."""
    logits = torch.randn(32, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(top_k))
    weights, experts = route(logits, top_k)
    kept, places = logits.topk(top_k, dim=1)
    assert torch.equal(experts, places)
    torch.testing.assert_close(weights, kept.softmax(dim=1))


def test_half_precision_logits_are_widened():
    logits = torch.randn(16, 8, generator=torch.Generator().manual_seed(0)).bfloat16()
    weights, _ = route(logits, 2)
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights, route(logits.float(), 2)[0])


def test_one_expert_renormalised_teaches_the_router_nothing():
    for renormalize, learns in ((True, False), (False, True)):
        logits = ROWS.clone().requires_grad_()
        weights, _ = route(logits, 1, renormalize)
        weights.backward(torch.tensor([[1.0], [2.0], [3.0]]))
        assert logits.grad is not None
        assert bool(logits.grad.abs().max() > 1e-6) is learns


def test_gradients_of_the_weights():
    logits = ROWS.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: route(x, 2)[0], logits)


def test_no_tokens_have_no_experts():
    weights, experts = route(torch.empty(0, 4), 2)
    assert weights.shape == experts.shape == (0, 2)


def test_no_token_has_more_experts_than_there_are():
    with pytest.raises(ValueError, match="top_k must be an integer from 1 to 4, got 5"):
        route(ROWS, 5)


# load_balancing_loss


@pytest.mark.parametrize(("top_k", "found"), [(2, 1.11248), (1, 1.1981905)])
def test_the_losses_of_the_page(top_k, found):
    _, experts = route(ROWS, top_k)
    assert float(load_balancing_loss(ROWS.softmax(dim=1), experts, 4)) == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_uniform_routing_has_loss_one(top_k):
    chosen = torch.arange(8 * top_k).view(8, top_k) % 4
    assert float(load_balancing_loss(torch.full((8, 4), 0.25), chosen, 4)) == pytest.approx(1)


def test_collapse_has_loss_e():
    probabilities = torch.eye(16)[torch.zeros(5, dtype=torch.int64)]
    assert float(load_balancing_loss(probabilities, torch.zeros(5, 1, dtype=torch.int64), 16)) == 16


def test_the_loss_is_that_of_transformers_over_k():
    """An independent form, with one-hot vectors, as the transformers library computes it: k times ours."""
    probabilities = torch.randn(64, 8, generator=torch.Generator().manual_seed(3)).softmax(dim=1)
    for top_k in (1, 2, 3):
        chosen = probabilities.topk(top_k, dim=1)[1]
        per_expert = nn.functional.one_hot(chosen, 8).float().mean(dim=0)  # [top_k, experts]
        theirs = (per_expert * probabilities.mean(dim=0)).sum() * 8
        assert float(load_balancing_loss(probabilities, chosen, 8)) == pytest.approx(float(theirs) / top_k)


def test_the_gradient_flows_through_the_mean_probability_alone():
    probabilities = ROWS.softmax(dim=1).requires_grad_()
    _, experts = route(ROWS, 2)
    load_balancing_loss(probabilities, experts, 4).backward()
    shares = torch.bincount(experts.flatten(), minlength=4) / 6
    assert probabilities.grad is not None
    torch.testing.assert_close(probabilities.grad, (4 * shares / 3).expand(3, 4))


def test_the_loss_refuses():
    with pytest.raises(ValueError, match="at least one token, got"):
        load_balancing_loss(torch.empty(0, 4), torch.empty(0, 2, dtype=torch.int64), 4)
    with pytest.raises(ValueError, match=r"must be \[tokens, 3\], got \(2, 4\)"):
        load_balancing_loss(torch.ones(2, 4), torch.zeros(2, 1, dtype=torch.int64), 3)


# expert_parallel_forward

HIDDEN, EXPERTS, TOP_K = 6, 12, 2

#: Tokens of each rank: alike, uneven, and none on the first, a middle or the last rank.
TOKENS = ((5,), (4, 4), (0, 7), (3, 0, 5), (2, 9, 4, 1), (6, 3, 0, 0))


def _layer(kind: torch.dtype) -> tuple[list[nn.Module], nn.Linear]:
    generator = torch.Generator().manual_seed(1)
    made: list[nn.Module] = [
        nn.Sequential(nn.Linear(HIDDEN, 8), nn.Tanh(), nn.Linear(8, HIDDEN)) for _ in range(EXPERTS)
    ]
    router = nn.Linear(HIDDEN, EXPERTS)
    for parameter in [*(p for expert in made for p in expert.parameters()), *router.parameters()]:
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=kind)
    return made, router


def _tokens(counts: tuple[int, ...], kind: torch.dtype) -> list[torch.Tensor]:
    whole = torch.randn(sum(counts), HIDDEN, generator=torch.Generator().manual_seed(2), dtype=kind)
    return [part.clone() for part in whole.split(counts)]


def _dense(counts: tuple[int, ...], kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """The plain loop over all experts and all tokens, in one process: output, gradients of tokens and experts."""
    experts, router = _layer(kind)
    x = torch.cat(_tokens(counts, kind)).requires_grad_()
    weights, chosen = route(router(x), TOP_K)
    y = torch.zeros_like(x)
    for number, expert in enumerate(experts):
        token, slot = (chosen == number).nonzero(as_tuple=True)
        y = y.index_add(0, token, expert(x[token]) * weights[token, slot].unsqueeze(1))
    y.square().sum().backward()
    assert x.grad is not None
    return y.detach(), x.grad, {f"{i}.{n}": p.grad for i, e in enumerate(experts) for n, p in e.named_parameters()}


def _on_a_rank(counts: tuple[int, ...], kind: torch.dtype):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    experts, router = _layer(kind)
    mine = range(rank * EXPERTS // ranks, (rank + 1) * EXPERTS // ranks)
    x = _tokens(counts, kind)[rank].requires_grad_()
    weights, chosen = route(router(x), TOP_K)
    y = expert_parallel_forward(x, weights, chosen, [experts[i] for i in mine], EXPERTS)
    y.square().sum().backward()
    return y.detach(), x.grad, {f"{i}.{n}": p.grad for i in mine for n, p in experts[i].named_parameters()}


@pytest.mark.parametrize("counts", TOKENS, ids=str)
@pytest.mark.parametrize(("kind", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5)], ids=("float64", "float32"))
def test_experts_on_ranks_are_the_dense_layer(counts, kind, near):
    """Values and gradients, on one to four ranks, with uneven and empty splits."""
    y, x_grad, gradients = _dense(counts, kind)
    alike = [tokens for tokens in TOKENS if len(tokens) == len(counts)]
    cases = tuple((tokens, dtype) for tokens in alike for dtype in (torch.float64, torch.float32))
    run = one_world.runs(_on_a_rank, cases, len(counts))[counts, kind]
    outputs, token_grads, parts = zip(*run.values, strict=True)
    torch.testing.assert_close(torch.cat(outputs), y, rtol=near, atol=near)
    torch.testing.assert_close(torch.cat(token_grads), x_grad, rtol=near, atol=near)
    found = {name: gradient for part in parts for name, gradient in part.items()}
    assert found.keys() == gradients.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(found[name], gradient, rtol=near, atol=100 * near)


def test_rows_travel_twice_and_their_gradients_twice():
    """The ledger: four exchanges of rows, each of k rows for each token on the way out, and one of counts."""
    run = world.run(_on_a_rank, (3, 2), torch.float64, ranks=2)
    for rank, tokens in enumerate((3, 2)):
        sizes = [(e.sent, e.received) for e in run.events if e.rank == rank and e.operation == "all_to_all"]
        counts, out, back, upstream, to_tokens = sizes
        assert counts == (8 * EXPERTS, 8 * EXPERTS)
        assert out[0] == back[1] == tokens * TOP_K * HIDDEN * 8
        assert (upstream, to_tokens) == (out, back)


def _wrong(experts: int, local: int) -> str:
    try:
        x = torch.zeros(1, 2)
        expert_parallel_forward(x, x[:, :1], torch.zeros(1, 1, dtype=torch.int64), [nn.Identity()] * local, experts)
    except ValueError as error:
        return str(error)
    return ""


def test_expert_parallelism_refuses():
    said = one_world.runs(_wrong, ((3, 1), (4, 1)), 2)
    assert said[3, 1].values == ("experts must be a multiple of the number of ranks, got 3",) * 2
    assert said[4, 1].values == ("local_experts must be one equal share of 4 experts, got 1",) * 2
