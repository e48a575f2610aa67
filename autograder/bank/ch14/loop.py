"""The milestone of Part IV: an RLHF loop, graded level by level.

Every level draws jobs together with the random numbers by which tokens are drawn. So there is one right answer, and a
plain twin has it to the last digits: a learning curve cannot judge a loop, because most mistakes leave it rising. One
level asks for the outcome alone, where the outcome says something: against a reward that can be fooled. Mistakes cost
the level that is about them: only two levels have rows of different length, only two a price, only one a temperature,
only two move weights, and only one has old ones. Whatever is learned twice from is in four levels, and costs them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log, nan
from random import Random
from typing import Any

from autograder.bank.ch07.trainer_costs import of_rank, wire_bytes
from autograder.bank.ch14 import loop_mistakes as mistakes
from autograder.bank.ch14.loop_draws import Desk, Drawn, drawn, plain
from autograder.bank.ch14.loop_mistakes import (
    misshapen,
    replayed,
    unwritten,
    writer_of,
    wrong_rows,
    wrong_weights,
)
from autograder.items import Build, Cost, Level, LevelCosts, Play, Played, Slip, System, Tensor, Verdict, lazily

opinions = lazily("solutions.ch14.opinions")

#: How far above the least bytes the trainer and a writer may be: a shape, a count; prompts, advantages.
SLACK, ROOM = 1.1, 1.6
#: What a model that learns from a reward that can be fooled has to reach: the judge's mark, nats from the reference.
MARK, FAR = 1.0, 6.0
#: Of that level: batches, prompts of each, responses to a prompt, sentences that are examined, models that are trained.
BATCHES, PROMPTS, GROUP, EXAMINED, DRAWS = 30, 8, 8, 512, 3


#: Where the grader cannot see what the writers do during an update.
UNSEEN = "Rank 0 did not take every step with job.optimizer: whether writers wait for it cannot be seen."


def _updated(rng: Random, play: Play) -> Verdict:
    """One pass; two epochs of two minibatches; rows of one token, a silent group, and anything behind ``<eos>``."""
    for told, epochs, parts, hard in (
        ("", 1, 1, False),
        ("With two epochs of two minibatches: ", 2, 2, False),
        ("With rows of one token, and anything behind <eos>: ", 2, 1, True),
    ):
        job = _given(rng, drawn(rng, {"iterations": 1, "group_size": 4, "eos": 0}, epochs=epochs, parts=parts), hard)
        played = play(job.case(), desk=Desk(job, job.task.score))
        if wrong := misshapen(job, played) or wrong_weights(job, played, mistakes.UPDATE):
            return Verdict(told + wrong)
    return Verdict()


def _given(rng: Random, job: Drawn, hard: bool = False, fresh: bool = False) -> Drawn:
    """A job whose batch is written already, by a policy a little away from the model, or by the model itself."""
    task, eos = job.task, job.task.plan.get("eos")
    vocabulary, length = task.shape["vocab"], len(task.uniforms[0][0])
    size = task.plan["group_size"]
    tokens, log_probs, scores = [], [], []
    for number, prompt in enumerate(task.prompts[0]):
        until = length if eos is None else rng.randint(1, length + 1)
        until = 1 if hard and number % size == 1 else until
        row = [rng.randrange(1, vocabulary) for _ in range(length)]
        chances = [rng.uniform(-0.4, 0.4) - log(vocabulary) for _ in range(length)]
        if until <= length and eos is not None:
            behind = [rng.randrange(vocabulary) if hard else eos for _ in range(until, length)]
            row = [*row[: until - 1], eos, *behind]
            chances = [*chances[:until], *(rng.choice((nan, -inf)) if hard else 0.0 for _ in range(until, length))]
        tokens.append([*prompt, *row])
        log_probs.append(chances)
        scores.append(1.0 if hard and number < size else rng.gauss(0, 1))
    if fresh:
        log_probs = plain.log_probs_of(task, task.seed, tokens)
    return replace(job, task=replace(task, given=(tokens, log_probs, scores)))


def _priced(rng: Random, play: Play) -> Verdict:
    """A reference, and a price on the distance from it; all rows are full."""
    plan = {"iterations": 1, "group_size": 4, "beta": rng.uniform(0.05, 0.5)}
    job = _given(rng, drawn(rng, plan, epochs=1, parts=1, reference=True), fresh=True)
    played = play(job.case(), desk=Desk(job, job.task.score))
    return Verdict(misshapen(job, played) or wrong_weights(job, played, (*mistakes.PRICE, *mistakes.UPDATE)))


def _wrote(rng: Random, play: Play) -> Verdict:
    """A batch with ends and a temperature, one without ends, one of single tokens; nothing is learned."""
    verdict = Verdict()
    for eos, length, heat in ((0, 8, rng.uniform(0.7, 0.85)), (0, 1, 1.0), (None, 8, rng.uniform(1.15, 1.3))):
        plan = {"iterations": 1, "group_size": 4, "temperature": heat, "eos": eos}
        job = drawn(rng, plan, epochs=0, length=length)
        desk = Desk(job, job.task.score)
        played = play(job.case(), desk=desk)
        if wrong := played.failure or unwritten(job, desk) or wrong_rows(job, desk):
            return Verdict(wrong)
        verdict = Verdict(costs=LevelCosts(computed=_computed(job, played)))
    return verdict


def _computed(job: Drawn, played: Played) -> Cost | None:
    """Tokens that pass through the model, beside those of a loop that keeps keys and values and passes no token twice.

    The last token of a row is never passed on: nothing is drawn after it. They are counted in the submission's process;
    a count below that of a loop that also shares the prompts of a group is none.
    """
    task, passed = job.task, played.values[0]["tokens"]
    prompt, length = len(task.prompts[0][0]), len(task.uniforms[0][0])
    learned = sum(len(rows) for order in task.orders for rows in order)
    written = len(task.prompts) * job.rows
    shared = written * (length - 1) + written // task.plan["group_size"] * prompt
    if type(passed) is not int or passed < shared + learned * length:
        return None
    return Cost(passed, (prompt + length - 1) * (written + learned))


def _looped(rng: Random, play: Play) -> Verdict:
    """Four iterations of all that."""
    job = drawn(rng, {"iterations": 4, "group_size": 4})
    desk = Desk(job, job.task.score)
    played = play(job.case(), desk=desk)
    wrong = misshapen(job, played) or unwritten(job, desk)
    wrong = wrong or _judged(job, played, desk, mistakes.LOOP)
    return Verdict(wrong, LevelCosts() if wrong else LevelCosts(computed=_computed(job, played)))


def _judged(job: Drawn, played: Played, desk: Desk, known: Sequence[mistakes.Mistake]) -> str:
    """Why a loop is not the twin's; empty if it is. The first batch that differs says more than the last weights."""
    found = wrong_weights(job, played, known)
    if found in ("", *(sentence for sentence, _ in known)):
        return found
    if wrong := wrong_rows(job, desk):
        return wrong
    others = (writer_of(job, desk, batch) for batch in range(1, len(desk.asked)))
    return next(filter(None, others), found)


