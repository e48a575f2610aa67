"""Chapter 2: programs that break what its docstrings promise."""

from __future__ import annotations

from tools.clauses import Clause

SHIFT = "if distance % ranks and x.numel():"
NEXT = "        dist.send(held, rank + 1)"
PAIR = "        dist.send(x, rank + 1)\n        dist.recv(arrived, rank + 1)"

CLAUSES = {
    "02-relay": (
        Clause(
            "Rank 0 starts and the last rank only receives",
            (
                ("if rank < ranks - 1:", "if ranks > 1:"),
                ("dist.send(held, rank + 1)", "dist.send(held, (rank + 1) % ranks)"),
            ),
        ),
        Clause("N - 1 messages of one float64", ((NEXT, f"{NEXT}\n        dist.isend(held, rank + 1)"),)),
        Clause(
            "what this rank adds to the number it receives",
            (
                ("        held += increment\n", ""),
                ("return float(held)", "return float(held + rank * increment)"),
            ),
        ),
    ),
    "02-simulate": (
        Clause(
            "looks only at the first unfinished one",
            (("heads.get(peer) == (_OTHER[verb], r)]", "(_OTHER[verb], r) in calls[peer][place[peer] :]]"),),
        ),
        Clause(
            "With ``eager``, a send goes on at once, whatever the receiver does",
            (('verb == "send" or', 'verb == "send" and heads.get(peer) == ("recv", r) or'),),
        ),
        Clause("has not been received yet", (('+= 1 if verb == "send" else -1', '+= verb == "send"'),)),
        Clause(
            "was sent in an earlier round",
            edits=(
                (
                    (
                        "        if eager:\n"
                        '            moving = [r for r, (verb, peer) in heads.items() if verb == "send" or '
                        "waiting[peer, r]]"
                    ),
                    (
                        "        if eager:\n"
                        "            moving = [\n"
                        '                r for r, (verb, peer) in heads.items() if verb == "send" or '
                        'waiting[peer, r] or heads.get(peer) == ("send", r)\n'
                        "            ]"
                    ),
                ),
            ),
        ),
        Clause(
            "no rank carries out two calls in one round",
            edits=(
                (
                    "moving = [r for r, (verb, peer) in heads.items() if heads.get(peer) == (_OTHER[verb], r)]",
                    (
                        "moving, now = [], list(place)\n"
                        "            for r, program in enumerate(calls):\n"
                        '                verb, peer = program[now[r]] if now[r] < len(program) else ("", r)\n'
                        '                if verb == "send" and calls[peer][now[peer] :][:1] == [("recv", r)]:\n'
                        "                    moving += [r, peer]\n"
                        "                    now[r], now[peer] = now[r] + 1, now[peer] + 1"
                    ),
                ),
            ),
        ),
        Clause(
            "``blocked`` is empty when all finish.",
            edits=(
                (
                    "return rounds, heads",
                    (
                        "return rounds, heads and {r: program[min(place[r], len(program) - 1)] for r, "
                        "program in enumerate(calls) if program}"
                    ),
                ),
            ),
        ),
    ),
    "02-debug-swap": (
        Clause("unchanged afterwards.", (("    return arrived", "    return x.copy_(arrived).clone()"),)),
        Clause("The partner's tensor, a new one.", (("    return arrived", "    return x.copy_(arrived)"),)),
        Clause(
            "One blocking send and one blocking receive on every rank.",
            (
                (
                    PAIR,
                    "        sending: Any = dist.isend(x, rank + 1)\n"
                    "        dist.recv(arrived, rank + 1)\n        sending.wait()",
                ),
            ),
        ),
    ),
    "02-debug-early-read": (
        Clause("Rank 0's numbers, as float64.", (("dtype=torch.float64", "dtype=torch.float32"),)),
    ),
    "02-ring-shift": (
        Clause(
            "Every rank sends one message and receives one, whatever the distance.",
            edits=(
                (SHIFT, "for _ in range(distance % ranks if x.numel() else 0):"),
                ("dist.isend(outgoing, (rank + distance)", "dist.isend(outgoing, (rank + 1)"),
                ("dist.irecv(arrived, (rank - distance)", "dist.irecv(arrived, (rank - 1)"),
                ("request.wait()", "request.wait()\n        outgoing = arrived.clone()"),
            ),
        ),
        Clause(
            "which is copied without a message;", (("outgoing.clone()", "outgoing.clone() if distance % ranks else x"),)
        ),
        Clause("so is an empty one.", ((SHIFT, "if distance % ranks:"),)),
        Clause("unchanged afterwards.", (("    return arrived", "    return x.copy_(arrived).clone()"),)),
        Clause("It need not be contiguous.", (("x.detach().contiguous()", "x.detach()"),)),
        Clause(
            "``(rank - distance) mod N``, a new one.",
            (("    return arrived", f"    {SHIFT}\n        return arrived\n    return x"),),
        ),
    ),
    "02-message-time": (
        Clause(
            "An empty message costs the latency.",
            (("return latency + message_bytes", "return (message_bytes and latency) + message_bytes"),),
        ),
    ),
    "02-relay-time": (
        Clause(
            "Without hops the first rank is the last, and the time is 0.",
            (("    if hops == 0:\n        return 0.0\n", ""),),
        ),
    ),
    "02-best-chunks": (
        Clause(
            "the smaller one when two are equal",
            (("near = (below, min(below + 1, limit))", "near = (min(below + 1, limit), below)"),),
        ),
        Clause("Nothing to send needs one chunk.", (("if hops <= 1 or transfer == 0:", "if hops <= 1:"),)),
        Clause(
            "With 1 or none, nothing overlaps: one chunk",
            (
                ("    if hops <= 1 or transfer == 0:", "    if transfer == 0:"),
                ("    ideal = math.sqrt((hops - 1)", "    ideal = math.sqrt(hops"),
            ),
        ),
        Clause(
            "Without it, more is always better.", (("        return limit\n", "        return min(limit, 4095)\n"),)
        ),
        Clause(
            "A number from 1 to ``limit``.", (("near = (below, min(below + 1, limit))", "near = (below, below + 1)"),)
        ),
    ),
    "02-chunked-relay": (
        Clause(
            "empty ones are not sent.",
            (("whole.tensor_split(min(chunks, max(1, len(x)))) if len(part)]", "whole.tensor_split(chunks)]"),),
        ),
        Clause(
            "it posts that receive before it waits for the send",
            edits=(
                ("            arriving = None if following is None else dist.irecv(following, rank - 1)\n", ""),
                (
                    "  # meanwhile the following chunk arrives",
                    (
                        "\n        if rank > 0 and following is not None:\n"
                        "            arriving = dist.irecv(following, rank - 1)"
                    ),
                ),
            ),
        ),
        Clause(
            "on the other ranks ``x`` gives length and type only.",
            (
                ("x.new_empty(x.shape)", "x.clone()"),
                ("    return whole", "    return whole if rank == 0 else whole + 0 * x + x.sum()"),
            ),
        ),
        Clause("Unchanged afterwards.", (("    return whole", "    x.copy_(whole)\n    return whole"),)),
        Clause(
            "Rank 0's tensor, a new one on every rank.",
            (("x.detach().clone() if rank == 0", "x.detach() if rank == 0"),),
        ),
        Clause(
            "There may be more than elements.",
            (("whole.tensor_split(min(chunks, max(1, len(x))))", "whole.split(len(x) // chunks)"),),
        ),
    ),
    "02-stage-layers": (
        Clause(
            "With more stages than layers, the last ones are empty.",
            (("size + (1 if stage < longer else 0)", "max(1, size + (1 if stage < longer else 0))"),),
        ),
        Clause(
            "The first ``layers mod stages`` stages hold one layer more",
            (
                ("start = stage * size + min(stage, longer)", "start = stage * size + max(0, stage + longer - stages)"),
                ("1 if stage < longer", "1 if stage >= stages - longer"),
            ),
        ),
    ),
    "02-naive-step": (
        Clause(
            "each boundary between stages is crossed once in each direction",
            (("2 * (stages - 1) *", "(stages - 1) *"),),
        ),
        Clause(
            "useful compute over ``stages * step_time``", (("compute / (stages * step_time)", "compute / step_time"),)
        ),
    ),
    "02-forward-backward": (
        Clause(
            "the activation that a rank receives is a new leaf, whose gradient it sends",
            (("activation.grad.contiguous()", "gradient.expand(shape).contiguous()"),),
        ),
        Clause(
            "Each boundary is crossed by one message each way.",
            (
                (
                    "        dist.send(output.detach().contiguous(), rank + 1)",
                    "        for part in output.detach().contiguous().flatten().split(4):\n"
                    "            dist.send(part, rank + 1)",
                ),
                (
                    "        dist.recv(activation, rank - 1)",
                    "        for part in activation.flatten().split(4):\n            dist.recv(part, rank - 1)",
                ),
            ),
        ),
        Clause(
            "added to what ``.grad`` held before",
            edits=(("    activation: Any = inputs", "    stage.zero_grad()\n    activation: Any = inputs"),),
        ),
        Clause("A stage may have no parameters, or frozen ones.", (("    if output.requires_grad:", "    if True:"),)),
        Clause("None on the others", (("if rank == ranks - 1 else None", "if rank == ranks - 1 else 0.0"),)),
        Clause(
            "of the shape of its output, on the last rank; elsewhere not used",
            why="the other ranks are handed no targets, so that nothing could be done with them",
        ),
    ),
}
