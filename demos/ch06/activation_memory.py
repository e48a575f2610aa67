"""What autograd keeps for one layer, tensor by tensor, counted by hooks, and the same from the formula.

python -m demos activation_memory --layer classic --sequence 32 --heads 4 --recompute selective
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.saved_tensors import CPU_MASK, ModernLayer, Sizes, beside_the_formula, classic, kept


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
    attention = "flash" if modern or arguments.flash else "materialised"
    found = kept(ModernLayer(sizes)) if modern else classic(sizes, attention, arguments.recompute)
    unit = sizes.sequence * sizes.batch * sizes.hidden
    rows = [(tensor.name, tensor.bytes, tensor.bytes / unit) for tensor in found]
    counted, extra = beside_the_formula(found)
    shape = {"ffn": sizes.ffn, "kv_heads": sizes.kv_heads, "gated": True, "dropout": False} if modern else {}
    formula = part(arguments.code, "ch06.activations", "activation_bytes")(
        *(sizes.sequence, sizes.batch, sizes.hidden, sizes.heads),
        recompute=arguments.recompute,
        attention=attention,
        mask_bytes=CPU_MASK,
        **shape,
    )
    show(arguments, Table(("tensor", "bytes", "of s b h"), rows), lambda: _picture(rows))
    print(f"in all {counted + extra:,} B, of them {extra:,} B that the formula leaves out; formula {formula:,.0f} B")
    return verdict(counted == formula, "the formula is right to the byte")


if __name__ == "__main__":
    sys.exit(main())
