"""What the docstrings of the capstone say, and programs that break it."""

from __future__ import annotations

from tools.clauses import Clause

CLAUSES = {
    "cap-parameter-count": (
        Clause("otherwise two", edits=(("(3 if gated else 2)", "3"),)),
        Clause("counted once", edits=(("(1 if tied_embeddings else 2)", "2"),)),
        Clause(
            "need not be equal to it",
            edits=(
                (
                    "layers * (attention + feed_forward + 2 * hidden) + ends",
                    (
                        "layers * (2 * hidden**2 + 2 * hidden * kv_heads * head_dim + feed_forward + 2 * "
                        "hidden) + (1 if tied_embeddings else 2) * vocab * hidden + hidden"
                    ),
                ),
            ),
        ),
        Clause("a last norm", edits=((" * vocab * hidden + hidden\n", " * vocab * hidden\n"),)),
    ),
    "cap-training-flops": (
        Clause(
            "count only the half of the attention that a causal model needs",
            edits=(("return total", "return sum(t * (6 * parameters + 12 * layers * width * s) for t, s in phases)"),),
        ),
        Clause(
            "0 leaves attention out", edits=(("* layers * width * sequence", "* max(1, layers) * width * sequence"),)
        ),
        Clause("FLOP of all phases", edits=(("total += tokens", "total = tokens"),)),
        Clause(
            "0.0 without phases",
            edits=(("for tokens, sequence in phases:", "for tokens, sequence in phases or [(1, 1)]:"),),
        ),
    ),
    "cap-utilization": (
        Clause(
            "HFU also those that are done twice: a forward pass is a third of a step",
            edits=(("(1 + recomputed_forward / 3)", "(1 + recomputed_forward)"),),
        ),
        Clause(
            "HFU also those that are done twice: a forward pass is a third of a step",
            edits=(("(1 + recomputed_forward / 3)", "(4 / 3)"),),
        ),
        Clause(
            "MFU counts the operations that the model needs",
            edits=(("mfu, mfu * (1 + recomputed_forward / 3)", "(mfu * 3 / (3 + recomputed_forward), mfu)"),),
        ),
    ),
    "cap-partition-layers": (
        Clause(
            "goes to the *last* stages, one each",
            edits=(("1 if stage >= stages - more", "1 if stage < more"),),
        ),
        Clause(
            "Then the reserved places are removed",
            edits=(
                ("divmod(places, stages)", "divmod(layers, stages)"),
                ("counts[0] -= reserved_first", "counts[0] += reserved_first"),
                ("counts[-1] -= reserved_last", "counts[-1] += reserved_last"),
            ),
        ),
        Clause(
            "A stage may be left without a layer",
            edits=(("if min(counts) < 0:", "if min(counts) < 1:"),),
        ),
    ),
    "cap-memory-per-stage": (
        Clause(
            "as a gradient and 12 as optimizer state (Adam in fp32: master copy and two moments)",
            edits=(("+ 12 / replicas", "+ 8 / replicas"),),
        ),
        Clause(
            "``shard`` divides some of it by ``cp * dp``",
            edits=(("replicas, stages = cp * dp,", "replicas, stages = dp,"),),
        ),
        Clause(
            "of the embedding on the first stage", edits=(("if stage == 0 else 0", "if stage == stages - 1 else 0"),)
        ),
        Clause(
            "head on the last one",
            edits=(("model.hidden + model.hidden if", "model.hidden if"),),
        ),
        Clause(
            "tensor parallelism divides them by ``tp``",
            edits=(('"parameters": parameters / tp * weight_bytes', '"parameters": parameters * weight_bytes'),),
        ),
        Clause(
            "``min(microbatches, p - i)`` micro-batches",
            edits=(("min(microbatches, stages - stage)", "(stages - stage)"),),
        ),
        Clause(
            "``min(microbatches, p - i)`` micro-batches",
            edits=(("min(microbatches, stages - stage)", "min(microbatches, stages)"),),
        ),
        Clause(
            '``2h``, the layer\'s input, with ``"full"``',
            edits=(("        return 2 * model.hidden\n", "        return 4 * model.hidden\n"),),
        ),
    ),
    "cap-traffic-per-gpu": (
        Clause(
            "(which repeats no collective)",
            edits=(('again = 1 if recompute == "full" else 0', 'again = 0 if recompute == "none" else 1'),),
        ),
        Clause("with ``ceil(layers / pp)`` layers", edits=(("math.ceil(model.layers / pp)", "model.layers // pp"),)),
        Clause("one stage sends nothing to another", edits=((" if pp > 1 else 0.0", ""),)),
        Clause('with ``"full"`` the all-gather once more', edits=(("layers * (2 + again)", "layers * 2"),)),
        Clause("and 2 more when ``recompute`` is", edits=(("(4 + 2 * again)", "4"),)),
        Clause("in fp32 and its weights all-gathered in bf16", edits=(("(4 + 2) * layers", "(2 + 2) * layers"),)),
    ),
    "cap-checkpoint-write-time": (
        Clause(
            "12 is Adam in fp32 (master copy of the weight and two moments), from which the bf16 weights are a cast;",
            why="examples of what the argument may be",
        ),
        Clause(
            "all share one storage",
            edits=(
                (
                    "min(writers * writer_bandwidth, storage_bandwidth)",
                    "(writers * min(writer_bandwidth, storage_bandwidth))",
                ),
            ),
        ),
        Clause("every writer has a link", edits=(("writers * writer_bandwidth", "writer_bandwidth"),)),
    ),
    "cap-optimal-checkpoint-interval": (
        Clause(
            "(exponential), also during a checkpoint or a restart.",
            why="the model from which the three formulas follow, and those are given",
        ),
        Clause(
            "while C < 2M, else M", edits=((("    if checkpoint_time >= 2 * mtbf:\n        return float(mtbf)\n"), ""),)
        ),
        Clause("while C < 2M, else M", edits=(("checkpoint_time >= 2 * mtbf", "checkpoint_time >= mtbf"),)),
        Clause("while C < 2M, else M", edits=(("checkpoint_time >= 2 * mtbf", "checkpoint_time > 2 * mtbf"),)),
        Clause(
            "It has no guard",
            edits=(
                (
                    "    return math.sqrt(2 * checkpoint_time * mtbf)\n",
                    "    return min(mtbf, math.sqrt(2 * checkpoint_time * mtbf))\n",
                ),
            ),
        ),
        Clause(
            "The interval in the unit of the arguments",
            edits=(
                (
                    "    return formulas[method](checkpoint_time, mtbf)",
                    "    return formulas[method](checkpoint_time, mtbf) / 60",
                ),
            ),
        ),
        Clause(
            "and 0 < u < 1",
            edits=(
                (
                    (
                        "    while True:\n"
                        "        closer = period - (period + math.expm1(-period) - ratio) / "
                        "-math.expm1(-period)\n"
                        "        if not closer < period:\n"
                        "            return -math.expm1(-period) * mtbf\n"
                        "        period = closer"
                    ),
                    (
                        "    for _ in range(100):\n"
                        "        period -= (period - math.log1p(period) - ratio) * (1 + period) / period\n"
                        "    return -period * mtbf"
                    ),
                ),
                ("min(1.0, math.sqrt(2 * ratio))", "math.sqrt(2 * ratio)"),
                (
                    (
                        "    if ratio < 1e-6:  # the equation loses its digits to cancellation, where "
                        "Daly's series is right to 1e-11\n"
                        "        return _daly(checkpoint_time, mtbf)\n"
                    ),
                    "",
                ),
            ),
        ),
    ),
    "cap-checkpoint-waste": (
        Clause(
            "Failures come at random (exponential), also during a checkpoint and a restart",
            edits=(
                (
                    (
                        "math.exp(restart_time / mtbf) * math.expm1((interval + checkpoint_time) / mtbf) * "
                        "mtbf / interval"
                    ),
                    (
                        "math.exp(restart_time / mtbf) * math.expm1(interval / mtbf) * mtbf / interval\n"
                        "        wall += checkpoint_time / interval"
                    ),
                ),
            ),
        ),
        Clause(
            "Failures come at random (exponential), also during a checkpoint and a restart",
            edits=(("math.exp(restart_time / mtbf)", "(1 + restart_time / mtbf)"),),
        ),
        Clause(
            "1.0 where the exponential leaves the range of floats",
            edits=((("    except OverflowError:\n        return 1.0"), ("    finally:\n        pass")),),
        ),
    ),
    "cap-debug-interval": (
        Clause(
            "in minutes",
            edits=(
                (
                    "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                    "math.sqrt(2 * checkpoint_seconds / 3600 * mtbf_hours)",
                ),
            ),
        ),
    ),
    "cap-simulate-run": (
        Clause(
            "A failure exactly at that end loses nothing",
            edits=(("saved = left >= useful + checkpoint_time", "saved = left > useful + checkpoint_time"),),
        ),
        Clause(
            "A failure exactly at that end loses nothing, but the job restarts all the same, "
            "also after the last segment.",
            edits=(("while left == 0:", "while left == 0 and (segment < segments - 1 or not saved):"),),
        ),
        Clause(
            "seconds to the first failure, then from each failure to the next, in wall-clock, "
            "whatever the job is doing",
            edits=(
                (
                    (
                        '                spent["restart"] += min(left, restart_time)\n'
                        "                left -= min(left, restart_time)"
                    ),
                    '                spent["restart"] += restart_time',
                ),
            ),
        ),
        Clause(
            "then from each failure to the next",
            edits=(
                (
                    ("        saved = False\n        while not saved:"),
                    (
                        "        left = left if segment == 0 else _next_gap(gaps)\n"
                        "        saved = False\n"
                        "        while not saved:"
                    ),
                ),
            ),
        ),
        Clause(
            "They may never end: take one at a time, and none before it is needed.",
            edits=(("gaps = iter(failure_gaps)", "gaps = iter(list(failure_gaps))"),),
        ),
        Clause(
            "an infinite one if no failure follows",
            edits=(
                (
                    "gap = next(iter(gaps), math.inf)\n    checks.require(gap > 0,",
                    "gap = next(iter(gaps), None)\n    if gap is None:\n        return math.inf\n"
                    "    checks.require(0 < gap < math.inf,",
                ),
            ),
        ),
        Clause(
            "``wall``, the seconds until the last checkpoint is safe and no restart is left to do, and its four parts "
            "``useful`` (equal to ``work``), ``checkpoint`` (only those that were finished)",
            edits=(
                (
                    '                spent["lost"] += left\n',
                    '                spent["lost"] += min(left, useful)\n'
                    '                spent["checkpoint"] += max(0.0, left - useful)\n',
                ),
            ),
        ),
        Clause("``ceil(work / interval - 1e-9)`` of them, at least one", edits=((" - 1e-9))", "))"),)),
        Clause("of them, at least one", edits=(("max(1, math.ceil(", "max(0, math.ceil("),)),
        Clause(
            "the last one perhaps shorter",
            edits=(("interval if segment < segments - 1 else work - (segments - 1) * interval", "interval"),),
        ),
        Clause(
            "then saved, the last one too",
            edits=(
                (
                    "    for segment in range(segments):\n",
                    (
                        "    for segment in range(segments):\n"
                        "        checkpoint_time = checkpoint_time if segment < segments - 1 else 0.0\n"
                    ),
                ),
            ),
        ),
        Clause(
            "A failure during a restart begins the restart again",
            edits=(
                ("            while left == 0:", "            rest = restart_time\n            while left == 0:"),
                (
                    "min(left, restart_time)\n                left -= min(left, restart_time)",
                    "min(left, rest)\n                left, rest = left - min(left, rest), rest - min(left, rest)",
                ),
            ),
        ),
    ),
    "cap-debug-atomic": (
        Clause(
            "and no other file is left beside it",
            edits=(("    disk.rename(part, name)\n", "    disk.rename(part, name)\n    disk.write(part, data)\n"),),
        ),
        Clause(
            "a crash at any moment leaves a whole one", edits=(("disk.rename", ("disk.remove(name)\n    disk.rename")),)
        ),
    ),
    "cap-debug-resume": (
        Clause(
            "so that it ends as if it had never been killed, bit for bit",
            edits=(("{name: saved[name] for name in fresh}", '{**saved, "rng": fresh["rng"]}'),),
        ),
        Clause("fresh: the state that a new process starts with", why="what the argument holds"),
    ),
    "cap-run-report": (
        Clause(
            "It only composes: ``parameter_count``, ``training_flops``, ``partition_layers``, ``memory_per_stage``,",
            why="how it may be written; the numbers are the promise",
        ),
        Clause(
            "as long as the write takes",
            edits=(
                (
                    "write if checkpoints.stall is None else checkpoints.stall",
                    "60.0 if checkpoints.stall is None else checkpoints.stall",
                ),
            ),
        ),
        Clause(
            "14 bytes per parameter store the bf16 weights beside the fp32 states, 12 the states alone",
            edits=(("parameters, each, checkpoints.writers", "parameters, 14, checkpoints.writers"),),
        ),
        Clause(
            "the memory of the fullest stage", edits=(('max(row["total"] for row in memory)', 'memory[0]["total"]'),)
        ),
        Clause(
            "the part of ``dollars`` that is waste",
            edits=(('waste * bill["dollars"]', 'waste / (1 - waste) * bill["dollars"]'),),
        ),
        Clause(
            "expected over the run's wall-clock time",
            edits=(("failures=wall / cluster.mtbf", "failures=flops / rate / cluster.mtbf"),),
        ),
        Clause(
            "are counted as a layer each",
            edits=(("(model.layers, layout.pp, 1, 1)", "(model.layers, layout.pp)"),),
        ),
    ),
}
