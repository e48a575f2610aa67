"""What the docstrings of chapter 7 say, and programs that break it."""

from __future__ import annotations

from math import ceil

from tools.clauses import Clause


def _memory(**broken):
    """``layout_memory`` in other words; ``broken`` replaces what one of its sentences says."""

    def program(layout, job):
        model, m = job.model, job.global_batch // (layout.dp * job.micro_batch)
        h, q, kv = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim
        matrices = broken.get("matrices", 3 if model.gated else 2)
        expert = matrices * h * model.expert_ffn
        inner = h * model.experts + broken.get("shared", model.shared_experts) * expert
        block = 2 * h * (q + kv) + broken.get("norms", 2 * h) + (inner if model.experts else matrices * h * model.ffn)
        layers = broken.get("rounded", ceil)(model.layers / layout.pp)
        tied = broken.get("tied", model.tied_embeddings)
        ends = model.vocab * h * (1 if layout.pp > 1 or tied else 2)
        ends += broken.get("last_norm", h) if layout.pp == 1 else 0
        z, states = layout.dp * layout.cp, 0.0
        experts = layers * model.experts * expert / layout.ep
        for parameters, ranks in ((layers * block + ends, z), (experts, z // layout.ep)):
            divided = [ranks if layout.zero >= at else 1 for at in broken.get("zero", (3, 2, 1))]
            states += parameters / layout.tp * sum(part / by for part, by in zip((2, 2, 12), divided, strict=True))
        unit = job.sequence * job.micro_batch * h / (layout.tp * broken.get("cp", layout.cp))
        v = layout.virtual_stages
        flying = layout.pp + (layout.pp - 1) / v if v > 1 and not broken.get("chunks") else layout.pp
        kept = layers * (flying if broken.get("few") else min(m, flying)) * unit
        return states, 2 * kept + broken.get("again", 34) * unit if layout.recompute else 34 * kept

    return program


CLAUSES = {
    "07-simulate-schedule": (
        Clause(
            "for B or I(s+1, i) unless s is the last stage",
            edits=(
                ('[(stage, "F"), (stage + 1, "B")]', '[(stage, "F"), (stage + 1, "B")] if stage + 1 in homes else []'),
            ),
        ),
        Clause(
            "B(s, i), or I(s, i), waits for F(s, i), and for B or I(s+1, i) unless s is the last stage",
            edits=(
                (
                    '[(stage, "F"), (stage + 1, "B")]',
                    '[(stage, "F"), (max(ends)[0], "B")] if stage < max(ends)[0] else [(stage, "F")]',
                ),
            ),
        ),
        Clause("each as early as possible", edits=(("max([clock[rank], *(", "max([*clock, *("),)),
        Clause(
            "the sender goes on at once",
            edits=(
                ("clock[rank] = start + seconds[stage, kind]", "start + seconds[stage, kind]"),
                (
                    "            times[orders[rank][place[rank]]] = (start, row[i])\n",
                    "            times[orders[rank][place[rank]]] = (start, row[i])\n"
                    "            other = homes.get(stage + (1 if kind == 'F' else -1), rank)\n"
                    "            clock[rank] = row[i] + (transfer_time if other != rank and kind != 'W' else 0)\n",
                ),
            ),
        ),
        Clause(
            "arrives ``transfer_time`` after its end",
            edits=(("transfer_time if homes[source[0]] != homes[stage] else 0.0", "0.0"),),
        ),
        Clause(
            "What comes from another rank",
            edits=(("transfer_time if homes[source[0]] != homes[stage] else 0.0", "transfer_time"),),
        ),
        Clause("or no stage runs any backward", edits=((' if any(kind != "F" for _, kind in runs) else []', ""),)),
        Clause(
            'seconds by stage and kind, ``"3F"``, or else by kind',
            edits=(
                (
                    'durations.get(f"{stage}{kind}", durations.get(kind, 0.0))',
                    'durations.get(kind, durations.get(f"{stage}{kind}", 0.0))',
                ),
            ),
        ),
        Clause(
            "W(s, i) waits for I(s, i)",
            edits=(('{"F": [(stage - 1, "F")], "W": [(stage, "B")]}', '{"F": [(stage - 1, "F")], "W": []}'),),
        ),
    ),
    "07-bubble-fraction": (
        Clause("One rank never idles: 0.0.", edits=(("return (stages - 1) / (", "return (stages - 1 or 1) / ("),)),
    ),
    "07-bubble-overhead": (
        Clause("One rank never idles: 0.0.", edits=(("return (stages - 1) / (", "return (stages - 1 or 1) / ("),)),
    ),
    "07-pipeline-schedule": (
        Clause(
            "then the remaining W's", edits=(("weights[done:], 0)", "weights[done : len(inputs) - warm_up // 2], 0)"),)
        ),
        Clause(
            "a W when more than r micro-batches wait for theirs",
            edits=(("if number + 1 - done > rank:", "if number + 1 - done > rank + 1:"),),
        ),
        Clause(
            "rank r holds stages r, r + p, r + 2p, ...",
            edits=(
                ('forwards.append(f"{rank + chunk * ranks}F', 'forwards.append(f"{rank * chunks + chunk}F'),
                (
                    'backwards.append(f"{rank + (chunks - 1 - chunk) * ranks}B',
                    'backwards.append(f"{rank * chunks + chunks - 1 - chunk}B',
                ),
            ),
        ),
    ),
    "07-peak-in-flight": (
        Clause(
            "The gradient of the input alone, I, frees nothing.",
            edits=(
                ("elif (stage, microbatch) not in held:", 'elif kind != "W" and (stage, microbatch) not in held:'),
                ('elif kind != "I":', 'elif kind != "W":'),
            ),
        ),
        Clause("may be empty", edits=(("    peak = 0\n", "    peak = 0 * len(order[0])\n"),)),
        Clause("micro-batches of each chunk count", edits=(("len(held)", "len({number for _, number in held})"),)),
        Clause("or the gradient of the weights W, frees them", edits=(('elif kind != "I":', 'elif kind == "B":'),)),
    ),
    "07-pipeline-step": (
        Clause(
            "A rank never waits for its messages to be received before it goes on",
            edits=(
                (
                    "sending.append(dist.isend(y.detach().contiguous(), rank + 1))",
                    "dist.send(y.detach().contiguous(), rank + 1)",
                ),
                (
                    "sending.append(dist.isend(x.grad.contiguous(), rank - 1))",
                    "dist.send(x.grad.contiguous(), rank - 1)",
                ),
            ),
        ),
        Clause(
            "from its forward to its backward pass and no longer: never more graphs than ``peak_in_flight(order)``.",
            edits=(
                ("held.pop(number)", "held[number]"),
                ("y.backward(upstream)", "y.backward(upstream, retain_graph=True)"),
            ),
        ),
        Clause("without a graph", edits=(("total += y.detach()", "total = total + y"),)),
        Clause(
            "zero on the others",
            edits=(("    return total\n", "    return total if rank == ranks - 1 else total - 1\n"),),
        ),
        Clause(
            "added to what ``.grad`` held before",
            edits=(("held.pop(number)", "held.pop(number)\n            module.zero_grad()"),),
        ),
        Clause(
            "A stage may have no parameters",
            edits=(
                (
                    "total = torch.zeros((), dtype=dtype)",
                    "total = torch.zeros((), dtype=dtype, device=next(module.parameters()).device)",
                ),
            ),
        ),
        Clause(
            "or frozen ones",
            edits=(("if y.requires_grad:", "if rank > 0 or y.requires_grad or y.backward(upstream):"),),
        ),
        Clause("is the forward pass of micro-batch 5 on stage 2", edits=(("inputs[number]", "inputs[len(held)]"),)),
        Clause(
            "of these activations",
            edits=(("_received(hidden_shape, dtype, rank - 1)", "_received(hidden_shape, torch.float64, rank - 1)"),),
        ),
        Clause(
            "the mean of the micro-batches' losses",
            edits=(
                ("loss_fn(y, targets[number]) / microbatches", "loss_fn(y, targets[number])"),
                ("    return total\n", "    return total / microbatches\n"),
            ),
        ),
    ),
    "07-pipeline-bytes-sent": (
        Clause("unless the stage is the last of all", edits=((" - (1 if last else 0)", ""),)),
        Clause("and a gradient back, unless it is the first", edits=((" - (1 if first else 0)", ""),)),
        Clause("One rank sends nothing", edits=(("    if ranks == 1:\n        return 0.0\n", ""),)),
    ),
    "07-moe-parameters": (
        Clause(
            "further experts of a mixture layer that every token visits",
            edits=(
                ("total - moe_layers * (experts - top_k) * expert", "shared_parameters + moe_layers * top_k * expert"),
            ),
        ),
    ),
    "07-route": (
        Clause(
            "both [tokens, top_k]: float32 or wider",
            edits=(("torch.promote_types(logits.dtype, torch.float32)", "torch.float32"),),
        ),
        Clause(
            "both [tokens, top_k]: float32 or wider",
            edits=(("torch.promote_types(logits.dtype, torch.float32)", "torch.float64"),),
        ),
        Clause("in float32 or wider", edits=((", dtype=wide)", ").to(wide)"),)),
        Clause(
            "best first",
            edits=(
                (
                    ".topk(top_k, dim=1)\n",
                    ".topk(top_k, dim=1)\n    weights, experts = weights.flip(1), experts.flip(1)\n",
                ),
            ),
        ),
        Clause("Gradients flow through the weights", edits=(("logits.softmax(", "logits.detach().softmax("),)),
    ),
    "07-load-balancing-loss": (
        Clause(
            "a count: no gradient",
            edits=(
                (
                    "shares.to(probabilities.dtype)",
                    "(shares.to(probabilities.dtype) + probabilities.mean(dim=0) - probabilities.mean(dim=0).detach())",
                ),
            ),
        ),
        Clause("for every ``top_k``", edits=(("experts_chosen.numel()", "len(probabilities)"),)),
    ),
    "07-expert-capacity": (
        Clause(
            "The factor counts as it is written",
            edits=(("Fraction(str(capacity_factor))", "Fraction(capacity_factor)"),),
        ),
    ),
    "07-keep-within-capacity": (
        Clause(
            "within a choice, tokens are served in their order",
            edits=(
                (
                    "        for token, chosen in enumerate(choices):\n            expert",
                    "        for token, chosen in reversed(list(enumerate(choices))):\n            expert",
                ),
            ),
        ),
    ),
    "07-all-to-all-bytes": (
        Clause(
            "k different experts",
            edits=(
                (
                    "Fraction(math.comb(experts - experts // ranks, top_k), math.comb(experts, top_k))",
                    "Fraction(ranks - 1, ranks) ** top_k",
                ),
            ),
        ),
        Clause("One rank sends nothing: 0.0.", edits=((" * (ranks - 1) / ranks", " * (ranks - 1 or 1) / ranks"),)),
    ),
    "07-expert-parallel-forward": (
        Clause(
            "ranks may hold different numbers of them",
            edits=(("    rows = _All", "    received = [len(by_expert) // ranks] * ranks\n    rows = _All"),),
        ),
        Clause(
            "ranks may hold different numbers of them, also none.",
            edits=(("    by_expert = chosen", "    if not len(x):\n        return x\n    by_expert = chosen"),),
        ),
        Clause(
            "what the tokens of all ranks contribute",
            edits=(
                (
                    "        return _exchanged(gradients[0], ctx.received, ctx.sent), None, None",
                    "        back, rows = gradients[0], sum(ctx.sent)\n"
                    "        kept = back[:rows] if len(back) >= rows else back.new_zeros(rows, back.shape[1])\n"
                    "        return kept, None, None",
                ),
            ),
        ),
    ),
    "07-debug-validate": (
        Clause("when the mesh takes exactly the GPUs that there are", edits=(("taken != gpus", "taken > gpus"),)),
        Clause(
            "when the mesh takes exactly the GPUs that there are", edits=(("if taken != gpus:", "if taken < gpus:"),)
        ),
    ),
    "07-layout-memory": (
        Clause(
            "In grading it and the job are records with their fields alone.",
            why="what a program is handed when it is graded",
        ),
        Clause("3 (gated) or 2 matrices", program=_memory(matrices=3)),
        Clause("and ``shared_experts`` experts", program=_memory(shared=0)),
        Clause("and two norms of h", program=_memory(norms=0)),
        Clause("A stage has Ls = ceil(layers / pp) layers", program=_memory(rounded=int)),
        Clause("one if they are tied", program=_memory(tied=False)),
        Clause("and the last norm", program=_memory(last_norm=0)),
        Clause("2 of gradients (over z with ZeRO-2 and 3)", program=_memory(zero=(3, 3, 1))),
        Clause("2 of weights (over z with ZeRO-3)", program=_memory(zero=(2, 2, 1))),
        Clause("bytes (h is ``hidden``)", program=_memory(cp=1)),
        Clause("min(m, pp + (pp - 1) / v)", program=_memory(chunks=True)),
        Clause("A rank holds min(m, pp) micro-batches", program=_memory(few=True)),
        Clause("and one layer is there in full", program=_memory(again=0)),
    ),
    "07-choose-layout": (
        Clause(
            "Step times that agree within a relative 1e-9 are a tie: then the least product",
            edits=((" * (1 + 1e-9)", ""),),
        ),
        Clause("Step times that agree within a relative 1e-9 are a tie", edits=((" * (1 + 1e-9)", " * (1 + 1e-10)"),)),
        Clause("Step times that agree within a relative 1e-9 are a tie", edits=((" * (1 + 1e-9)", " * (1 + 1e-8)"),)),
        Clause(
            "the least product ``tp cp pp ep`` wins", edits=(("return ways, layout.zero,", "return 0, layout.zero,"),)
        ),
        Clause("then the least ``zero``", edits=(("return ways, layout.zero,", "return ways, -layout.zero,"),)),
        Clause(
            "then ``virtual_stages``",
            edits=(("layout.virtual_stages, layout.recompute", "-layout.virtual_stages, layout.recompute"),),
        ),
        Clause(
            "bytes of one GPU in place of ``job.gpu_memory``",
            edits=(("(job.gpu_memory if limit is None else limit)", "job.gpu_memory"),),
        ),
        Clause("less the job's reserve", edits=((" * (1 - job.reserve)", ""),)),
        Clause(
            "or None when none fits",
            edits=(
                (
                    "        return None\n",
                    "        return min(candidates(job), key=lambda one: sum(layout_memory(one, job)))\n",
                ),
            ),
        ),
    ),
    "07-debug-impossible": (
        Clause("or None when its bf16 weights alone do not fit so", edits=(("weights = 2", "weights = 16"),)),
        Clause(
            "they fit when a GPU's share is at most its memory",
            edits=(("weights <= gpu_memory", "weights < gpu_memory"),),
        ),
        Clause("(1, 1) below 10 billion parameters", edits=(("parameters < 10e9", "parameters <= 10e9"),)),
        Clause("(8, 1) below 100 billion", edits=(("parameters < 100e9", "parameters <= 100e9"),)),
    ),
}
