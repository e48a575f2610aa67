"""Chapter 5: model states, replicas and few bits, where sources disagree and why. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import GB
from solutions.ch05.batching import debug_loss, scaled_learning_rate
from solutions.ch05.precision import round_to_format
from solutions.ch05.scaler_protocols import final_scales
from solutions.ch05.zero import state_bytes, zero_traffic

from ..correction import Correction, typed, worked

_ZERO = "Rajbhandari et al. (2020), arXiv:1910.02054"
_FSDP = "[fully_shard](https://docs.pytorch.org/docs/2.13/distributed.fsdp.fully_shard.html)"
_LLAMA = "Llama Team (2024), arXiv:2407.21783, sections 3.3 and 3.4"
_DDP = "Li et al. (2020), arXiv:2006.15704"
_RATES = "Goyal et al. (2017), arXiv:1706.02677; Malladi et al. (2022), arXiv:2205.10287"
_SCALERS = (
    "PyTorch, [torch/amp/grad_scaler.py](https://github.com/pytorch/pytorch/blob/"
    "3f34c0682ca4bf0a9125b7a61921f874a2142eda/torch/amp/grad_scaler.py); NVIDIA, Megatron-LM, "
    "[grad_scaler.py](https://github.com/NVIDIA/Megatron-LM/blob/"
    "eedfe533a44ee918b1ad422269063af5155e1eaa/megatron/core/optimizer/grad_scaler.py); DeepSpeed, "
    "[loss_scaler.py](https://github.com/deepspeedai/DeepSpeed/blob/"
    "68ee9f83ae9a278ac09e02b3697094673c9896cd/deepspeed/runtime/fp16/loss_scaler.py)"
)

_PARAMETERS = 70e9
_RECIPES = (
    worked(state_bytes, master=False),
    worked(state_bytes),
    worked(state_bytes, gradient="fp32"),
    worked(state_bytes, "fp32"),
)
_BARE, _CLASSIC, _WIDE, _SINGLE = (sum(recipe.value) for recipe in _RECIPES)
_BOTH = _WIDE + state_bytes()[1]

_SENT = [worked(zero_traffic, _PARAMETERS, stage, 64) for stage in (0, 2, 3)]
_KEPT = worked(zero_traffic, _PARAMETERS, 3, 64, reshard=False)

_MEANS, _COUNTS = [0.0, 1.0, 2.0, 3.0], [100, 100, 100, 50]
_MEAN = worked(debug_loss, _MEANS, _COUNTS)

_SMALL, _HALF = worked(round_to_format, 3.1e-8, 5, 10), worked(round_to_format, 2.0**-25, 5, 10)
_LEAST = worked(round_to_format, 5.9e-8, 5, 10)

_LINEAR, _ROOT = (worked(scaled_learning_rate, 3e-4, 256, 2048, rule) for rule in ("linear", "sqrt"))

#: 16 steps; 1 is an overflow.
_STEPS = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
_SCALES = worked(final_scales, _STEPS, 1024.0, 3)

CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "5.5",
        "Bytes per parameter mean nothing without their list",
        "Mixed-precision Adam keeps 12 bytes for each parameter; or 16, 18 or 20; and it halves what fp32 needs.",
        f"Each figure fits a recipe: bf16 weight and gradient with fp32 master copy and moments are {_CLASSIC:g}, "
        f"without the master copy {_BARE:g}, with gradients in fp32 {_WIDE:g}, with gradients in both {_BOTH:g}. For "
        f"70B that is {_PARAMETERS * _BARE / GB:,.0f} to {_PARAMETERS * _BOTH / GB:,.0f} GB. Pure fp32 takes "
        f"{_SINGLE:g}, too: mixed precision saves time and activations, and the master copy takes back what weights "
        "and gradients save.",
        _RECIPES,
        f"{_ZERO}, section 3.1; Micikevicius et al. (2018), arXiv:1710.03740",
    ),
    Correction(
        "5.6",
        "With one micro-step ZeRO-1 and ZeRO-2 send what DDP sends, and ZeRO-3 half as much again",
        "Sharding is paid with traffic: ZeRO-2 sends half as much again as DDP, ZeRO-3 two or three times as much.",
        "An all-reduce is a reduce-scatter and an all-gather already; stages 1 and 2 only put the optimizer between "
        f"the two. For 70B on 64 ranks DDP and ZeRO-2 send {_SENT[0].value / GB:.1f} and {_SENT[1].value / GB:.1f} GB "
        f"per rank and step, ZeRO-3 {_SENT[2].value / GB:.1f}, because it gathers the weights twice. Where they stay "
        f"gathered after the forward pass, as in the training of Llama 3, it is {_KEPT.value / GB:.1f} again. With "
        "several micro-steps stages 2 and 3 send more: they reduce in every one, DDP and ZeRO-1 once.",
        (*_SENT, _KEPT),
        f"{_ZERO}, section 7; {_FSDP}, reshard_after_forward; {_LLAMA}",
    ),
    Correction(
        "5.1",
        "Averaging gradients needs equal ranks",
        "Averaging the gradients of all ranks equals training on the whole batch.",
        "Only if all ranks have equally many rows, or tokens, and nothing else couples the rows of a batch, as batch "
        f"norm does. Ranks with {', '.join(map(str, _COUNTS))} rows and mean losses of "
        f"{', '.join(f'{mean:g}' for mean in _MEANS)} have the mean {_MEAN.value:.6g}; the mean of their means is "
        f"{sum(_MEANS) / len(_MEANS):g}. DDP averages by rank, so rows on a short rank count for too much, and nothing "
        "reports it.",
        (_MEAN,),
        _DDP,
    ),
    Correction(
        "5.8",
        "Below its smallest normal number fp16 still has subnormals",
        "In fp16 everything below 6.1e-5 is zero.",
        "6.1e-5 is the smallest number with full precision. Subnormals go on, with fewer and fewer bits, to 2**-24, "
        f"which is {typed(_LEAST.value, 3)}, and what lies above half of that is rounded up to it: 3.1e-8 becomes "
        f"{typed(_SMALL.value, 3)}. Exactly half is rounded to the even neighbor, {_HALF.value:g}.",
        (_LEAST, _SMALL, _HALF),
        "IEEE 754-2019, section 3.4",
    ),
    Correction(
        "5.12",
        "The linear rule for the learning rate is a rule for SGD",
        "When the batch grows, scale Adam's learning rate with it.",
        "The linear rule was derived and tested for SGD; for Adam theory and experiments support the square root. From "
        f"3e-4 at batch 256 to batch 2,048 they give {_LINEAR.value:.3g} and {_ROOT.value:.3g}, almost a factor of "
        "three apart.",
        (_LINEAR, _ROOT),
        _RATES,
    ),
    Correction(
        "5.16",
        "Loss scalers differ from framework to framework",
        "Dynamic loss scaling is one protocol: halve at an overflow, double after an interval of clean steps.",
        "The scalers in use differ in what the first overflow costs and in the step at which the scale grows. One list "
        f"of {len(_STEPS)} steps, {sum(_STEPS)} of them overflows, ends at "
        + "; ".join(f"{scale:,.0f} ({name})" for name, scale in _SCALES.value.items())
        + ". A run that moves to another framework may skip steps where it did not before.",
        (_SCALES,),
        _SCALERS,
    ),
)
