"""The three explorers of chapter 6: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(how_far, ranks=Range(1, 64, 8), ...)``.
"""

from __future__ import annotations

from rankzero.charts import Axis, Spec, below, chart, lines, stacks, table
from rankzero.facts.hardware import A100_SXM, B200_SXM, H100_SXM
from rankzero.facts.models import GPT3_175B, LLAMA2_13B, LLAMA3_8B, LLAMA3_70B, Model
from rankzero.facts.units import GB, MB, format_bytes
from solutions.ch04.spanning_groups import group_bandwidth
from solutions.ch05.zero import zero_memory
from solutions.ch06.activations import tensor_parallel_traffic
from solutions.ch06.heads import head_partition
from solutions.ch06.layer_memory import stored_by_layer

#: GPUs of the second explorer.
GPUS = {"A100": A100_SXM, "H100": H100_SXM, "B200": B200_SXM}

#: Ranks inside the NVLink domain of the second explorer.
NODE = 8

#: Ratios that the second explorer marks.
LIMITS = {"10 %": 0.1, "30 %": 0.3}

#: The models that the third explorer offers.
SHAPES = {model.name: model for model in (LLAMA3_8B, LLAMA2_13B, LLAMA3_70B, GPT3_175B)}

#: Data-parallel ranks over which the third explorer's second bar slices the optimizer states.
SLICED = 64


def who_holds_heads(heads: int = 16, kv_heads: int = 4, ranks: int = 8) -> Spec:
    """Which query heads and which key and value heads each rank holds.

    Args:
        heads: query heads.
        kv_heads: key and value heads.
        ranks: tensor-parallel ranks.
    """
    try:
        held = [head_partition(heads, kv_heads, ranks, rank) for rank in range(ranks)]
    except ValueError as error:
        return _refused(str(error))
    cells: list[Spec] = []
    for rank, (queries, shared, copies) in enumerate(held):
        where = f"{_span(shared)} on {copies} rank{'' if copies == 1 else 's'}"
        cells.append({"rank": rank, "holds": "query heads", "text": _span(queries), "of": rank})
        cells.append({"rank": rank, "holds": "KV heads", "text": where, "of": shared.start})
    replicas = held[0][2]
    said = f"each KV head is held on {replicas} ranks" if replicas > 1 else "no KV head is replicated"
    title = f"{heads} query heads, {kv_heads} KV heads, {ranks} ranks: {said}"
    seen = ("rank", "holds", "text")
    view = table(cells, Axis("holds", ""), Axis("rank", "rank"), colour="of", label="text", tooltip=seen, title=title)
    return chart(view, f"{title}; rank 0 holds query heads {_span(held[0][0])} and KV heads {_span(held[0][1])}.")


def _span(heads: range) -> str:
    return str(heads.start) if len(heads) == 1 else f"{heads.start} to {heads[-1]}"


def _refused(sentence: str) -> Spec:
    """A chart that says why this split is impossible."""
    cells = [{"no": "", "layout": "", "text": sentence, "of": None}]
    axis = Axis("no", ""), Axis("layout", "")
    view = table(cells, *axis, colour="of", label="text", tooltip=("text",), title="This cannot be split.")
    return chart(view, f"This cannot be split: {sentence}.")


def communication_share(hidden: int, ranks: int, rate: float, bandwidth: float) -> float:
    """Time of a layer's collectives over the time of its matrix products, in a step with 2-byte elements.

    Attention's own products are left out, so batch and sequence cancel.

    Args:
        hidden: width of the model.
        ranks: tensor-parallel ranks.
        rate: FLOP/s that a GPU achieves.
        bandwidth: of one GPU, one direction, bytes/s.
    """
    tokens = 1
    compute = 72 * tokens * hidden**2 / ranks / rate
    return tensor_parallel_traffic(tokens, 1, hidden, ranks) / bandwidth / compute


def how_far(
    hidden: int = 8192,
    ranks: int = 8,
    gpu: str = "H100",
    mfu_percent: float = 50.0,
    inside: float = 450 * GB,
    beyond: float = 50 * GB,
) -> Spec:
    """Communication over computation against the number of ranks, within a node of 8 and over whole nodes.

    Args:
        hidden: width of the model.
        ranks: the marked number of ranks: 1 to 8, or a multiple of 8 up to 64.
        gpu: a name of :data:`GPUS`.
        mfu_percent: percentage of its dense bf16 peak that is achieved.
        inside: bytes/s of a GPU inside the node, one direction.
        beyond: bytes/s of a GPU's port to other nodes. Ranks that span nodes reduce inside each of them first.
    """
    rate = mfu_percent / 100 * GPUS[gpu].peak_bf16

    def percent(t: int) -> float:
        return 100 * communication_share(hidden, t, rate, group_bandwidth(t, min(t, NODE), inside, beyond))

    rows: list[Spec] = []
    for name, span in (("inside a node", range(2, NODE + 1)), ("over several nodes", range(2 * NODE, 65, NODE))):
        rows += [{"ranks": t, "percent": percent(t), "where": name} for t in span]
    for name, limit in LIMITS.items():
        rows += [{"ranks": t, "percent": 100 * limit, "where": name} for t in (2, 64)]
    x = Axis("ranks", "t, tensor-parallel ranks", log=True)
    y = Axis("percent", "communication / compute (%)", log=True)
    here = percent(ranks)
    title = f"h = {hidden:,}, {ranks} ranks of {gpu} at {mfu_percent:.3g} %: {here:.3g} %"
    point = (
        [{"ranks": ranks, "percent": here, "where": "inside a node" if ranks <= NODE else "over several nodes"}]
        if here
        else []
    )
    return chart(
        lines(rows, x, y, by="where", title=title, points=point),
        f"Communication over computation from 2 to 64 ranks, lines at 10 and 30 %; {ranks} ranks: {here:.3g} %.",
    )


