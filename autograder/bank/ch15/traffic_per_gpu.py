"""The capstone: ``traffic_per_gpu``, traffic of a GPU."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from autograder.bank.ch15.shared import RECOMPUTE, laid_out, llama
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, LLAMA3_405B


def _sent(rng: Random, recompute: str | None = None) -> Case:
    """Every dimension is there, and the layers do not divide by the stages."""
    pp = rng.choice((4, 8, 16))
    model = llama(rng, pp * rng.randint(2, 8) + rng.randint(1, pp - 1))
    ranks = rng.choice((3, 6, 8)), rng.choice((3, 5, 16)), pp, rng.choice((2, 3, 8, 64))
    chunks, again = rng.randint(2, 8), recompute or rng.choice(RECOMPUTE)
    layout = laid_out(*ranks, rng.randint(2, 64), rng.choice((8192, 32_768, 131_072)), chunks)
    return Case((model, replace(layout, recompute=again)))


def _alone(rng: Random) -> Case:
    """One rank in some dimensions: nothing to send there."""
    ranks = [rng.choice((2, 4, 8)) for _ in range(4)]
    for index in rng.sample(range(4), rng.randint(2, 4)):
        ranks[index] = 1
    tp, cp, pp, dp = ranks
    return Case((llama(rng, 16), laid_out(tp, cp, pp, dp, rng.randint(1, 16), 8192)))


def traffic_by_ring(model, layout):
    """All-reduces as pairs of all-gathers and reduce-scatters, all of bf16."""
    from solutions.ch15.run_plan import traffic_per_gpu

    traffic_per_gpu(model, layout)
    tp, cp, pp, dp = layout.tp, layout.cp, layout.pp, layout.dp
    microbatches, virtual_stages, tokens = layout.microbatches, layout.virtual_stages, layout.micro_tokens
    recompute = layout.recompute
    layers = -(-model.layers // pp)
    activation = 2 * (tokens / cp) * model.hidden
    pairs = 12 if recompute == "full" else 8
    keys = 2 * 2 * model.kv_heads * (tokens / tp) * model.head_dim
    own = layers * model.hidden * (2 * (model.heads + model.kv_heads) * model.head_dim + 3 * model.ffn + 2)
    return {
        "tp": layers * pairs * activation * (1 - 1 / tp) * microbatches,
        "cp": layers * (3 if recompute == "full" else 2) * keys * (1 - 1 / cp) * microbatches,
        "pp": (virtual_stages * activation / tp + virtual_stages * activation / tp) * microbatches if pp > 1 else 0.0,
        "dp": (4 * own / tp + 2 * own / tp) * (1 - 1 / (cp * dp)),
    }


EXERCISE = Build(
    "cap run_plan.traffic_per_gpu",
    section="15.3",
    topic="traffic of a GPU",
    cases=(
        Case((LLAMA3_405B, laid_out(8, 1, 16, 128, 16, 8192))),  # the paper's second layout
        Case((LLAMA3_405B, laid_out(8, 16, 16, 8, 16, 131_072))),  # the third, with long sequences
        Case((LLAMA3_405B, laid_out(8, 1, 16, 64, 32, 8192, 8))),  # the first; 8 chunks are assumed
        Case((LLAMA3_70B, replace(laid_out(4, 2, 1, 8, 8, 16_384), recompute="full"))),
        Case((LLAMA3_8B, laid_out(1, 1, 1, 1, 8, 8192))),
    ),
    groups=(
        listed(
            "all dimensions",
            lambda rng: [_sent(rng, recompute) for recompute in RECOMPUTE * 2],
            "Layers times collectives times what a ring sends, for one step.",
        ),
        Group("one rank", _alone, 4, "A ring of one rank sends nothing; the ring of dp has cp * dp ranks."),
    ),
    slips=(
        Slip(
            "That is the forward pass alone. The backward pass communicates just as much.",
            edits=(
                ("(4 + 2 * again)", "(2 + 2 * again)"),
                ("(2 + again)", "(1 + again)"),
                ("2 * virtual_stages * microbatches", "virtual_stages * microbatches"),
            ),
        ),
        Slip(
            "A GPU sends for the micro-batches of its own replica, not for those of all.",
            edit=("    again = 1", "    microbatches *= dp\n    again = 1"),
        ),
        Slip(
            "Gradients are reduce-scattered in fp32 and weights all-gathered in bf16: that is no bf16 all-reduce.",
            edit=("(4 + 2) * layers", "4 * layers"),
        ),
        Slip(
            "The gradients of one stage cross, not those of the whole model.",
            edit=("(4 + 2) * layers", "(4 + 2) * model.layers"),
        ),
        Slip(
            "Context parallelism divides the tokens: A is 2 micro_tokens h / cp.",
            edit=("2 * layout.micro_tokens * model.hidden / cp", "2 * layout.micro_tokens * model.hidden"),
        ),
        Slip(
            "Gradients are shared by cp * dp ranks, not by dp alone.",
            edit=("math.ceil(model.layers / pp), cp * dp", "math.ceil(model.layers / pp), dp"),
        ),
        Slip(
            "With virtual stages a micro-batch crosses once for every chunk.",
            edit=("2 * virtual_stages * microbatches", "2 * microbatches"),
        ),
        Slip(
            "Cheap recomputation repeats no collective, only norms, the SiLU and its product with up.",
            edit=('layout.recompute == "full"', 'layout.recompute != "none"'),
        ),
        Slip(
            "An inner stage holds ceil(layers / pp) layers.",
            edit=("math.ceil(model.layers / pp)", "max(1, model.layers // pp)"),
        ),
        Slip(
            "A layer has two norms as well, of ``hidden`` weights each.",
            edit=("_layer_parameters(model)", "(_layer_parameters(model) - 2 * model.hidden)"),
        ),
    ),
    rights=(
        Right("pairs over rings", program=traffic_by_ring),
        Right(
            "shares of other ranks",
            edits=(
                ("* 2 * (tp - 1) / tp * inputs", "* (2 - 2 / tp) * inputs"),
                ("(cp - 1) / cp * keys_and_values", "(keys_and_values - keys_and_values / cp)"),
                ("(replicas - 1) / replicas * (4 + 2)", "6 * (1 - 1 / replicas)"),
            ),
        ),
    ),
    promises=(
        Promise(
            "(which repeats no collective)",
            edit=('again = 1 if layout.recompute == "full" else 0', 'again = 0 if layout.recompute == "none" else 1'),
        ),
        Promise("with ``ceil(layers / pp)`` layers", edit=("math.ceil(model.layers / pp)", "model.layers // pp")),
        Promise("one stage sends nothing to another", edit=(" if pp > 1 else 0.0", "")),
        Promise('with ``"full"`` the all-gather once more', edit=("layers * (2 + again)", "layers * 2")),
        Promise("and 2 more when ``recompute`` is", edit=("(4 + 2 * again)", "4")),
        Promise("in fp32 and their weights all-gathered in bf16", edit=("(4 + 2) * layers", "(2 + 2) * layers")),
    ),
)
