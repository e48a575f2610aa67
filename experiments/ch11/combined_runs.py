"""Speculation under a mask: draft inside the automaton, verify with the masked target, roll both back together.

>>> forms = constraint_for(SCHEMA)  # doctest: +SKIP
>>> run = structured(form_pair(), forms, limit=40, draft_length=4, jump=True)  # doctest: +SKIP
>>> forms.text(run.tokens)  # doctest: +SKIP
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

import torch

from rankzero.tiny import BpeTokenizer, GPTConfig, bundled_text, one_thread, train
from solutions.ch11.constrained import forced_tokens
from solutions.ch11.speculative import speculative_step

from .constrained_runs import CONTEXT, Constraint, State
from .speculation_law import Law, Step
from .speculative_runs import Pair, Rules, Run, generate, probabilities, under


@functools.cache
def form_pair(steps: int = 40, draft_steps: int = 20) -> Pair:
    """A target and a draft over the byte-pair vocabulary, both trained on the bundled text: a few seconds."""
    tokenizer = BpeTokenizer()
    text, vocab = tokenizer.encode(bundled_text()), len(tokenizer.vocabulary)
    shapes = ((2, 4, steps, 0), (1, 2, draft_steps, 1))
    models = [
        train(text, count, seed, GPTConfig(vocab=vocab, layers=layers, heads=heads, context=CONTEXT))
        for layers, heads, count, seed in shapes
    ]
    target, draft = (model.eval().requires_grad_(False) for model in models)
    return Pair(target, draft)


class Limited:
    """A constraint as the rules of a generation, with a mask that knows how much of ``limit`` remains.

    Args:
        constraint: compiled; the text begins at its start.
        limit: the most tokens of the text, the end token not counted.
        jump: whether tokens that are forced are written without asking a model.
    """

    def __init__(self, constraint: Constraint, limit: int, jump: bool = False) -> None:
        self.state: State = constraint.state()
        self.constraint, self.limit, self.jump = constraint, limit, jump
        self.places = [constraint.dfa.start]

    @property
    def finished(self) -> bool:
        return self.state.finished

    def allowed(self) -> Sequence[int] | None:
        return self.state.allowed(self.limit - len(self.places) + 1)

    def advance(self, token: int) -> None:
        self.state.advance(token)
        place = self.places[-1]
        self.places.append(self.constraint.index[place].get(token, place))

    def rollback(self, count: int) -> None:
        self.state.rollback(count)
        del self.places[len(self.places) - count :]

    def forced(self) -> Sequence[int]:
        if not self.jump or self.finished:
            return ()
        return forced_tokens(self.constraint.index, self.places[-1], self.constraint.dfa.accepting)


def structured(
    pair: Pair,
    constraint: Constraint,
    limit: int,
    draft_length: int = 0,
    jump: bool = False,
    seed: int = 0,
    step: Step = speculative_step,
) -> Run:
    """Generate one valid text of at most ``limit`` tokens plus the end token, which comes last in ``tokens``.

    Raises:
        ValueError: no valid text is that short.
    """
    rules = Limited(constraint, limit, jump)
    if limit < rules.state.distance():
        raise ValueError(f"limit must be at least {rules.state.distance()} tokens, got {limit}")
    return generate(pair, [constraint.eos], limit + 1, draft_length, seed, step, rules)


def started(constraint: Constraint, prefix: Sequence[int], limit: int, jump: bool = False) -> Limited:
    """The rules of a text that begins with ``prefix``."""
    rules = Limited(constraint, limit, jump)
    for token in prefix:
        rules.advance(token)
    return rules


def pairs_drawn(
    pair: Pair,
    constraint: Constraint,
    prefix: Sequence[int],
    count: int,
    draft_length: int,
    limit: int = 40,
    step: Step = speculative_step,
) -> Counter[tuple[int, ...]]:
    """How often each pair of tokens came after ``prefix`` in ``count`` speculative runs under the mask."""
    found: Counter[tuple[int, ...]] = Counter()
    for seed in range(count):
        rules: Rules = started(constraint, prefix, limit)
        run = generate(pair, [constraint.eos, *prefix], 2, draft_length, seed, step, rules)
        found[run.tokens[:2]] += 1
    return found


@one_thread()
def masked_law(pair: Pair, constraint: Constraint, prefix: Sequence[int], limit: int = 40) -> Law:
    """The masked target's probability of every pair of tokens after ``prefix``; a text that ends is one token."""
    law: Law = {}
    prompt, rules = [constraint.eos, *prefix], started(constraint, prefix, limit)
    first = _masked_row(pair, prompt, rules)
    for token in first.nonzero()[:, 0].tolist():
        rules.advance(token)
        if rules.finished:
            law[(token,)] = float(first[token])
        else:
            second = _masked_row(pair, [*prompt, token], rules)
            law |= {(token, after): float(first[token] * second[after]) for after in second.nonzero()[:, 0].tolist()}
        rules.rollback(1)
    return law


def _masked_row(pair: Pair, tokens: Sequence[int], rules: Rules) -> torch.Tensor:
    row = probabilities(pair.target(torch.tensor([list(tokens)]))[0, -1], pair.temperature)
    return under(rules.allowed(), row)
