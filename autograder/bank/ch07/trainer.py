"""The milestone of Part II: a trainer for many ranks, graded level by level.

Every level draws jobs, has them run on real ranks, and compares what comes back with a plain twin that trains in one
process on the rows of all ranks. What a rank sends is taken from the broker's ledger. Only in the first two levels do
micro-batches have different numbers of rows: a trainer that weights them wrongly loses no other level for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from autograder.bank.ch07 import trainer_costs as costs
from autograder.bank.ch07.trainer_draws import STEPS, Drawn, drawn
from autograder.bank.ch07.trainer_weights import (
    alike,
    drifted,
    first_difference,
    lost_parameters,
    returned,
    shard_bytes,
    weights_of,
    wrong_weights,
)
from autograder.items import Build, Cost, Level, LevelCosts, Play, Played, Slip, System, Tensor, Verdict

#: How far above the least bytes a right program may be: counts of rows, padding, a norm.
SLACK = 1.1
#: Bytes that a rank may hold besides what its plan needs: counts, padding, activations of a micro-batch.
ROOM = 3_000
#: Collectives below this size carry counts, not gradients.
SMALL = 256


def _one_rank(rng: Random, play: Play) -> Verdict:
    """Accumulation over micro-batches of unequal numbers of rows."""
    counts = [3, 1, 2]
    job = drawn(rng, {"micro_batches": 3}, lambda s, r, m: counts[(s + m) % 3])
    return Verdict(wrong_weights(job, play(job.case())))


def _data_parallel(rng: Random, play: Play) -> Verdict:
    """Equal rows on two ranks; unequal rows on three, and micro-batches; a rank that has no row now and then."""
    equal = drawn(rng, {"dp": 2})
    played = play(equal.case())
    if wrong := wrong_weights(equal, played):
        return Verdict(wrong)
    unequal = drawn(rng, {"dp": 3, "micro_batches": 2}, lambda s, r, m: 1 + (s + r + r * m) % 3)
    if wrong := wrong_weights(unequal, play(unequal.case())):
        return Verdict(f"With unequal rows: {wrong}")
    without = drawn(rng, {"dp": 3}, lambda s, r, m: 0 if (s + r) % 4 == 0 else 1 + (s + r) % 3)
    if wrong := wrong_weights(without, play(without.case())):
        return Verdict(f"With a rank that has no rows: {wrong}")
    return Verdict(costs=costs.of_level(equal, played.events, costs.least_of_replicas(equal)))


# Buckets.


def _buckets(rng: Random, play: Play) -> Verdict:
    """One step, in which a lost bucket shows; then ten, whose event log shows when each bucket was sent."""
    plan = {"dp": rng.choice((2, 3)), "micro_batches": 2, "bucket_bytes": rng.randrange(8_000, 10_000)}
    once = drawn(rng, plan, steps=1)
    played = play(once.case())
    if wrong := wrong_weights(once, played):
        return Verdict(lost_parameters(once, played) or wrong)
    job = drawn(rng, {**plan, "dp": 2})
    played = play(job.case(watch=1))
    wrong = wrong_weights(job, played) or _too_much(job, played, costs.least_of_replicas(job)[0])
    wrong = wrong or _too_many(job, played) or _late(job, played)
    return Verdict(
        wrong, costs.of_level(job, played.events, costs.least_of_replicas(job)) if not wrong else LevelCosts()
    )


def _too_many(job: Drawn, played: Played) -> str:
    """Whether gradients travel in more pieces than full buckets make; else empty."""
    most = costs.model_bytes(job) // job.mesh.bucket_bytes + 1
    sent = [event for event in costs.of_rank(played.events, 0) if event.sent >= SMALL]
    if len(sent) <= most * len(job.steps):
        return ""
    return (
        f"Rank 0 sent its gradients in {len(sent) / len(job.steps):g} pieces a step; buckets that are sent when they "
        f"hold {job.mesh.bucket_bytes:,} bytes are {most} at most."
    )


def _late(job: Drawn, played: Played) -> str:
    """Why a run's buckets do not overlap with its backward passes; empty if in every step at least one does."""
    passes = job.mesh.micro_batches
    for rank in range(job.mesh.ranks):
        marks = costs.marks(played.events, rank)
        if len(marks) != passes * len(job.steps):
            return f"rank {rank} ran {len(marks)} backward passes; every micro-batch has one of its own"
        sent = [event for event in costs.of_rank(played.events, rank) if event.sent >= SMALL]
        for last in range(passes - 1, len(marks), passes):
            began = [event for event in sent if marks[last - 1].start < event.start < marks[last].start]
            if not began:
                return (
                    f"In step {last // passes + 1} rank {rank} sent its first bucket when the last backward pass had "
                    "ended: send each as soon as the pass has filled it, from a hook on the gradient."
                )
            if all(event.end < marks[last].start for event in began):
                return (
                    f"In step {last // passes + 1} rank {rank} waited for every bucket at once, and its backward pass "
                    "stood still: send with async_op=True, and wait before the step."
                )
    return ""


