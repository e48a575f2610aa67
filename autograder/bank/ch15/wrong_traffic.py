"""Wrong programs for ``traffic_per_gpu``: edits of the reference that each get one thing wrong."""

from autograder.items import Slip

TRAFFIC_PER_GPU = (
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
        "Context parallelism divides the tokens: A is 2 tokens h / cp.",
        edit=("2 * tokens * model.hidden / cp", "2 * tokens * model.hidden"),
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
        "Selective recomputation repeats no collective: it computes norms and products again.",
        edit=('recompute == "full"', 'recompute != "none"'),
    ),
    Slip(
        "An inner stage holds ceil(layers / pp) layers.",
        edit=("math.ceil(model.layers / pp)", "max(1, model.layers // pp)"),
    ),
)
