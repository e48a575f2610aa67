"""The model that a demo is about: a published one by its name, or any by its numbers.

``--parameters 34e9`` is enough; ``--layers`` and ``--hidden`` say its shape, ``--experts`` makes it a mixture.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from demos.common import number, whole
from rankzero.facts import models
from rankzero.facts.models import Model
from rankzero.facts.shapes import RULE, shaped

#: Every published model by its name in ``rankzero.facts.models``.
PUBLISHED = {name: value for name, value in vars(models).items() if isinstance(value, Model)}

#: The numbers of any other model, and what is said of them.
SIZES = {
    "parameters": "of the whole model, all experts of a mixture included",
    "layers": "transformer blocks",
    "hidden": "width of the residual stream",
    "heads": "query heads",
    "kv_heads": "key and value heads",
    "head_dim": "width of one head",
    "ffn": "inner width of a dense feed-forward block",
    "vocab": "rows of the embedding",
    "experts": "routed experts of every layer; none in a dense model",
    "top_k": "experts that process a token; by default 2",
    "expert_ffn": "inner width of one expert",
}


@dataclass(frozen=True)
class ModelChoice:
    """The options with which a demo is told its model.

    Attributes:
        names: the published models that it takes.
        default: the one that it takes if nothing is said.
    """

    names: Mapping[str, Model]
    default: str

    def add_to(self, options: argparse.ArgumentParser) -> None:
        """Add ``--model``, and a group with the numbers of any other model."""
        known = f"{', '.join(self.names)}; {self.default} if nothing is said"
        options.add_argument("--model", choices=self.names, metavar="NAME", help=known)
        group = options.add_argument_group("any other model, instead of --model", RULE)
        for name, help_text in SIZES.items():
            kind = number(1, 1e15) if name == "parameters" else whole(1, 10**9)
            group.add_argument(_option(name), type=kind, metavar="N", help=help_text)

    def of(self, options: argparse.ArgumentParser, asked: argparse.Namespace) -> Model:
        """The model; one that was typed is printed with its whole shape."""
        sizes = self._typed(options, asked)
        if not sizes:
            return self.names[asked.model or self.default]
        try:
            model = shaped(**sizes)
        except ValueError as error:
            name, _, rule = str(error).partition(" ")
            options.error(f"{_option(name)} {rule}")
        print(described(model))
        print(f"({RULE})")
        return model

    def count(self, options: argparse.ArgumentParser, asked: argparse.Namespace) -> tuple[str, float]:
        """The name and the parameters, for a demo to which no more matters; what is typed holds to the last digit."""
        sizes = self._typed(options, asked)
        if set(sizes) == {"parameters"}:
            print(f"this model: {asked.parameters:,.0f} parameters")
            return "this model", asked.parameters
        model = self.of(options, asked)
        return model.name, asked.parameters or model.parameters

    def _typed(self, options: argparse.ArgumentParser, asked: argparse.Namespace) -> dict[str, float]:
        sizes = {name: getattr(asked, name) for name in SIZES if getattr(asked, name) is not None}
        if sizes and asked.model:
            options.error(
                f"--model must be left out where {_option(next(iter(sizes)))} tells of another, got {asked.model}"
            )
        return sizes


def described(model: Model) -> str:
    """A model's parameters and shape in one line."""
    width = f"{model.experts} experts of {model.expert_ffn:,}, {model.top_k} for each token"
    block = width if model.experts else f"feed-forward {model.ffn:,}"
    heads = f"{model.heads} heads and {model.kv_heads} KV heads of {model.head_dim}"
    sizes = f"{model.layers} layers, hidden {model.hidden:,}, {heads}, {block}, vocabulary {model.vocab:,}"
    return f"{model.name}: {model.parameters:,} parameters: {sizes}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
