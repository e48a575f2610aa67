"""Chapter 13: losses of policy, critic and reward model, as people get them wrong: edits of the references."""

from __future__ import annotations

from autograder.items import Slip

POLICY = (
    Slip("Divide by the real tokens: padding dilutes the mean.", edit=("/ real.sum()", "/ real.numel()")),
    Slip(
        "What the padding holds reached the loss as nan: mask the difference before exp.",
        edits=(
            (".masked_fill(~real, 0)  # before exp: infinity times 0 is nan", ""),
            ("gains = advantages.masked_fill(~real, 0)", "gains = advantages"),
            ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
        ),
    ),
    Slip("That is the objective: a loss is its negative.", edit=("return -_mean(", "return _mean(")),
    Slip(
        "The smaller of the free and the clipped term counts, not the clipped one always.",
        edit=("torch.minimum(free, clipped)", "clipped"),
    ),
    Slip(
        "That is a mean of means, in which a token of a long response weighs less.",
        edit=(
            "values.masked_fill(~real, 0).sum() / real.sum()",
            "(values.masked_fill(~real, 0).sum(1) / real.sum(1)).mean()",
        ),
    ),
    Slip("The ratio is new over old.", edit=("(log_probs - old_log_probs)", "(old_log_probs - log_probs)")),
    Slip(
        "A ratio outside may still send a gradient: count where the clipped term is smaller.",
        edit=("clipped < free", "(ratio - 1).abs() > clip"),
    ),
    Slip(
        "approx_kl is ratio - 1 - log ratio, which is never negative.",
        edit=("log_ratio.expm1() - log_ratio", "-log_ratio"),
    ),
    Slip(
        "Where a ratio overflows, the term that does not count still reaches the result: "
        "0 times infinity is nan. Limit the log-ratio before exp.",
        edit=("torch.where(gains < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()", "log_ratio.exp()"),
    ),
)

VALUE = (
    Slip(
        "The larger of the two errors counts: the smaller one would reward a large step.",
        edit=("torch.maximum(", "torch.minimum("),
    ),
    Slip(
        "A step further than clip gains nothing: the clamped value's error counts, too.",
        edit=("torch.maximum((values - returns).square(), (held - returns).square())", "(values - returns).square()"),
    ),
    Slip(
        "Of the errors of the value and of the clamped value the larger counts.",
        edit=("torch.maximum((values - returns).square(), (held - returns).square())", "(held - returns).square()"),
    ),
    Slip(
        "Padding has no value: average over the real tokens.",
        edits=(
            ("(given.masked_fill(~real, 0) for given in (values, old_values, returns))", "values, old_values, returns"),
            ("values.masked_fill(~real, 0).sum() / real.sum()", "values.mean()"),
        ),
    ),
    Slip("Half the mean squared error is asked for.", edit=("0.5 * ", "")),
    Slip(
        "The step is clamped, around the old value: not the value itself.",
        edit=("old_values + (values - old_values).clamp(-clip, clip)", "values.clamp(-clip, clip)"),
    ),
    Slip(
        "The mask is a factor: 0 times nan is nan. Replace what is masked, or leave it out.",
        edits=(
            ("(given.masked_fill(~real, 0) for given in (values, old_values, returns))", "values, old_values, returns"),
            ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
        ),
    ),
)

PREFERENCE = (
    Slip(
        "sigmoid of a large gap rounds to 0 and its logarithm is infinite: use logsigmoid.",
        edit=("functional.logsigmoid(chosen - rejected)", "(chosen - rejected).sigmoid().log()"),
    ),
    Slip("Chosen and rejected are swapped.", edit=("chosen - rejected", "rejected - chosen")),
    Slip(
        "That is a hinge: the model of Bradley and Terry is a logarithm of a sigmoid.",
        edit=("-functional.logsigmoid(chosen - rejected)", "(1 - (chosen - rejected)).clamp(min=0)"),
    ),
    Slip("The loss is the mean over the pairs, not their sum.", edit=(".mean()", ".sum()")),
    Slip(
        "Only the difference of a pair's scores counts: the zero is arbitrary.",
        edit=(
            "functional.logsigmoid(chosen - rejected)",
            "(functional.logsigmoid(chosen) + functional.logsigmoid(-rejected))",
        ),
    ),
)