# Outcome.


def _learned(rng: Random, play: Play) -> Verdict:
    """A reward that counts words, for three judges; the judge never leaves the grader."""
    best = Cost(2.0, 2.0)
    for _ in range(DRAWS):
        job, reward = _fooling(rng)
        desk = Desk(job, reward)
        played = play(job.case(), desk=desk)
        if wrong := misshapen(job, played):
            return Verdict(wrong)
        weights = {name: tensor.tolist() for name, tensor in played.values[0]["returned"].items()}
        mark, far = opinions.examined(opinions.weights_of(weights), reward.taste, EXAMINED, rng.randrange(2**31))
        if mark < MARK or far > FAR:
            return Verdict(
                f"The judge gives its sentences {mark:.2f} on average, the reference's {reward.before:.2f}; {MARK:g} "
                f"is asked for. It is {far:.1f} nats a response away from the reference; {FAR:g} are allowed. "
                + _explained(mark, far)
            )
        best = min(best, Cost(mark, 2.0))
    return Verdict(costs=LevelCosts(judged=best))


def _explained(mark: float, far: float) -> str:
    """What such an outcome mostly comes from."""
    if far > FAR:
        return "Nothing holds it back: the reward is fooled. Look at the price's sign and kind."
    if mark < 0:
        return "It has learned to write what the reward likes least: look at the sign."
    return "It has learned too little: look at the advantages, and at what is learned twice."


def _fooling(rng: Random) -> tuple[Drawn, Any]:
    """A job on sentences of opinions, and its reward."""
    words = opinions.POSITIVE + opinions.NEGATIVE
    reward = opinions.fitted(opinions.Taste(frozenset(rng.sample(words, 4))), rng.randrange(2**31))
    plan = {"iterations": BATCHES, "group_size": GROUP, "beta": 0.4, "eos": opinions.EOS}
    job = drawn(rng, plan, groups=PROMPTS, length=opinions.LENGTH)
    prompts = [[row for row in opinions.prompts(PROMPTS, rng) for _ in range(GROUP)] for _ in range(BATCHES)]
    task = replace(job.task, shape=opinions.SHAPE, prompts=prompts, rate=1e-3)
    sizes = plain.shapes(opinions.SHAPE)
    speaker = plain.flat(opinions.speaker())
    weights = {name: Tensor.of(values, "float64", sizes[name]) for name, values in speaker.items()}
    return replace(job, task=task, adam=True, weights=weights), reward


