"""Wrong programs for ``reinforce_loss`` and ``ppo_loss``: what people write. Each is an edit of the reference."""

from autograder.items import Slip

REINFORCE = (
    Slip(
        "The sum is divided by the steps: then a long episode counts for less in each of its steps.",
        edit=("/ len(log_probs)", "/ kept.sum()"),
    ),
    Slip(
        "The mean is over all places of the table, padding too: divide by the number of episodes.",
        edit=(".sum() / len(log_probs)", ".mean()"),
    ),
    Slip(
        "Each episode was averaged over its own steps: the gradient of a return sums over them.",
        edit=(".sum() / len(log_probs)", ".sum(1).div(kept.sum(1).clamp(min=1)).mean()"),
    ),
    Slip("The mean over episodes is missing: the gradient grows with the batch.", edit=(" / len(log_probs)", "")),
    Slip(
        "Places behind the end of an episode are counted: the mask is not used.",
        edit=(".masked_fill(~kept, 0.0)", ""),
    ),
    Slip("A gradient flows into the weights: they are data, detach them.", edit=("weights.detach()", "weights")),
    Slip(
        "The sign is wrong: an optimizer goes downhill, so the loss is minus what should grow.",
        edit=("return -(log_probs", "return (log_probs"),
    ),
    Slip(
        "The weight multiplies the log-probability, not the probability.",
        edit=("return -(log_probs", "return -(log_probs.exp()"),
    ),
)

#: The reference limits ratios that clipping makes irrelevant; programs that do not clip need them as they are.
_EVERY_RATIO = (
    "torch.where(advantages < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()",
    "log_ratio.exp()",
)
_NORMALIZED = "advantages = (advantages - advantages.mean()) / (advantages.std() + TINY)"

PPO = (
    Slip(
        "The entropy is subtracted from the loss, not added: the loss falls where the entropy is large.",
        edit=("loss = policy + value_weight * value - entropy", "loss = policy + value_weight * value + entropy"),
    ),
    Slip(
        "A gradient flows into the batch: everything in it is data, so detach it.",
        edits=(
            ("batch.advantages.detach()", "batch.advantages"),
            ("batch.old_log_probs.detach()", "batch.old_log_probs"),
            ("batch.returns.detach()", "batch.returns"),
        ),
    ),
    Slip(
        "A gradient flows into the old log-probabilities: they are data, detach them.",
        edit=("batch.old_log_probs.detach()", "batch.old_log_probs"),
    ),
    Slip(
        "A gradient flows into the advantages: they are data, detach them.",
        edit=("batch.advantages.detach()", "batch.advantages"),
    ),
    Slip(
        "A gradient flows into the returns: they are the critic's target, detach them.",
        edit=("batch.returns.detach()", "batch.returns"),
    ),
    Slip(
        "The sign of the policy term is wrong: the loss is minus the objective.",
        edit=("policy = -torch.minimum", "policy = torch.minimum"),
    ),
    Slip("The sample standard deviation divides by N - 1.", edit=("advantages.std()", "advantages.std(correction=0)")),
    Slip("The advantages were centred and not scaled.", edit=(" / (advantages.std() + TINY)", "")),
    Slip(
        "The advantages were not normalised, though `normalize` asks for it.",
        edit=(f"    if normalize:\n        {_NORMALIZED}\n", ""),
    ),
    Slip(
        "The advantages were normalised with `normalize=False` too.",
        edits=(
            ("    if normalize:\n        advantages = ", "    advantages = "),
            ("advantages.std()", "advantages.std(correction=len(advantages) > 1)"),
        ),
    ),
    Slip(
        "Clipped without the minimum: where a ratio moved against its advantage, nothing may be clipped.",
        edit=("torch.minimum(plain, clipped)", "clipped"),
    ),
    Slip(
        "The larger of the two terms was taken: the bound has to be pessimistic.",
        edits=(_EVERY_RATIO, ("torch.minimum", "torch.maximum")),
    ),
    Slip(
        "Nothing was clipped: that is the ratio times the advantage.",
        edits=(_EVERY_RATIO, ("torch.minimum(plain, clipped)", "plain")),
    ),
    Slip(
        "The ratio is the exponential of the difference of log-probabilities.",
        edits=((_EVERY_RATIO[0], "log_ratio"), ("log_ratio.expm1()", "(log_ratio - 1)")),
    ),
    Slip(
        "A clipped sample must have no policy gradient: your value is right, and its gradient is not 0.",
        edits=(
            _EVERY_RATIO,
            ("torch.minimum(plain, clipped)", "(plain + (torch.minimum(plain, clipped) - plain).detach())"),
        ),
    ),
    Slip(
        "The critic's error has a weight, `value_weight`.",
        edit=("loss = policy + value_weight * value", "loss = policy + value"),
    ),
    Slip("The critic's error is squared.", edit=(".square()", ".abs()")),
    Slip(
        "The entropy weighs all actions by their probabilities; yours looks only at those that were taken.",
        edit=(
            "-(log_probs.exp() * log_probs).sum(1).mean()",
            "-log_probs.gather(1, batch.actions.unsqueeze(1)).mean()",
        ),
    ),
    Slip(
        "`clipped_fraction` counts samples whose clipped term is the smaller one, not every ratio outside it.",
        edit=("(clipped < plain)", "((ratio - 1).abs() > clip)"),
    ),
    Slip(
        "`approx_kl` is the mean of ratio - 1 - ln ratio; minus the mean of ln ratio can be negative.",
        edit=("(log_ratio.expm1() - log_ratio).mean()", "-log_ratio.mean()"),
    ),
    Slip(
        "The statistic `policy` is the part of the loss, minus the objective.",
        edit=("for part in (policy, value,", "for part in (-policy, value,"),
    ),
)