def _too_much(job: Drawn, played: Played, least: float) -> str:
    """Why a run sent more than its plan has to; empty if it did not."""
    sent = costs.sent(job, played.events)
    if sent <= SLACK * least + SMALL:
        return ""
    times = sent / least
    text = f"A rank sent {sent:,.0f} bytes a step, {times:.2g} times the {least:,.0f} that are needed: "
    if job.mesh.zero:
        return text + "reduce-scatter the gradients, then all-gather the weights."
    return text + "gradients travel once, after the micro-batches have been added up."


# ZeRO.


def _zero(rng: Random, play: Play) -> Verdict:
    """Stage 1 on three ranks, stage 2 on four, whose figures are shown; a rank may copy its slice of the weights."""
    verdict = Verdict()
    for stage, ranks in ((1, 3), (2, 4)):
        job = drawn(rng, {"dp": ranks, "zero": stage, "micro_batches": 2})
        played = play(job.case(watch=2))
        least = costs.least_of_replicas(job)
        wrong = wrong_weights(job, played) or _too_much(job, played, least[0]) or _whole(job, played) or _unseen(played)
        if wrong:
            return Verdict(f"ZeRO {stage}: {wrong}")
        verdict = Verdict(costs=costs.of_level(job, played.events, least, _held(job, played)))
        if (found := verdict.costs.held) and found.spent > found.least + shard_bytes(job, 0) / ranks + ROOM:
            what = "optimizer state" if stage == 1 else "optimizer state or gradients"
            return Verdict(f"ZeRO {stage}: a rank holds {_bytes(found)} besides the weights: {what} of others' slices.")
    return verdict


def _whole(job: Drawn, played: Played) -> str:
    """Whether a rank received more of the summed gradients than its slice."""
    for event in played.events:
        if event.operation in ("all_reduce", "reduce") and event.received >= costs.model_bytes(job) // job.mesh.dp:
            return (
                f"rank {event.rank} received whole gradients in {event.operation}: reduce-scatter gives it its slice."
            )
    return ""


def _unseen(played: Played) -> str:
    """Why it is not known what the ranks hold; empty if it is."""
    rank = next((rank for rank, value in enumerate(played.values) if not value["held"]), None)
    if rank is None:
        return ""
    return f"rank {rank} never called the module job.model.embedding, where a pass begins: what it holds is not known."


def _held(job: Drawn, played: Played) -> Cost:
    """Bytes on the fullest rank besides its weights, and the gradients and the momentum that its plan needs."""
    plan = job.mesh
    own = max(shard_bytes(job, rank) for rank in range(plan.ranks))
    piece = own / plan.dp
    least = {0: 2 * own, 1: own + piece, 2: 2 * piece}[plan.zero]
    return Cost(max(max(value["held"]) for value in played.values), least)


def _bytes(cost: Cost) -> str:
    return f"{cost.spent:,.0f} bytes where {cost.least:,.0f} are enough"


# A model on several ranks.


