"""What autograd keeps for one layer, tensor by tensor, counted by hooks, and the same from the formula.

python -m demos.activation_memory --layer classic --sequence 32 --heads 4 --recompute selective
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, parser, part, show, verdict, whole
from solutions.saved_tensors import (
    CPU_MASK,
    ClassicLayer,
    Kept,
    ModernLayer,
    Sizes,
    bytes_of_fully_recomputed,
    kept,
)

#: Tensors that the formula leaves out.
NEGLECTED = ("norm statistics", "log-sum-exp")


def _found(sizes: Sizes, layer: str, flash: bool, recompute: str) -> list[Kept]:
    if recompute == "full":
        return [Kept("input of the layer", bytes_of_fully_recomputed(ClassicLayer(sizes)))]
    return kept(ModernLayer(sizes) if layer == "modern" else ClassicLayer(sizes, flash, recompute))


def _picture(rows: Sequence[tuple]):
    from rankzero import plots

    alt = f"Bytes of {len(rows)} kept tensors, {sum(row[1] for row in rows):,} in all."
    return plots.bars({row[0]: {"": row[1]} for row in rows}, y="bytes", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--layer", choices=("classic", "modern"), default="classic")
    options.add_argument("--sequence", type=whole(1, 512), default=32)
    options.add_argument("--heads", type=whole(1, 16), default=4, help="of width 16")
    options.add_argument("--flash", action="store_true", help="the classic layer with fused attention")
    options.add_argument("--recompute", choices=("none", "selective", "full"), default="none")
    arguments = options.parse_args(argv)
    modern, heads = arguments.layer == "modern", arguments.heads
    if modern and arguments.recompute != "none":
        options.error("--recompute is for the classic layer")
    if arguments.flash and arguments.recompute == "selective":
        options.error("--recompute selective is for attention without --flash, which recomputes in its kernel")
    sizes = replace(Sizes(), sequence=arguments.sequence, hidden=16 * heads, heads=heads, ffn=44 * heads)
    sizes = replace(sizes, kv_heads=heads // 2 if heads % 2 == 0 else heads)
    found = _found(sizes, arguments.layer, arguments.flash, arguments.recompute)
    unit = sizes.sequence * sizes.batch * sizes.hidden
    rows = [(tensor.name, tensor.bytes, tensor.bytes / unit) for tensor in found]
    extra = sum(tensor.bytes for tensor in found if tensor.name in NEGLECTED)
    shape = {"ffn": sizes.ffn, "kv_heads": sizes.kv_heads, "gated": True, "dropout": False} if modern else {}
    formula = part(arguments.code, "activations", "activation_bytes")(
        *(sizes.sequence, sizes.batch, sizes.hidden, sizes.heads),
        recompute=arguments.recompute,
        attention="flash" if modern or arguments.flash else "materialised",
        mask_bytes=CPU_MASK,
        **shape,
    )
    total = sum(tensor.bytes for tensor in found)
    show(arguments, Table(("tensor", "bytes", "of s b h"), rows), lambda: _picture(rows))
    print(f"in all {total:,} B, of them {extra:,} B that the formula leaves out; formula {formula:,.0f} B")
    return verdict(total - extra == formula, "the formula is right to the byte")


if __name__ == "__main__":
    sys.exit(main())
