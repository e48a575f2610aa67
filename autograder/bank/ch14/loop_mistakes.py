"""The milestone "rlhf": is this what the plain twin has, and if not, which mistake explains it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from autograder.bank.ch07.trainer_weights import alike
from autograder.bank.ch14.loop_draws import Desk, Drawn, Row, plain
from autograder.items import Played, Tensor

#: Largest distance of a log-probability.
NEAR = 1e-8
#: Weights that are nearer than this are right but for the rounding of numbers with half as many bits.
ROUNDED = 3e-7
#: A sentence, and the twin's mistake that it names.
Mistake = tuple[str, Mapping[str, Any]]

UPDATE: Sequence[Mistake] = (
    (
        "The first <eos> of a row is left out of the mask: it was drawn, too, and has to be learned.",
        {"ends": "without"},
    ),
    ("The mask goes one token beyond the first <eos>.", {"ends": "beyond"}),
    (
        "Each log-probability is of the wrong place: logits at position t judge token t + 1.",
        {"shifted": False},
    ),
    (
        "The ratio is to log-probabilities that were taken anew in each minibatch, so it is always 1 and nothing is "
        "ever clipped: keep those of the writer.",
        {"old": "now"},
    ),
    (
        "The old log-probabilities are not detached: numerator and denominator of the ratio move together, and no "
        "gradient is left.",
        {"old": "attached"},
    ),
    (
        "Advantages are divided by the population's deviation: the sample's divides by G - 1 (torch.std's default).",
        {"spread": "population"},
    ),
    ("Advantages are not divided by the group's deviation.", {"spread": "nothing"}),
    (
        "Rewards are compared over the whole batch: an advantage is over the other answers to the same prompt.",
        {"centre": "batch"},
    ),
    ("Rewards are not centred: subtract the group's mean.", {"centre": "nothing"}),
    ("The sign of the advantages is turned: what was good is made rarer.", {"sign": -1}),
    (
        "The loss is a mean over rows of each row's mean, in which a token of a long response counts less: take the "
        "mean over all real tokens of the minibatch.",
        {"mean": "rows"},
    ),
    (
        "The loss is divided by all cells, padding included: divide by the real tokens of the minibatch.",
        {"mean": "cells"},
    ),
    ("Gradients were never cleared between minibatches.", {"cleared": False}),
    (
        "The clipped term is always taken: of the two terms the smaller one counts, so that a ratio that went the "
        "wrong way can come back.",
        {"clip": "always"},
    ),
    ("The ratio is never clipped.", {"clip": "never"}),
)
PRICE: Sequence[Mistake] = (
    ("The price has the wrong sign: distance from the reference is rewarded.", {"price": "negative"}),
    ("The price is not in the loss: plan.beta was ignored.", {"price": "nothing"}),
    (
        "The price is k1 = log p - log p_reference: as a loss its gradient is zero on average and pulls nowhere. Take "
        "k2, its square by 2.",
        {"price": "k1"},
    ),
    ("The price is k3: as a loss it has the gradient of another divergence. Take k2.", {"price": "k3"}),
    ("The price is added up over each response: its mean is over tokens, as that of the other term.", {"price": "sum"}),
)
LOOP: Sequence[Mistake] = (
    ("Each batch was written to the prompts of the next one.", {"prompts": 1}),
    *(mistake for mistake in UPDATE if mistake[1].keys() & {"old", "cleared", "clip", "spread", "centre", "sign"}),
)
AHEAD: Sequence[Mistake] = (
    (
        "Old tokens were not weighted: multiply each advantage by min(p_version_i / p_writer, cap).",
        {"weight": "nothing"},
    ),
    ("The weights of old tokens were not capped at plan.cap.", {"weight": "uncapped"}),
    (
        "The weights of old tokens have a gradient: they are numbers, taken once before the update, and not part of "
        "the ratio.",
        {"weight": "attached"},
    ),
    ("Every batch was written by the newest weights, as with lag 0.", {"lag": 0}),
    ("Batches were written by weights that were two versions old.", {"lag": 2}),
    *LOOP,
)

OLD: Sequence[Mistake] = tuple(mistake for mistake in AHEAD if not mistake[1].keys() & {"lag", "prompts"})


def misshapen(job: Drawn, played: Played) -> str:
    """Why a run returned no weights that can be compared; empty if it did."""
    if played.failure:
        return played.failure
    for rank, value in enumerate(played.values):
        got = value["returned"]
        if type(got) is not dict:
            return f"rank {rank} must return a dictionary of weights by name"
        if rank and got:
            return f"rank {rank} must return {{}}: only rank 0 trains"
        if rank:
            continue
        if missing := [name for name in job.shapes if name not in got]:
            return f"rank 0 returned no {missing[0]}"
        if len(got) > len(job.shapes):
            return f"rank 0 returned {len(got)} weights; the model has {len(job.shapes)}"
        for name, size in job.shapes.items():
            tensor = got[name]
            if type(tensor) is not Tensor or tensor.dtype != "float64" or tensor.shape != size:
                return f"rank 0 must return {name} as a float64 tensor of shape {size}"
        if any(not isfinite(x) for name in job.shapes for x in got[name].tolist()):
            return "the weights are not finite: nothing behind <eos> may reach the loss, not even multiplied by zero"
    return ""


def unwritten(job: Drawn, desk: Desk) -> str:
    """Which rows nobody wrote, or the wrong rank; empty if the writers wrote all."""
    writers = job.ranks - 1
    for number, batch in enumerate(desk.asked):
        if missing := [row for row in range(job.rows) if row not in batch]:
            return (
                f"{len(missing)} of {job.rows} rows of batch {number} were never scored, the first is row {missing[0]}"
            )
        shares = [sum(row.rank == rank for row in batch.values()) for rank in range(job.ranks)]
        if writers and shares[0]:
            return f"Rank 0 wrote {shares[0]} rows of batch {number}: it only learns, the others write."
        if job.task.plan.get("bound") and max(shares) < job.rows:
            return f"The rows of batch {number} were written by several ranks: each batch has one writer."
        if writers and not job.task.plan.get("bound") and max(shares) > -(-job.rows // writers):
            busy = shares.index(max(shares))
            return f"Rank {busy} wrote {shares[busy]} rows of batch {number}: writers share them equally."
    return ""


def wrong_weights(job: Drawn, played: Played, mistakes: Iterable[Mistake]) -> str:
    """Why rank 0 did not end with the plain twin's weights; empty if it did."""
    got = {name: played.values[0]["returned"][name].tolist() for name in job.shapes}
    if same(got, job.right.weights):
        return ""
    for sentence, rules in mistakes:
        if same(got, job.wrong(**rules).weights):
            return sentence
    name = next(name for name in got if not alike(got[name], job.right.weights[name]))
    far = max(abs(a - b) for each in got for a, b in zip(got[each], job.right.weights[each], strict=True))
    if far < ROUNDED:
        return (
            f"The weights are almost the plain twin's: at most {far:.0e} away from them. Something was rounded to "
            "float32, as torch.zeros, torch.ones and .float() do: everything in a job is float64."
        )
    updates = len(job.task.orders)
    return f"{name} is not what the plain twin has after {updates} update{'s' * (updates != 1)}"


