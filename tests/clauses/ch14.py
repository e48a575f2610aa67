"""What the docstrings of chapter 14 announce and promise."""

from __future__ import annotations

from autograder.bank.ch14 import push
from tools.clauses import Clause

_KEPT = "Every element of every target box comes exactly once: from the destination itself where it has it"
_COMMIT = "        if self.version is not None and version <= self.version:\n"

CLAUSES = {
    "14-memory-timeline": (
        Clause(
            "what had to be copied in and out before it",
            edits=(("phases[place - 1][1]", "phases[max(place - 1, 0)][1]"),),
        ),
        Clause("one that only the phase before held is evicted", edits=(("before - here - free", "before - free"),)),
        Clause(
            "Discardable tenants (caches, activations, gradients, a copy that is",
            edits=(("total(here),", "total(here - free),"),),
        ),
        Clause("they are allocated and freed, but never copied", edits=(("here - before - free", "here - before"),)),
        Clause("tenants that need no copy", edits=(("before - here - free", "before - here"),)),
        Clause(
            "those that no phase holds are ignored",
            edits=(("    uses = []\n", "    uses = [sizes[name] for name in discardable][:0]\n"),),
        ),
    ),
    "14-reshard-plan": (
        Clause(_KEPT, edits=((" | {source[destination]: destination}", ""),)),
        Clause("lowest rank that has it", edits=(("owners.setdefault(box, rank)", "owners[box] = rank"),)),
        Clause(
            "The boxes of a plan are not empty", edits=(("[move for move in moves if _area(move.box)]", "list(moves)"),)
        ),
        Clause(
            "what a rank keeps is listed too",
            edits=(
                ("plan += sorted(moves,", "plan += sorted([move for move in moves if move.source != destination],"),
            ),
        ),
    ),
    "14-execute-reshard": (
        Clause("unchanged afterwards", edits=(("    return result\n", "    local.zero_()\n    return result\n"),)),
        Clause(
            "Those with ``source == destination`` are copies, without a message.",
            edits=(("_part(result, wanted, move.box).copy_(_part(local, held, move.box))", "pass"),),
        ),
        Clause(
            "a new contiguous tensor of ``local``'s type",
            edits=(
                (
                    "local.new_empty(wanted[1] - wanted[0], wanted[3] - wanted[2])",
                    "local.new_empty(wanted[3] - wanted[2], wanted[1] - wanted[0]).t()",
                ),
            ),
        ),
        Clause("it may be empty", edits=(("    return result\n", "    return result if result.numel() else None\n"),)),
    ),
    "14-transition-cost": (
        Clause(
            "it receives what it lacks of that slice and keeps nothing twice",
            edits=(("model_bytes / slices, 0.0)", "model_bytes / slices, model_bytes / parts)"),),
        ),
        Clause(
            'Only ``"nested"`` uses them.',
            edits=(
                (
                    "    parts, slices = train_tp * train_pp, generate_tp * generate_pp\n",
                    "    parts, slices = train_tp * train_pp, generate_tp * generate_pp\n"
                    "    if parts % slices:\n        raise ValueError('slices do not nest')\n",
                ),
            ),
        ),
    ),
    "14-chain-broadcast-time": (
        Clause(
            "Without receivers it takes no time.",
            edits=(("relay_time(message_bytes, receivers,", "relay_time(message_bytes, max(receivers, 1),"),),
        ),
    ),
    "14-bucketed-sync-time": (
        Clause(
            "Nothing to send takes no time.", edits=((" if count else 0.0", ""), ("(count - 1)", "max(count - 1, 0)"))
        ),
        Clause("the last one holds the rest", edits=(("message_time(rest,", "message_time(bucket_bytes,"),)),
        Clause("all stages work at once", edits=(("max(ready, free) +", "ready + free +"),)),
    ),
    "14-push-weights": (
        Clause(
            "They are overwritten in place on all ranks but the trainer.",
            edits=(
                (
                    "tensor.detach().copy_(part.clone().view(tensor.dtype).view(tensor.shape))",
                    "name = min(name for name, held in state.items() if held is tensor)\n"
                    "            state[name] = part.clone().view(tensor.dtype).view(tensor.shape)",
                ),
            ),
        ),
        Clause(
            "*global* rank that has the new weights",
            edits=(("src=trainer", "src=dist.get_group_rank(rollout_group, trainer)"),),
        ),
        Clause("unless one tensor alone is larger", edits=(("tensor.nbytes > room", "tensor.nbytes >= room"),)),
        Clause("An empty tensor is not sent", edits=(("        if tensor.numel():\n", "        if True:\n"),)),
    ),
    "14-debug-src": (
        Clause("unchanged afterwards", edits=(("weights = x.clone()", "weights = x"),)),
        Clause(
            "A new tensor: on a serving rank the first serving rank's", edits=(("src=serving[0]", "src=serving[-1]"),)
        ),
    ),
    "14-debug-rebinding": (
        Clause("Give a layer new weights while an engine runs on it.", program=push.wrong_rebinding),
        Clause("the new weight [out, in]", edits=(("layer.weight.copy_(weight)", "pass"),)),
        Clause("the new bias [out]", edits=(("layer.bias.copy_(bias)", "pass"),)),
    ),
    "14-weight-slots": (
        Clause(
            "Which of several copies of the weights is the latest, which are being read, and which may be written.",
            edits=(("if slot != self.latest and not pins", "if not pins"),),
        ),
        Clause(
            "A version that is refused leaves it open.",
            edits=(
                (_COMMIT, "        opened, self._open = self._open, None\n" + _COMMIT),
                (
                    "self.latest, self.version, self._open = self._open, version, None",
                    "self.latest, self.version = opened, version",
                ),
            ),
        ),
        Clause(
            "the lowest slot that is neither the latest nor pinned",
            edits=(("enumerate(self._pins) if", "reversed(list(enumerate(self._pins))) if"),),
        ),
        Clause("ValueError when it has none", edits=(("if not self._pins[slot]:", "if False:"),)),
    ),
    "14-best-placement": (
        Clause("one copy of the rollout weights, split over", edits=(("rollout_bytes / rollout_tp", "rollout_bytes"),)),
        Clause(
            "GPUs that hold one copy of the rollout weights",
            edits=(("range(rollout_tp, gpus, rollout_tp)", "range(1, gpus)"),),
        ),
        Clause("may be infinite", edits=(("gpu_memory > 0,", "0 < gpu_memory < math.inf,"),)),
        Clause("of equally fast ones the colocated", edits=(("min(found,", "min(found[::-1],"),)),
        Clause("None if nothing fits", edits=(("default=None)", "default=Placement('colocated', gpus, gpus, 0.0))"),)),
    ),
    "14-simulate-async": (
        Clause(
            "ties by their order",
            edits=(
                ("heapq.heappush(running, (finish, len(born)))", "heapq.heappush(running, (finish, -len(born)))"),
                ("heapq.heappop(running)[1]", "-heapq.heappop(running)[1]"),
            ),
        ),
        Clause(
            "seconds in which the new weights reach the rollout, after each step",
            edits=(("now + train_time + sync_time", "now + train_time"),),
        ),
        Clause("raises the version before anything starts", edits=(("if step_end == now:", "if not steps:"),)),
    ),
    "14-staleness-gate": (
        Clause(
            "so that production never runs far ahead of training",
            edits=(("(self._ahead + self.version + 1)", "(self._ahead + 2 * self.version + 1)"),),
        ),
        Clause(
            "A response that is accepted waits for a trainer's batch or was in one.",
            edits=(("wanted - self.accepted - self.running", "wanted - self.running"),),
        ),
    ),
    "14-importance-weights": (
        Clause(
            "infinite where there is no cap and it is too large for a float",
            edits=(("        return math.inf\n", "        raise\n"),),
        ),
        Clause(
            "which is then capped and given to every token",
            edits=(("[math.fsum(logs)] * len(logs)", "[math.fsum(logs)]"),),
        ),
    ),
    "14-effective-sample-size": (
        Clause(
            "0 where no weight is positive", edits=(("        return 0.0\n", "        return float(len(weights))\n"),)
        ),
    ),
}
