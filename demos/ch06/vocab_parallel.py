"""An embedding and a loss over a split vocabulary on real ranks, and the bytes of gathering the logits instead.

python -m demos vocab_parallel --vocab 50257 --ranks 4
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.vocabulary_runs import embedding_run, loss_run, two_ways

#: How far double precision may be off.
NEAR = 1e-9


def _picture(ways: dict[str, float]):
    from rankzero import plots

    alt = f"Bytes sent by a rank: {', '.join(f'{name} {sent:,.0f}' for name, sent in ways.items())}."
    return plots.bars({name: {"": sent} for name, sent in ways.items()}, y="bytes sent by a rank", log=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--vocab", type=whole(2, 200_000), default=50_257)
    options.add_argument("--ranks", type=whole(2, 8), default=4)
    options.add_argument("--tokens", type=whole(1, 10**6), default=8192, help="of the batch that is priced")
    arguments = options.parse_args(argv)
    ranks, vocab = arguments.ranks, min(arguments.vocab, 500) if arguments.quick else arguments.vocab
    padded = part(arguments.code, "ch06.activations", "padded_vocabulary")(vocab, ranks)
    names = ("vocab_parallel_cross_entropy", "vocab_parallel_embedding")
    loss, embedding = (part(arguments.code, "ch06.sharded_layers", name) for name in names)
    runs = {"loss": loss_run(ranks, loss, padded), "embedding": embedding_run(ranks, embedding, padded)}
    rows = [
        (name, run.value_error, run.gradient_error, sum(run.calls.values()), round(run.bytes))
        for name, run in runs.items()
    ]
    ways = two_ways(padded, arguments.tokens, ranks)
    print(f"{vocab:,} tokens, padded to {padded:,}, {padded // ranks:,} on each rank")
    for name, sent in ways.items():
        print(f"{arguments.tokens:,} tokens, {name}: {sent:,.0f} B sent by a rank")
    header = ("of", "error of values", "error of gradients", "all-reduces", "bytes sent by a rank")
    show(arguments, Table(header, rows), lambda: _picture(ways))
    near = all(max(run.value_error, run.gradient_error) <= NEAR for run in runs.values())
    calls = [run.calls for run in runs.values()] == [{"all_reduce": 3}, {"all_reduce": 1}]
    return verdict(near and calls, "values and gradients are the library's, with three all-reduces and one")


if __name__ == "__main__":
    sys.exit(main())
