"""Chapter 6: ``activation_bytes``, memory of activations."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.models import GPT3_175B, LLAMA3_8B, LLAMA3_70B, Model


def _classic(rng: Random) -> Model:
    heads, head_dim = rng.choice((1, 4, 8, 12, 32, 64, 96, 160)), rng.choice((64, 96, 128))
    hidden = heads * head_dim
    return Model("classic", 1, hidden, heads, heads, head_dim, 4 * hidden, 1000, gated=False)


def _newer(rng: Random) -> Model:
    """Grouped queries, and heads together not as wide as the hidden state."""
    kv_heads, head_dim = rng.choice((1, 2, 4, 8)), rng.choice((64, 128))
    heads = kv_heads * rng.choice((2, 4, 8))
    hidden = heads * head_dim + 64 * rng.randint(1, 9)
    return Model("newer", 1, hidden, heads, kv_heads, head_dim, 3 * hidden + 64 * rng.randint(1, 9), 1000)


def _tokens(rng: Random) -> int:
    return rng.choice((7, 128, 1000, 4096, 131_072))


def _plain(rng: Random) -> Case:
    return Case((_classic(rng), _tokens(rng)))


def _split(rng: Random, parallel: bool | None = None, recompute: str | None = None) -> Case:
    options = {
        "ranks": rng.choice((2, 3, 4, 8, 16)),
        "sequence_parallel": rng.random() < 0.5 if parallel is None else parallel,
        "recompute": recompute or rng.choice(("none", "selective", "full")),
    }
    return Case((_classic(rng), _tokens(rng)), options)


def _split_of_each(rng: Random) -> list[Case]:
    """Each way to split a large layer, one of them twice; two of a tiny one, whose third is not a whole number of
    bytes."""
    ways = [_split(rng, parallel, how) for how in ("none", "selective", "full") for parallel in (False, True)]
    return [*ways, _split(rng, False, "full"), _least(rng, "none"), _least(rng, "full")]


def _least(rng: Random, recompute: str) -> Case:
    """A token or two of one feature on three ranks."""
    tiny = Model("tiny", 1, 1, 1, 1, 1, 4, 100, gated=False)
    return Case((tiny, rng.choice((1, 2))), {"ranks": 3, "sequence_parallel": True, "recompute": recompute})


def _modern(rng: Random, ranks: int = 1, recompute: str = "none") -> Case:
    options = {"ranks": ranks, "sequence_parallel": ranks > 1 and rng.random() < 0.5, "recompute": recompute}
    return Case((_newer(rng), _tokens(rng)), {name: held for name, held in options.items() if ranks > 1})


def _modern_of_each(rng: Random) -> list[Case]:
    """Whole and split, and split with the attention core and with everything computed again."""
    split = rng.choice((2, 4, 8))
    return [_modern(rng), _modern(rng), *(_modern(rng, split, how) for how in ("none", "selective", "full"))]


EXERCISE = Build(
    "06 activation_memory.activation_bytes",
    section="6.8",
    topic="memory of activations",
    cases=(
        Case((GPT3_175B, 2048)),
        Case((GPT3_175B, 2048, 8)),
        Case((GPT3_175B, 2048, 8, True)),
        # Korthikanti et al. (2022): together some five times less than tensor parallelism alone.
        Case((GPT3_175B, 2048, 8, True, "selective")),
        Case((GPT3_175B, 2048), {"recompute": "full"}),
        Case((GPT3_175B, 2048, 8, True, "full")),
        Case((LLAMA3_70B, 1)),
        Case((LLAMA3_8B, 8192)),
        Case((LLAMA3_70B, 8192, 8, True)),
        Case((LLAMA3_70B, 0, 8)),
    ),
    groups=(
        Group(
            "one rank",
            _plain,
            5,
            "Count the tensors around the matrices, those between them, and the attention matrix.",
        ),
        listed(
            "split and recomputed",
            _split_of_each,
            "Full recomputation keeps only the layer's input, selective drops the attention matrix and nothing else. "
            "Without sequence parallelism, only what is between the split matrices is divided.",
        ),
        listed(
            "newer layers",
            _modern_of_each,
            "Take each width from the model: that of the queries, of the keys, and of the MLP. There are no masks and "
            "no attention matrix.",
        ),
    ),
    slips=(
        Slip(
            "Four tensors, 8 bytes for each number, leave out the masks, the MLP and the attention matrix, and all "
            "options.",
            edit=('if recompute == "full":', 'return 8.0 * sequence * model.hidden\n    if recompute == "full":'),
        ),
        Slip(
            "Without sequence parallelism, norms and residuals stay whole on every rank.",
            edit=("outside = ranks if sequence_parallel else 1", "outside = ranks"),
        ),
        Slip(
            "Flash attention never stores the attention matrix.",
            edit=('0 if model.gated or recompute == "selective"', '0 if recompute == "selective"'),
        ),
        Slip(
            "Selective recomputation drops the attention matrix: it is not stored.",
            edit=('0 if model.gated or recompute == "selective"', "0 if model.gated"),
        ),
        Slip(
            "Selective recomputation drops the attention matrix alone: all else of the layer is stored.",
            edit=('if recompute == "full":', 'if recompute != "none":'),
        ),
        Slip(
            "The input of a layer is whole on every rank without sequence parallelism.",
            edit=("model.hidden / outside", "model.hidden / ranks"),
        ),
        Slip(
            "Activations grow with the sequence: they are not a multiple of the weights.",
            edit=(
                'if recompute == "full":',
                'return 10 * 12.0 * model.hidden**2 * 2 / ranks\n    if recompute == "full":',
            ),
        ),
        Slip(
            "Every head has an attention matrix of its own.",
            edit=("5 * model.heads * sequence", "5 * sequence"),
        ),
        Slip(
            "A gated MLP keeps four inner tensors: gate, up, the activated gate and the product.",
            edit=("(4 if model.gated else 2)", "2"),
        ),
        Slip(
            "Keys and values are as wide as the KV heads together, which may be fewer than the query heads.",
            edit=("model.kv_heads * model.head_dim", "model.heads * model.head_dim"),
        ),
        Slip(
            "Without dropout there are no masks.",
            edit=("(8 if model.gated else 10)", "10"),
        ),
        Slip(
            "The result is in GiB: return bytes.",
            edits=(
                ("2 * sequence * model.hidden / outside", "2 * sequence * model.hidden / outside / 2**30"),
                (
                    "sequence * (around / outside + (between + matrix) / ranks)",
                    "sequence * (around / outside + (between + matrix) / ranks) / 2**30",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "every part divided",
            edit=(
                "sequence * (around / outside + (between + matrix) / ranks)",
                "sequence * matrix / ranks + sequence * between / ranks + sequence * around / outside",
            ),
        ),
        Right(
            "bytes of a kind of layer",
            edits=(
                ("(8 if model.gated else 10) * model.hidden", "(4 * 2 + 2 * (not model.gated)) * model.hidden"),
                (
                    "2 * (2 * queries + 2 * keys + (4 if model.gated else 2) * model.ffn)",
                    "4 * queries + 4 * keys + 4 * model.ffn + 4 * model.gated * model.ffn",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "Real division: a share need not be whole",
            edit=("(between + matrix) / ranks", "(between + matrix) // ranks"),
        ),
        Promise(
            '``"full"`` keeps nothing but the layer\'s input, split like the inputs of the norms',
            edit=("2 * sequence * model.hidden / outside", "2 * sequence * model.hidden"),
        ),
    ),
)