def same(got: Mapping[str, Sequence[float]], weights: Mapping[str, Sequence[float]]) -> bool:
    """Whether these are the same weights up to rounding."""
    return all(alike(got[name], weights[name]) for name in got)


# What was written.


def wrong_rows(job: Drawn, desk: Desk, batch: int = 0) -> str:
    """Why a batch is not what the twin writes; empty if it is."""
    right = job.right.batches[batch]
    prompt = len(job.task.prompts[0][0])
    for number, row in sorted(desk.asked[batch].items()):
        until = prompt + job.task.real(right.tokens[number])
        where = f"row {number} of batch {batch}"
        if row.tokens[:prompt] != right.tokens[number][:prompt]:
            return f"{where} does not begin with its prompt"
        for place in range(prompt, until):
            if row.tokens[place] != right.tokens[number][place]:
                return (
                    f"token {place - prompt} of {where} is {row.tokens[place]}; the first token whose cumulative "
                    f"probability is larger than its number is {right.tokens[number][place]}"
                )
        if not near(row.log_probs, right.log_probs[number], until - prompt):
            raw = job.wrong(log_probs="raw").batches[batch].log_probs[number]
            if near(row.log_probs, raw, until - prompt):
                return (
                    "The log-probabilities are those at temperature 1; the tokens were drawn from logits / "
                    "temperature, and it is that distribution's that the ratio needs."
                )
            return f"the log-probabilities of {where} are not those of the tokens when they were drawn"
    return ""


