"""Chapter 6: ``activation_bytes``, memory of activations."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip

GPT3 = (2048, 1, 12_288, 96)
FLASH = {"attention": "flash", "gated": True, "dropout": False}


def _shape(rng: Random) -> tuple[int, int, int, int]:
    """Sequence, batch, hidden, heads."""
    heads = rng.choice((1, 4, 8, 12, 32, 64, 96, 160))
    return (
        rng.choice((7, 128, 1000, 4096, 131_072)),
        rng.choice((1, 2, 3, 8, 64)),
        heads * rng.choice((64, 96, 128)),
        heads,
    )


def _plain(rng: Random) -> Case:
    return Case(_shape(rng), {"element_bytes": rng.choice((2, 4))} if rng.random() < 0.5 else {})


def _split(rng: Random, parallel: bool | None = None, recompute: str | None = None) -> Case:
    options: dict[str, Any] = {
        "ranks": rng.choice((2, 3, 4, 8, 16)),
        "sequence_parallel": rng.random() < 0.5 if parallel is None else parallel,
        "recompute": recompute or rng.choice(("none", "selective", "full")),
    }
    return Case(_shape(rng), options)


def _split_of_each(rng: Random) -> list[Case]:
    """Each way to split a large layer, one of them twice; two of a tiny one, whose third is not a whole number of
    bytes."""
    ways = [_split(rng, parallel, how) for how in ("none", "selective", "full") for parallel in (False, True)]
    return [*ways, _split(rng, False, "full"), _least(rng, "none"), _least(rng, "full")]


def _least(rng: Random, recompute: str) -> Case:
    """A token or two of one feature on three ranks."""
    return Case((rng.choice((1, 2)), 1, 1, 1), {"ranks": 3, "sequence_parallel": True, "recompute": recompute})


def _modern(rng: Random, attention: str | None = None, gated: bool | None = None) -> Case:
    sequence, batch, hidden, heads = _shape(rng)
    options: dict[str, Any] = {
        "ffn": rng.choice((0, 176, hidden * 7 // 2)),
        "kv_heads": rng.choice([k for k in (1, 2, 4, 8) if heads % k == 0]),
        "attention": attention or rng.choice(("flash", "materialised")),
        "gated": rng.random() < 0.5 if gated is None else gated,
        "dropout": rng.random() < 0.3,
        "mask_bytes": rng.choice((0, 1, 2, 0.125)),
    }
    options["ffn"] = options["ffn"] or (hidden if gated else 0)
    return Case((sequence, batch, hidden, heads), options)


def _modern_of_each(rng: Random) -> list[Case]:
    """Flash and a gate in two cases each."""
    return [_modern(rng, attention, gated) for attention in ("flash", "materialised") for gated in (True, False, True)]


def _empty(rng: Random) -> Case:
    sequence, batch, hidden, heads = _shape(rng)
    return Case(rng.choice(((0, batch, hidden, heads), (sequence, 0, hidden, heads))), {"ranks": rng.choice((1, 8))})


EXERCISE = Build(
    "06 activations.activation_bytes",
    section="6.8",
    topic="memory of activations",
    cases=(
        Case(GPT3),
        Case(GPT3, {"ranks": 8}),
        Case(GPT3, {"ranks": 8, "sequence_parallel": True}),
        # Korthikanti et al. (2022): together some five times less than tensor parallelism alone.
        Case(GPT3, {"ranks": 8, "sequence_parallel": True, "recompute": "selective"}),
        Case(GPT3, {"recompute": "full"}),
        Case(GPT3, {"ranks": 8, "sequence_parallel": True, "recompute": "full"}),
        Case((4096, 1, 4096, 32)),
        Case((8192, 1, 4096, 32), {"ffn": 14_336, "kv_heads": 8, **FLASH}),  # Llama 3 8B
        Case((8192, 1, 8192, 64, 28_672, 8), {"ranks": 8, "sequence_parallel": True, **FLASH}),
        Case((1, 1, 8, 2)),
        Case((0, 1, 8, 2)),
        Case((32, 2, 64, 4), {"mask_bytes": 2}),
    ),
    groups=(
        Group("one rank", _plain, 5, "Count the tensors around the layers, those inside, and the attention matrix."),
        listed(
            "split and recomputed",
            _split_of_each,
            "Full recomputation keeps only the layer's input, selective drops the attention matrix and nothing else. "
            "Without sequence parallelism, only what is inside the split layers is divided.",
        ),
        Group(
            "other layers",
            _modern,
            8,
            "There may be fewer key-value heads, a gate, another inner width, no dropout, and no attention matrix.",
            _modern_of_each,
        ),
        Group("no tokens", _empty, 2, "Without tokens there is nothing to store."),
    ),
    slips=(
        Slip(
            "8 s b h leaves out the masks, the MLP and the attention matrix, and ignores all options.",
            edit=('if recompute == "full":', 'return 8.0 * tokens * hidden\n    if recompute == "full":'),
        ),
        Slip(
            "Without sequence parallelism, norms and residuals stay whole on every rank.",
            edit=("around = ranks if sequence_parallel else 1", "around = ranks"),
        ),
        Slip(
            "Flash attention never stores the attention matrix.",
            edit=('attention == "materialised" and recompute == "none"', 'recompute == "none"'),
        ),
        Slip(
            "Selective recomputation drops the attention matrix: it is not stored.",
            edit=('attention == "materialised" and recompute == "none"', 'attention == "materialised"'),
        ),
        Slip(
            "Selective recomputation drops the attention matrix alone: all else of the layer is stored.",
            edit=('if recompute == "full":', 'if recompute != "none":'),
        ),
        Slip(
            "The input of a layer is whole on every rank without sequence parallelism.",
            edit=("tokens * hidden * e / around", "tokens * hidden * e / ranks"),
        ),
        Slip(
            "Activations grow with batch and sequence: they are not a multiple of the weights.",
            edit=(
                'if recompute == "full":',
                'return 10 * 12.0 * hidden * hidden * e / ranks\n    if recompute == "full":',
            ),
        ),
        Slip(
            "Every head has an attention matrix of its own.",
            edit=("split + matrix", "split + stored * sequence * tokens * (2 * e + k if dropout else e)"),
        ),
        Slip(
            "A gated MLP keeps four inner tensors: gate, up, the activated gate and the product.",
            edit=("4 if gated else 2", "2"),
        ),
        Slip(
            "The result is in GiB: return bytes.",
            edits=(
                ("tokens * hidden * e / around", "tokens * hidden * e / around / 2**30"),
                (
                    "replicated / around + (split + matrix) / ranks",
                    "(tokens * hidden * (4 * e + 2 * k) / around + (split + matrix) / ranks) / 2**30",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "every part divided",
            edit=(
                "float(replicated / around + (split + matrix) / ranks)",
                "float(matrix / ranks + split / ranks + replicated / around)",
            ),
        ),
        Right(
            "bytes of a token, times the tokens",
            edits=(
                ("    replicated = tokens * hidden * (4 * e + 2 * k)\n", "    replicated = hidden * (k + e + e) * 2\n"),
                (
                    "tokens * (hidden * (2 * e + 2 * e * kv_heads / heads) + ffn * e * (4 if gated else 2))",
                    "2 * e * (hidden + kv_heads * (hidden / heads) + ffn * (2 if gated else 1))",
                ),
                ("heads * sequence * tokens * (2", "heads * sequence * (2"),
                (
                    "float(replicated / around + (split + matrix) / ranks)",
                    "float((replicated / around + (split + matrix) / ranks) * tokens)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "with dropout, also divided by the ranks",
            edit=("(split + matrix) / ranks", "split / ranks + matrix"),
        ),
        Promise("times e, or times ``2e + k`` with dropout", edit=("(2 * e + k if dropout else e)", "(2 * e + k)")),
        Promise(
            '``"full"`` keeps only the layer\'s input, split like the inputs of the norms',
            edit=("float(tokens * hidden * e / around)", "float(tokens * hidden * e)"),
        ),
        Promise(
            '``"full"`` keeps only the layer\'s input',
            edit=("float(tokens * hidden * e / around)", "float(tokens * hidden * (e + k) / around)"),
        ),
        Promise("which never stores the matrix", edit=('attention == "materialised" and recompute', "recompute")),
        Promise("None is ``4 hidden``", edit=("4 * hidden if ffn is None", "3 * hidden if ffn is None")),
        Promise(
            "Real division: a share need not be whole",
            edit=("+ (split + matrix) / ranks", "+ (split + matrix) // ranks"),
        ),
    ),
)