def layer_parts(
    model: Model, sequence: int, batch: int, ranks: int, sequence_parallel: bool, attention: str, recompute: str
) -> dict[str, float]:
    """Bytes of activations of one layer on one rank, by part. The classic model has dropout; the gated ones do not.

    Arguments are those of ``stored_by_layer``.
    """

    def stored(t: int, split: bool, attention: str = "flash", recompute: str = "none") -> float:
        shape = (sequence, batch, model.hidden, model.heads, model.ffn, model.kv_heads)
        kind = {"gated": model.gated, "dropout": not model.gated}
        return stored_by_layer(*shape, t, split, recompute, attention, **kind)

    if recompute == "full":
        return {"input of the layer": stored(ranks, sequence_parallel, recompute="full")}
    around = 2 * (stored(2, False) - stored(2, True))  # the whole of what sequence parallelism splits
    without = stored(ranks, sequence_parallel)
    share = around / ranks if sequence_parallel else around
    matrix = stored(ranks, sequence_parallel, attention, recompute) - without
    return {"norms, masks, residuals": share, "between the matrices": without - share, "attention matrix": matrix}


def _alive(
    model: Model, sequence: int, batch: int, ranks: int, sequence_parallel: bool, attention: str, recompute: str
) -> float:
    """What one layer holds on top while its backward pass computes it again, bytes; arguments of ``layer_parts``."""
    if recompute == "none":
        return 0.0
    kept, whole = (
        sum(layer_parts(model, sequence, batch, ranks, sequence_parallel, attention, again).values())
        for again in (recompute, "none")
    )
    return whole if recompute == "full" else whole - kept


def _beside_the_state(model: Model, ranks: int, activations: float) -> Spec:
    """The chart of the activations of all layers on one rank, on top of the model's state."""
    rows: list[Spec] = []
    for name, stage in (("no ZeRO", 0), (f"ZeRO-1 over {SLICED}", 1)):
        state = zero_memory(model.parameters / ranks, stage, SLICED)
        for part, size in (("model state", state), ("activations", activations)):
            rows.append({"plan": name, "part": part, "gigabytes": size / GB})
    return stacks(
        rows,
        Axis("plan", "", category=True),
        Axis("gigabytes", "one rank (GB)"),
        by="part",
        title=f"all {model.layers} layers on one rank; the dashed line is an H100",
        mark=H100_SXM.memory / GB,
    )


def what_fits(
    model: str = "Llama 3 8B",
    sequence: int = 8192,
    batch: int = 1,
    ranks: int = 8,
    sequence_parallel: str = "yes",
    attention: str = "flash",
    recompute: str = "none",
) -> Spec:
    """Activations of one layer by part, and of all layers with the model's state, against the memory of an H100.

    With recomputation, one layer is there in full as well, while it is computed again.

    The state is 16 bytes per parameter, split over the tensor-parallel ranks; in the second bar the optimizer's part is
    also sliced over :data:`SLICED` data-parallel ranks.

    Args:
        model: a name of :data:`SHAPES`.
        sequence: tokens.
        batch: sequences in the micro-batch.
        ranks: tensor-parallel ranks.
        sequence_parallel: ``"yes"`` or ``"no"``.
        attention: ``"flash"`` or ``"materialised"``.
        recompute: ``"none"``, ``"selective"`` or ``"full"``.
    """
    shape, split = SHAPES[model], sequence_parallel == "yes"
    if shape.heads % ranks:
        return _refused(f"{shape.heads} heads cannot be divided among {ranks} ranks")
    plans = {"whole": (1, False), f"t = {ranks}": (ranks, False), f"t = {ranks}, sequence split": (ranks, True)}
    rows: list[Spec] = []
    for name, plan in plans.items():
        parts = layer_parts(shape, sequence, batch, *plan, attention, recompute)
        rows += [{"plan": name, "part": part, "megabytes": size / MB} for part, size in parts.items()]
    one = stacks(
        rows,
        Axis("plan", "", category=True),
        Axis("megabytes", "one layer (MB)"),
        by="part",
        title=f"one layer of {model}, {sequence:,} tokens, batch {batch}",
    )
    chosen = shape, sequence, batch, ranks, split, attention, recompute
    activations = shape.layers * sum(layer_parts(*chosen).values()) + _alive(*chosen)
    whole, limit = _beside_the_state(shape, ranks, activations), H100_SXM.memory
    said = f"{model} on {ranks} ranks, {sequence:,} tokens, batch {batch}: activations {format_bytes(activations)}"
    return chart(below(one, whole), f"{said}, beside the model's state and {format_bytes(limit)} of memory.")
