"""Parameters and operations of a published model: the closed forms against its module, which has no numbers at all.

python -m demos count_parameters --model LLAMA3_405B
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import models

MODELS = {
    name: getattr(models, name)
    for name in ("LLAMA32_1B", "LLAMA2_7B", "LLAMA3_8B", "MISTRAL_7B", "LLAMA2_70B", "LLAMA3_70B", "LLAMA3_405B")
}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--model", choices=MODELS, default="LLAMA3_8B")
    options.add_argument("--sequence", type=whole(1, 2**20), default=8192, help="tokens")
    given = options.parse_args(argv)
    count, flops = (part(given.code, "ch15.flops", name) for name in ("parameter_count", "training_flops"))
    whole_model = MODELS[given.model]
    shape = (whole_model.heads, whole_model.kv_heads, whole_model.head_dim, whole_model.ffn, whole_model.vocab)
    formula = count(whole_model.layers, whole_model.hidden, *shape, whole_model.gated, whole_model.tied_embeddings)
    from experiments.ch15.counted_flops import counted_parameters, counted_step, matrix_parameters

    added = counted_parameters(whole_model)
    model = replace(whole_model, layers=1) if given.quick else whole_model
    seen = counted_step(model, given.sequence)
    phases, width = [(seen.tokens, given.sequence)], model.heads * model.head_dim
    step = flops(matrix_parameters(model), phases, model.layers, width)
    causal = flops(matrix_parameters(model), phases, model.layers, width, causal=True)
    layers = f"{model.layers} layer{'s' if model.layers > 1 else ''}"
    rows = [
        ("parameters", formula, added, "added up, tensor by tensor"),
        (f"FLOP of a step, {layers}", step, float(seen.step), "torch.utils.flop_counter"),
        ("the same, causal", causal, "", "what a kernel runs that skips the masked half"),
        ("step / forward", 3.0, seen.step / seen.forward, "2 FLOP forward, 4 backward"),
    ]
    print(f"{whole_model.name}, one sequence of {given.sequence:,} tokens")
    show(given, Table(("quantity", "formula", "counted", "how"), rows))
    return verdict(formula == added and step == seen.step, "both formulas are the counts, to the last unit")


if __name__ == "__main__":
    sys.exit(main())