def near(got: Sequence[float], wanted: Sequence[float], count: int) -> bool:
    """Whether the first ``count`` log-probabilities agree."""
    pairs = zip(got[:count], wanted[:count], strict=True)
    return all(abs(one - other) <= NEAR for one, other in pairs)


def writer_of(job: Drawn, desk: Desk, batch: int) -> str:
    """By which weights a batch was written, where these are not the planned ones; empty if they are, or unknown.

    The twin's versions count only as far as its own batches were learned from.
    """
    due = job.writers[batch] if job.writers else max(0, batch - job.task.plan.get("lag", 0))
    rows = desk.asked[batch]
    if _written_by(job, rows, job.right.versions[due]):
        return ""
    for number, weights in enumerate(job.right.versions):
        if _written_by(job, rows, weights):
            return f"Batch {batch} was written by version {number}; it is due to version {due}."
    for update, states in enumerate(job.right.between):
        for step, weights in enumerate(states[:-1], start=1):
            if _written_by(job, rows, weights):
                return (
                    f"Batch {batch} was written with weights that no version has: those of version {update} after "
                    f"{step} of the {len(states)} minibatches of its update. They changed while they were being sent: "
                    "send a copy, or wait until they have been taken."
                )
    return ""


def writers_of(job: Drawn, desk: Desk, **rules: Any) -> list[int | None]:
    """By which version each batch was written, the newest one of a twin with these mistakes; None where none fits."""
    found = list[int | None]()

    def writer(batch: int, versions: Sequence[Any]) -> int:
        fits = (
            version
            for version in reversed(range(len(versions)))
            if _written_by(job, desk.asked[batch], versions[version])
        )
        found.append(next(fits, None))
        return found[-1] or 0

    plain.ran_on(job.task, plain.Rules(**rules), writer)
    return found


def replayed(job: Drawn, played: Played, desk: Desk, mistakes: Iterable[Mistake]) -> tuple[list[int | None], str]:
    """By which version each batch was written; and where none fits, the mistake of a twin that has written them all."""
    writers = writers_of(job, desk)
    for sentence, rules in mistakes if None in writers else ():
        theirs = writers_of(job, desk, **rules)
        if None not in theirs:
            weights = replace(job, writers=tuple(version or 0 for version in theirs)).wrong(**rules).weights
            if same({name: played.values[0]["returned"][name].tolist() for name in job.shapes}, weights):
                return writers, sentence
    return writers, ""


def _written_by(job: Drawn, rows: Mapping[int, Row], weights: Any) -> bool:
    """Whether these weights give the log-probabilities of some rows."""
    some = [rows[number] for number in sorted(rows)[:4]]
    chances = plain.log_probs_of(job.task, weights, [row.tokens for row in some])
    return all(near(row.log_probs, chance, len(chance)) for row, chance in zip(some, chances, strict=True))
