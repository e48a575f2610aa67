"""How many requests fit beside the weights, by context length, for every way to group the GPUs.

python -m demos kv_calculator --model "Llama 3 70B" --gpu H100 --gpus 8 --kv-bytes 2 --contexts 4096,8192,32768,131072
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, parser, part, show, verdict, whole
from experiments.ch09.kv_shapes import LATENT, SHAPES, Shape
from rankzero.facts.hardware import GPUS
from rankzero.facts.units import GB

DEVICES = {gpu.name.partition(" ")[0]: gpu for gpu in GPUS}
USABLE = 0.9


def contexts(text: str) -> list[int]:
    """Token counts with commas between them."""
    return [whole(1, 10**8)(piece) for piece in text.split(",")]


def _shape(options: argparse.ArgumentParser, asked: argparse.Namespace) -> Shape:
    """A published model, or any other by its numbers."""
    sizes = (asked.layers, asked.kv_heads, asked.head_dim, asked.parameters)
    if not any(sizes):
        return SHAPES[asked.model]
    if None in sizes:
        options.error("--layers, --kv-heads, --head-dim and --parameters describe a model together")
    return Shape("this model", asked.layers, asked.kv_heads, *sizes[1:3], int(asked.parameters))


def _token(asked: argparse.Namespace, shape: Shape, ranks: int) -> float | None:
    """Bytes of a token on all GPUs of a group; None if the heads cannot be divided."""
    if shape.kv_heads is None:
        return ranks * part(asked.code, "ch09.kv_cache", "mla_bytes_per_token")(shape.layers, *LATENT, asked.kv_bytes)
    if shape.kv_heads % ranks and ranks % shape.kv_heads:
        return None
    each = part(asked.code, "ch09.kv_cache", "kv_bytes_per_token")
    return ranks * each(shape.layers, shape.kv_heads, shape.head_dim, asked.kv_bytes, ranks)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--model", choices=SHAPES, default="Llama 3 70B", metavar="NAME", help=", ".join(SHAPES))
    for name in ("--layers", "--kv-heads", "--head-dim"):
        options.add_argument(name, type=whole(1, 10**6), help="of any other model, instead of --model")
    options.add_argument("--parameters", type=amount, help="of that model; its weights are bf16")
    options.add_argument("--gpu", choices=DEVICES, default="H100")
    options.add_argument("--gpus", type=whole(1, 10**4), default=8)
    options.add_argument("--kv-bytes", type=float, choices=(2.0, 1.0, 0.5), default=2.0)
    options.add_argument("--contexts", type=contexts, default="4096,8192,32768,131072")
    options.add_argument("--block", type=whole(1, 10**4), default=16)
    asked = options.parse_args(argv)
    shape, memory = _shape(options, asked), DEVICES[asked.gpu].memory
    room, most = (part(asked.code, "ch09.kv_cache", f) for f in ("kv_capacity_tokens", "max_concurrent_requests"))
    weights, rows, right = 2 * shape.parameters, [], True
    groups = {n: _token(asked, shape, n) for n in range(1, asked.gpus + 1) if asked.gpus % n == 0}
    for ranks, token in ((n, token) for n, token in groups.items() if token is not None):
        tokens = room(memory, ranks, weights, token, USABLE)
        held = [most(tokens, context, asked.block) for context in asked.contexts]
        left = ranks * memory * USABLE - weights
        right &= all(n * c * token <= max(0, left) for n, c in zip(held, asked.contexts, strict=True))
        rows.append((ranks, asked.gpus // ranks, token / ranks, tokens, *(asked.gpus // ranks * n for n in held)))
    print(f"{shape.name}: {weights / GB:.4g} GB of bf16 weights; GPUs: {asked.gpus} of {memory / GB:g} GB, 90 % usable")
    if not any(row[3] for row in rows):
        need = int(weights // (memory * USABLE)) + 1
        print(f"does not fit: the weights alone need a replica of {need} GPUs or more, a divisor of --gpus")
    print("the last columns: requests that fit on all replicas together, by their tokens")
    header = ("TP", "replicas", "B a token and GPU", "tokens of a replica", *(f"x {c:,}" for c in asked.contexts))
    show(asked, Table(header, rows))
    return verdict(right, "the requests counted fit in what the weights leave")


if __name__ == "__main__":
    sys.exit(main())