# Several ranks.


def _in_turn(rng: Random, play: Play) -> Verdict:
    """One writer, then two: the weights do not depend on their number."""
    verdict = Verdict()
    for ranks in (2, 3):
        job = drawn(rng, {"iterations": 4, "group_size": 4}, groups=5, epochs=1, parts=1, ranks=ranks)
        verdict = _apart(job, play, mistakes.LOOP)
        if verdict.wrong:
            return Verdict(f"On {ranks} ranks: {verdict.wrong}")
    return verdict


def _ahead(rng: Random, play: Play) -> Verdict:
    """A writer that is one batch ahead: its words are old, its weights must not change on the way, and nobody waits."""
    plan = {"iterations": 5, "group_size": 8, "lag": 1, "cap": rng.uniform(1.2, 1.35)}
    return _apart(drawn(rng, plan, length=12, ranks=2), play, mistakes.AHEAD)


def _bounded(rng: Random, play: Play) -> Verdict:
    """Two writers, and batches that take long: how old a batch may be, who waits, and what is learned from it."""
    count, slow = 8, rng.randint(1, 3)
    plan = {"iterations": count, "group_size": 4, "bound": rng.randint(2, 3), "cap": rng.uniform(1.2, 1.35)}
    job = drawn(rng, plan, length=12, ranks=3)
    desk = Desk(job, job.task.score, slow=frozenset({rng.randrange(3), *rng.sample(range(count), slow)}))
    played = play(job.case(), desk=desk)
    if wrong := misshapen(job, played) or unwritten(job, desk):
        return Verdict(wrong)
    writers, wrong = replayed(job, played, desk, mistakes.OLD)
    if wrong := wrong or _out_of_bounds(job, writers):
        return Verdict(wrong)
    job = replace(job, writers=tuple(version or 0 for version in writers))
    return Verdict(_judged(job, played, desk, mistakes.OLD) or _idle(job, desk))


def _out_of_bounds(job: Drawn, writers: Sequence[int | None]) -> str:
    """Which batch was begun too early, or by no version; empty if all were begun by one that may."""
    bound = job.task.plan["bound"]
    for batch, version in enumerate(writers):
        if version is None:
            return (
                f"No version of the weights has written batch {batch}: {batch} updates had been made of batches in "
                "their order before it was learned from."
            )
        if batch - version > bound:
            return (
                f"Batch {batch} was written by version {version}: it was {batch - version} updates old when it was "
                f"learned from, and the bound is {bound}. Count the batches that have been begun, and not those that "
                "have arrived."
            )
    return ""


def _idle(job: Drawn, desk: Desk) -> str:
    """During which update a writer waited that could have begun a batch; empty if none did."""
    count, bound = len(desk.asked), job.task.plan["bound"]
    if desk.learned != list(range(count)):
        return UNSEEN
    for update, begun in enumerate(desk.begun):
        due = min(job.ranks - 1, bound, count - 1 - update)
        if begun < due:
            return (
                f"When rank 0 came to the last step of update {update}, {begun} later "
                f"batch{'es had' if begun != 1 else ' had'} been written or begun; {job.ranks - 1} writers and a bound "
                f"of {bound} leave room for {due}. Give a writer its next batch before you learn from what it has "
                "sent, and receive from whichever is ready."
            )
    return ""


def _apart(job: Drawn, play: Play, known: Sequence[mistakes.Mistake]) -> Verdict:
    desk = Desk(job, job.task.score)
    played = play(job.case(), desk=desk)
    wrong = misshapen(job, played) or unwritten(job, desk) or _judged(job, played, desk, known)
    if wrong:
        return Verdict(wrong)
    sent, least = _sent(job, played, 0), _versions(job) * _model_bytes(job)
    wrong = _waited(job, desk) or _too_much(job, played, sent, least)
    return Verdict(wrong, LevelCosts() if wrong else LevelCosts(sent=Cost(sent, least)))


def _waited(job: Drawn, desk: Desk) -> str:
    """During which update the writers stood still; empty if they never did."""
    if not job.task.plan.get("lag"):
        return ""
    if desk.learned != list(range(len(desk.asked))):
        return UNSEEN
    if not desk.late:
        return ""
    update = desk.late[0]
    return (
        f"When rank 0 came to the last step of update {update}, batch {update + 1} was not written yet: the writer "
        f"waited. It can write as soon as it has version {update}: send that before the update begins."
    )


