"""One generation of the tiny model with and without its cache: same logits, fewer tokens through the weights.

python -m demos kv_equivalence --prompt 100 --new 50 --dtype float64
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, parser, part, show, verdict, whole

#: Largest difference of logits that counts as equal, because sums are taken in different orders.
CLOSE = {"float32": 1e-3, "float64": 1e-9}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--prompt", type=whole(1, 1000), default=100, help="tokens")
    options.add_argument("--new", type=whole(1, 1000), default=50, help="tokens")
    options.add_argument("--dtype", choices=CLOSE, default="float32")
    asked = options.parse_args(argv)
    from experiments.ch09 import kv_runs
    from rankzero.tiny import one_thread

    attention = part(asked.code, "ch09.cached_attention", "cached_attention")
    prompt, new = (20, 10) if asked.quick else (asked.prompt, asked.new)
    model = kv_runs.GPT(replace(kv_runs.CONFIG, context=prompt + new), seed=0)
    model = kv_runs.in_double(model) if asked.dtype == "float64" else model
    tokens = (kv_runs.prompt_tokens(prompt) * prompt)[:prompt]
    with one_thread():
        cached, plain = (kv_runs.generate(model, tokens, new, way) for way in (True, False))
        written = kv_runs.generate_by_layer(model, tokens, new, attention)
    runs = {"no cache": plain, "cache of the model": cached, "cached_attention in each layer": written}
    differences = [float((run.logits - plain.logits).abs().max()) for run in runs.values()]
    measured = zip(runs.items(), differences, strict=True)
    lines = [(name, run.token_forwards, run.seconds, most) for (name, run), most in measured]
    table = Table(("way", "token-forwards", "seconds", "largest difference"), lines)
    show(asked, table)
    right = all(run.tokens == plain.tokens for run in runs.values()) and max(differences) <= CLOSE[asked.dtype]
    return verdict(right, "all ways give the same tokens and the same logits")


if __name__ == "__main__":
    sys.exit(main())