def _tensor_parallel(rng: Random, play: Play) -> Verdict:
    """Two ranks, with fewer key heads than query heads, then four."""
    verdict = Verdict()
    for ranks, heads in ((2, 2), (4, 4)):
        job = drawn(rng, {"tp": ranks, "micro_batches": 2}, kv_heads=heads)
        played = play(job.case(watch=2))
        least = costs.least_of_tensors(job)
        if wrong := wrong_weights(job, played):
            wrong = drifted(job, played) or wrong
        wrong = wrong or _unshared(job, played, least[0]) or _unseen(played)
        if wrong:
            return Verdict(f"On {ranks} ranks: {wrong}")
        held = _held(job, played)
        if held.spent > held.least + ROOM:
            return Verdict(f"On {ranks} ranks: a rank holds {_bytes(held)} besides its weights: it works on more.")
        verdict = Verdict(costs=costs.of_level(job, played.events, least, held))
    return verdict


def _unshared(job: Drawn, played: Played, least: float) -> str:
    """Why the ranks of a replica did not share its work as planned; empty if they did."""
    sent = costs.sent(job, played.events)
    if sent < 0.9 * least:
        return f"a rank sent {sent:,.0f} bytes a step where the split needs {least:,.0f}: each worked for itself."
    if sent > SLACK * least + SMALL:
        return f"a rank sent {sent:,.0f} bytes a step, {sent / least:.2g} times the {least:,.0f} that the split needs."
    return ""


def _pipelined(rng: Random, play: Play) -> Verdict:
    """Two stages, then four, with more micro-batches than stages."""
    verdict = Verdict()
    for stages in (2, 4):
        job = drawn(rng, {"pp": stages, "micro_batches": stages + 2}, layers=4)
        played = play(job.case())
        least = costs.least_of_stages(job)
        wrong = wrong_weights(job, played) or _unshared(job, played, least[0]) or _in_flight(job, played)
        if wrong:
            return Verdict(f"On {stages} stages: {wrong}")
        verdict = Verdict(costs=costs.of_level(job, played.events, least))
    return verdict


def _in_flight(job: Drawn, played: Played) -> str:
    """Whether a stage had more micro-batches in flight than 1F1B, by its messages to and from the next stage."""
    stages = job.mesh.pp
    for rank in range(stages - 1):
        flying = 0
        for event in costs.of_rank(played.events, rank):
            flying += (event.operation == "send") - (event.operation == "recv") if rank + 1 in event.peers else 0
            if flying > stages - rank:
                return (
                    f"rank {rank} had {flying} micro-batches in flight; under 1F1B it has {stages - rank} at most: "
                    "after the first ones, a backward pass follows every forward pass."
                )
    return ""


# Stopped and resumed.


def _resumed(rng: Random, play: Play) -> Verdict:
    """One rank, then two replicas: what is saved after a few steps and resumed in new processes equals one run."""
    stop = rng.randrange(3, STEPS - 3)
    jobs = [drawn(rng, plan) for plan in ({"micro_batches": 2}, {"dp": 2})]
    straight, first = [play(job.case()) for job in jobs], [play(job.only(slice(stop)).case()) for job in jobs]
    if failure := next((run.failure for run in (*straight, *first) if run.failure), ""):
        return Verdict(failure)
    if wrong := wrong_weights(jobs[0], straight[0]):
        return Verdict(wrong)
    for number, job in enumerate(jobs):
        saved = [returned(value) for value in first[number].values]
        second = play(job.only(slice(stop, None)).case(saved), fresh=number == 0)
        if second.failure:
            return Verdict(f"Resumed after step {stop}: {second.failure}")
        if wrong := _not_the_same(job, straight[number], second, stop):
            return Verdict(wrong)
    return Verdict()