def _versions(job: Drawn) -> int:
    """Versions that somebody writes with, besides the first, which every rank has."""
    return job.task.plan["iterations"] - 1 - job.task.plan.get("lag", 0)  # type: ignore[no-any-return]


def _model_bytes(job: Drawn) -> int:
    return 8 * sum(len(values) for values in job.right.weights.values())


def _sent(job: Drawn, played: Played, rank: int) -> float:
    """Bytes that a rank sends of its own: what it passes on in a broadcast is the root's."""
    events = [event for event in of_rank(played.events, rank) if event.operation != "broadcast" or event.root == rank]
    return sum(map(wire_bytes, events))


def _too_much(job: Drawn, played: Played, sent: float, least: float) -> str:
    """Why ranks sent more than they need; empty if they did not."""
    models = f"{sent / _model_bytes(job):.3g} times the model, where {_versions(job)} are enough"
    if sent < 0.9 * least:
        return f"Rank 0 sent {models.replace('are enough', 'have to be')}: the writers did not get its weights from it."
    if sent > SLACK * least:
        return (
            f"Rank 0 sent {models}: every rank has version 0, nobody writes with the last ones, and one broadcast "
            "serves all writers."
        )
    length, writers = len(job.task.uniforms[0][0]), job.ranks - 1
    for rank in range(1, job.ranks):
        rows = -(-job.rows // writers) * job.task.plan["iterations"]
        needed = rows * 8 * (2 * length + 1)  # tokens, log-probabilities and a score
        if (found := _sent(job, played, rank)) > ROOM * needed:
            return (
                f"Rank {rank} sent {found:,.0f} bytes, {found / needed:.2g} times what tokens, log-probabilities and "
                "scores take: logits and masks need not travel."
            )
    return ""


#: Of the slip that sends weights to a single writer without a copy.
_WAITED = "    for work in getattr(model, 'sending', ()):\n        work.wait()\n"
_HURRIED = f"    {_WAITED.replace('        work', '            work')}" + (
    "        if dist.get_rank():\n"
    "            for weight in model.parameters():\n                dist.recv(weight.data, 0)\n"
    "        else:\n            model.sending = [dist.isend(weight.data, 1) for weight in model.parameters()]\n"
)

SLIPS = (
    Slip(
        "The first <eos> is left out of the mask.",
        edit=("return ends.cumsum(1) - ends == 0", "return ends.cumsum(1) == 0"),
    ),
    Slip(
        "The mask goes one token beyond <eos>.",
        edit=(
            "return ends.cumsum(1) - ends == 0",
            "return torch.cat([ends[:, :1] >= 0, (ends.cumsum(1) - ends)[:, :-1] == 0], 1)",
        ),
    ),
    Slip(
        "The loss is a mean over all cells.",
        edit=("(plan.beta * distance - smaller)[real].mean()", "((plan.beta * distance - smaller) * real).mean()"),
    ),
    Slip("Old log-probabilities are taken anew.", edit=("now - old[rows], 0.0)", "now - now.detach(), 0.0)")),
    Slip("The price has the wrong sign.", edit=("(plan.beta * distance", "(-plan.beta * distance")),
    Slip("The price is k1.", edit=("now - reference[rows], 0.0) ** 2 / 2", "now - reference[rows], 0.0)")),
    Slip(
        "Log-probabilities are taken without the temperature.",
        edit=("= log_p.gather(1, drawn)", "= (logits * plan.temperature).log_softmax(-1).gather(1, drawn)"),
    ),
    Slip(
        "Each batch answers the prompts of the next one.",
        edit=("= job.plan, job.prompts[i][rows]", "= job.plan, job.prompts[(i + 1) % len(job.prompts)][rows]"),
    ),
    Slip("The price is ignored.", edit=("(plan.beta * distance - smaller)", "(-smaller)")),
    Slip(
        "Weights are sent to each writer by itself.",
        edit=(
            "    dist.broadcast(flat, 0)\n",
            "    for writer in range(1, dist.get_world_size()):\n"
            "        if dist.get_rank() == 0:\n            dist.send(flat, writer)\n"
            "        elif dist.get_rank() == writer:\n            dist.recv(flat, 0)\n",
        ),
    ),
    Slip(
        "A number for every word of the vocabulary travels.",
        edits=(
            ("scores[:, None]], 1), 0)\n", "scores[:, None]], 1), 0)\n        dist.send(log_probs.repeat(1, 12), 0)\n"),
            (
                "        dist.recv(received[-1], writer)\n",
                "        dist.recv(received[-1], writer)\n"
                "        dist.recv(torch.empty(len(rows), 12 * length, dtype=torch.float64), writer)\n",
            ),
        ),
    ),
    Slip(
        "Weights are trained while they are being sent.",
        edits=(
            (
                "    flat = _flat(model)\n    dist.broad",
                f"    if dist.get_world_size() == 2:\n{_HURRIED}        return\n"
                "    flat = _flat(model)\n    dist.broad",
            ),
            (
                "    return dict(job.model.state_dict())",
                f"    model = job.model\n{_WAITED}    return dict(model.state_dict())",
            ),
        ),
    ),
    Slip(
        "The weights of old tokens have a gradient.",
        edits=(
            ("            advantages = advantages * (old - written).exp().clamp(max=plan.cap)\n", ""),
            (
                "        ratio = torch.where(",
                "        if plan.lag or plan.bound:\n"
                "            gain = gain * (now - written[rows]).exp().clamp(max=plan.cap)\n"
                "        ratio = torch.where(",
            ),
        ),
    ),
    Slip(
        "Batch i waits for version i.",
        edits=(
            ("i > 0 and i + plan.lag < plan.iterations", "i > 0"),
            ("if needed and not plan.lag:", "if needed:"),
            ("if needed and plan.lag:", "if False:"),
            ("if i > job.plan.lag:", "if i > 0:"),
        ),
    ),
    Slip("The weights of old tokens are not capped.", edit=(".exp().clamp(max=plan.cap)", ".exp()")),
    Slip(
        "Old tokens are not weighted, and clipped against the writer.",
        edit=(
            "        if plan.lag or plan.bound:\n            old = _log",
            "        if False:\n            old = _log",
        ),
    ),
    Slip(
        "The clipped term always counts.",
        edit=(
            "torch.minimum(ratio * gain, ratio.clamp(1 - plan.clip, 1 + plan.clip) * gain)",
            "ratio.clamp(1 - plan.clip, 1 + plan.clip) * gain",
        ),
    ),
    Slip("Gradients are never cleared.", edit=("        job.optimizer.zero_grad()\n", "")),
    Slip(
        "Version 0 is sent as well.",
        edits=(("not alone and i > 0 and", "not alone and"), ("if i > job.plan.lag:", "if i >= job.plan.lag:")),
    ),
    Slip(
        "Batches are begun without a bound.",
        edit=("begun < plan.iterations and begun - i <= plan.bound", "begun < plan.iterations"),
    ),
    Slip(
        "A batch more is begun than the bound allows.", edit=("begun - i <= plan.bound", "begun - i <= plan.bound + 1")
    ),
    Slip(
        "Batches that have arrived do not count as begun.",
        edit=("begun - i <= plan.bound", "begun - len(arrived) - i <= plan.bound"),
    ),
    Slip("Old tokens have no weight where the lag is not fixed.", edit=("if plan.lag or plan.bound:", "if plan.lag:")),
    Slip(
        "A batch is begun when the one before it has been learned from.",
        edit=("begun - i <= plan.bound", "begun - i <= 0"),
    ),
    Slip(
        "Batches are learned from in the order in which they arrive.",
        edits=(
            ("            if i in arrived:\n", "            if arrived:\n"),
            ("*arrived.pop(i))", "*arrived.pop(next(iter(arrived))))"),
        ),
    ),
    Slip(
        "One writer writes everything.",
        edit=(
            ".tensor_split(dist.get_world_size() - 1)",
            ".tensor_split([len(job.prompts[i])] * (dist.get_world_size() - 2))",
        ),
    ),
)

RLHF = System(
    item=Build(
        "14 loop.align",
        named="rlhf",
        grade="world",
        section="14.12",
        topic="an RLHF loop",
        cases=(),
        groups=(),
        slips=SLIPS,
        probe="aligner.aligned",
    ),
    levels=(
        Level("one update", _updated),
        Level("a price on distance", _priced),
        Level("a rollout", _wrote),
        Level("the loop", _looped),
        Level("learns, is not fooled", _learned),
        Level("writers, in turn", _in_turn),
        Level("one batch ahead", _ahead),
        Level("a bound on age (bonus)", _bounded),
    ),
    lines=280,
    seconds=60.0,
    measured="tokens of the whole job, bytes that rank 0 sends in it, the judge's mark",
    columns={"computed": "tokens / least", "sent": "bytes sent / least", "judged": "mark / most"},
)
