"""Parameters and training tokens of published models, and published fits of the loss to both.

>>> round(CHINCHILLA.tokens_per_parameter)
20

Standard library only. Parameters are counted from the shape in :mod:`rankzero.facts.models` where that is known;
otherwise they are the authors' rounded figures.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts import models
from rankzero.facts.models import Model
from rankzero.facts.units import billion, trillion


@dataclass(frozen=True)
class Training:
    """A published model and how many tokens it was trained on.

    Attributes:
        name: the authors' name for it.
        parameters: number of parameters.
        tokens: number of training tokens.
        exact: whether ``parameters`` is counted from the model's shape instead of rounded by its authors.
        source: where the number of tokens is printed.
    """

    name: str
    parameters: float
    tokens: float
    exact: bool
    source: str

    @property
    def tokens_per_parameter(self) -> float:
        """Training tokens per parameter."""
        return self.tokens / self.parameters

    @property
    def flops(self) -> float:
        """FLOP of the training run, by the rule of 6 per parameter and token."""
        return 6 * self.parameters * self.tokens


def _counted(model: Model, tokens: float, source: str) -> Training:
    return Training(model.name, model.parameters, tokens, True, source)


_HOFFMANN = "Hoffmann et al. (2022), arXiv:2203.15556"
_LLAMA2 = "Touvron et al. (2023), arXiv:2307.09288, table 1"

GPT3 = Training(
    "GPT-3", 175 * billion, 300 * billion, False, "Brown et al. (2020), arXiv:2005.14165, table 2.1 and section 2.3"
)
GOPHER = Training("Gopher", 280 * billion, 300 * billion, False, "Rae et al. (2021), arXiv:2112.11446, section 3")
CHINCHILLA = Training("Chinchilla", 70 * billion, 1.4 * trillion, False, f"{_HOFFMANN}, section 4")
LLAMA2_7B = _counted(models.LLAMA2_7B, 2 * trillion, _LLAMA2)
LLAMA2_70B = _counted(models.LLAMA2_70B, 2 * trillion, _LLAMA2)
LLAMA3_8B = _counted(models.LLAMA3_8B, 15 * trillion, "Meta (2024), Llama 3 model card")
LLAMA3_405B = _counted(models.LLAMA3_405B, 15.6 * trillion, "Llama Team (2024), arXiv:2407.21783, section 1")

#: FLOP of the smallest and the largest training runs to which Hoffmann et al. (2022), section 3.2, fitted the rule of
#: about 20 tokens per parameter. The budget of Gopher and Chinchilla, 5.76e23, is an extrapolation.
FITTED_FLOP = (6e18, 3e21)

#: Every record, oldest first.
TRAININGS = (GPT3, GOPHER, CHINCHILLA, LLAMA2_7B, LLAMA2_70B, LLAMA3_8B, LLAMA3_405B)


@dataclass(frozen=True)
class LossFit:
    """The loss of a compute-limited model as ``floor + a / parameters**alpha + b / tokens**beta``, in nats per token.

    Attributes:
        name: the authors of the fit.
        floor: the loss that remains however large the model and its training set are.
        a, alpha: how the loss falls with the number of parameters.
        b, beta: how it falls with the number of tokens.
        source: where the five numbers are printed.
    """

    name: str
    floor: float
    a: float
    alpha: float
    b: float
    beta: float
    source: str


#: The original fit, rounded as in the paper.
HOFFMANN = LossFit("Hoffmann et al. (2022)", 1.69, 406.4, 0.34, 410.7, 0.28, f"{_HOFFMANN}, equation 10")
#: The same before rounding, which matters where a fit is used far from its runs.
HOFFMANN_UNROUNDED = LossFit(
    "Hoffmann et al. (2022), unrounded",
    1.69337368,
    406.401018,
    0.33917084,
    410.722827,
    0.2849083,
    f"the TeX source of {_HOFFMANN}, as quoted by Besiroglu et al. (2024), arXiv:2404.10102, version 2",
)
#: A new fit to the same runs, read off the original paper's figure.
BESIROGLU = LossFit(
    "Besiroglu et al. (2024)",
    1.8172,
    482.01,
    0.3478,
    2085.43,
    0.3658,
    "Besiroglu et al. (2024), arXiv:2404.10102, table 1",
)
FITS = (HOFFMANN, BESIROGLU)