def _not_the_same(job: Drawn, straight: Played, second: Played, stop: int) -> str:
    """Why a resumed run did not end with the bits of a straight one; empty if it did."""
    pairs = list(zip(straight.values, second.values, strict=True))
    if all(returned(one)[0] == returned(other)[0] for one, other in pairs):
        return ""
    got = [weights_of(other) for _, other in pairs]
    again = f"Resumed after step {stop},"
    if not first_difference(job, got, job.weights(restart=stop)):
        return f"{again} the optimizer began again without momentum: its state belongs in the checkpoint."
    if not first_difference(job, got, job.only(slice(stop, None)).weights()):
        return f"{again} training began again from the starting weights: load job.saved."
    if all(_close(returned(one)[0], returned(other)[0]) for one, other in pairs):
        return f"{again} the weights differ in their last bits: something that was saved has been rounded."
    return f"{again} the run ends with other weights than one that was never stopped."


def _close(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return all(alike(one[name].tolist(), other[name].tolist()) for name in one)


TRAINER = System(
    item=Build(
        "07 trainer.train",
        named="trainer",
        grade="world",
        section="7.13",
        topic="a trainer for many ranks",
        cases=(),
        groups=(),
        slips=(
            Slip("No gradient is averaged.", edit=("        self.dp.sum(flat)\n", "")),
            Slip(
                "The gradients are averaged twice.", edit=("self.dp.sum(flat)", "self.dp.sum(flat).div_(self.dp.size)")
            ),
            Slip(
                "The last bucket, which is not full, is never sent.",
                edit=(
                    "            self._send()\n        for parameters",
                    "            self.filling = []\n        for parameters",
                ),
            ),
            Slip(
                "The step is taken while the buckets are still on their way.",
                edits=(
                    (
                        "        for parameters, flat, work",
                        "        self.optimizer.step()\n        for parameters, flat, work",
                    ),
                    ("        self.traveling = []\n        self.optimizer.step()\n", "        self.traveling = []\n"),
                ),
            ),
            Slip(
                "The checkpoint has no optimizer state.",
                edits=(
                    ("        updater.optimizer.load_state_dict(job.saved[1])\n", "        pass\n"),
                    ("updater.optimizer.state_dict()\n", "None\n"),
                ),
            ),
            Slip(
                "Every rank counts the same.",
                edit=("(len(inputs) / total)", "(len(inputs) / max(1, sum(len(x) for x, _ in step)) / job.plan.dp)"),
            ),
            Slip(
                "A rank without rows skips the step.",
                edit=(
                    "        _passes(job,",
                    "        if not sum(len(x) for x, _ in step):\n            continue\n        _passes(job,",
                ),
            ),
            Slip(
                "Every bucket is waited for inside the backward pass.",
                edit=("        self.traveling.append(", "        work.wait()\n        self.traveling.append("),
            ),
            Slip("Every gradient is sent alone.", edit=(">= self.bucket_bytes", ">= 0")),
            Slip("Gradients are reduced in every micro-step.", edit=("        if self.final:\n", "        if True:\n")),
            Slip(
                "ZeRO 2 keeps whole gradients until the last micro-batch.",
                edit=("(whole, _Sharded, _ShardedGradients)", "(whole, _Sharded, _Sharded)"),
            ),
            Slip(
                "The gradient of a split layer's input is not added up.",
                edit=("ctx.tp.sum(gradient.clone(memory_format=torch.contiguous_format)), None", "gradient, None"),
            ),
            Slip(
                "All forward passes come before the first backward pass.",
                edit=("ahead = min(len(step), pp.size - 1 - pp.place)", "ahead = len(step)"),
            ),
        ),
        probe="trainer.trained",
    ),
    levels=(
        Level("one rank, micro-batches", _one_rank),
        Level("data parallel", _data_parallel),
        Level("buckets that overlap", _buckets),
        Level("ZeRO 1 and 2", _zero),
        Level("tensor parallel", _tensor_parallel),
        Level("pipeline, 1F1B", _pipelined),
        Level("stopped and resumed", _resumed),
    ),
    lines=300,
    seconds=30.0,
    measured="figures of the busiest rank in one step of the optimizer",
    columns={"sent": "bytes sent / least", "held": "bytes held / least", "hops": "hops / least"},
)
