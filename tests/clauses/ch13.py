"""What the docstrings of chapter 13 promise."""

from __future__ import annotations

from tools.clauses import Clause

_PADDING = "where it is 0, the others may hold anything, nan and infinities too"
_FACTOR = ("values.masked_fill(~real, 0).sum()", "(values * real).sum()")

CLAUSES = {
    "13-response-mask": (
        Clause(
            "A response without it is all real.",
            edits=(("(before == 0)", "((before == 0) & ends.any(1, keepdim=True))"),),
        ),
        Clause("including its first end-of-sequence token", edits=((".cumsum(1) - ends", ".cumsum(1)"),)),
    ),
    "13-response-log-probs": (
        Clause("of the type of ``logits``", edits=((".log_softmax(-1)", ".double().log_softmax(-1)"),)),
    ),
    "13-token-rewards": (
        Clause(
            _PADDING,
            edits=(("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real"),),
        ),
        Clause("the score on the last real token", edits=(("last = (places * real)", "last = (places + 0 * real)"),)),
        Clause("[B, T], 0 where masked", edits=((".masked_fill(~real, 0)", ".masked_fill(~real, 1e-3)"),)),
    ),
    "13-masked-gae": (
        Clause(
            "Masked tokens, also those inside a response, are skipped",
            edits=(("values[:, t], next_value)", "values[:, t], torch.zeros_like(next_value))"),),
        ),
        Clause(
            "Masked tokens, also those inside a response, are skipped",
            edits=(("* running, running)", "* running, torch.zeros_like(running))"),),
        ),
        Clause("After the last one the value is 0.", edits=(("torch.zeros_like(values[:, 0])", "values[:, -1]"),)),
        Clause(_PADDING, edits=(("(advantages + values).masked_fill(~real, 0)", "(advantages + values) * real"),)),
        Clause("a return is advantage plus value", edits=(("(advantages + values)", "(advantages - values)"),)),
    ),
    "13-masked-whiten": (
        Clause(
            "where it is 0, the values may be anything, nan and infinities too",
            edits=(("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),),
        ),
        Clause("over the whole batch", edits=(("_mean(values, real)).", "values.mean(1, keepdim=True))."),)),
        Clause("(population) variance", edits=(("_mean(centred.square(), real)", "values[real].var()"),)),
        Clause("added to the (population) variance", edits=((" + eps)", " + 0 * eps)"),)),
    ),
    "13-policy-loss": (
        Clause(_PADDING, edits=(("advantages.masked_fill(~real, 0)", "advantages * real"), _FACTOR)),
        Clause(
            _PADDING,
            edits=(("(log_probs - old_log_probs).masked_fill(~real, 0)", "(log_probs - old_log_probs)"), _FACTOR),
        ),
        Clause("sends a gradient of 0, even where its ratio overflows", edits=((" + 1)).exp()", " + 1000)).exp()"),)),
        Clause("averaged over the real tokens of the batch", edits=(("/ real.sum()", "/ real.numel()"),)),
    ),
    "13-debug-nan": (
        Clause(
            "In the padding a log-probability may be minus infinity",
            edits=((".masked_fill(mask == 0, 0)", " * mask"),),
        ),
        Clause(
            "A real token that is not a number must still be seen in the sum",
            edits=(("* advantages * mask).sum()", "* advantages * mask).nansum()"),),
        ),
    ),
    "13-value-loss": (
        Clause(_PADDING, edits=(("given.masked_fill(~real, 0) for", "given * real for"),)),
        Clause("the larger counts", edits=(("torch.maximum(", "torch.minimum("),)),
    ),
    "13-group-advantages": (
        Clause(
            "(sample) standard deviation",
            edits=(("groups.std(1, keepdim=True)", "groups.std(1, False, keepdim=True)"),),
        ),
        Clause("keeps a group of equal rewards at 0", edits=(("keepdim=True) + eps)", "keepdim=True) + 0 * eps)"),)),
    ),
    "13-kl-estimates": (
        Clause("k3 is accurate even where d is tiny", edits=(("math.expm1(-gap)", "(math.exp(-gap) - 1)"),)),
    ),
    "13-estimator-moments": (
        Clause(
            "exactly, over all outcomes",
            edits=(("for a, b in zip(p, q, strict=True) if a > 0]", "for a, b in zip(p[:64], q) if a > 0.05]"),),
        ),
        Clause(
            "Outcomes of probability 0 are never drawn",
            edits=(
                (
                    "[(a, b) for a, b in zip(p, q, strict=True) if a > 0]",
                    "[(a or 1e-3, b) for a, b in zip(p, q, strict=True)]",
                ),
            ),
        ),
    ),
    "13-expected-kl-gradient": (Clause("they sum to 0", edits=(("(weight - mean) for", "weight for"),)),),
    "13-tilted-policy": (
        Clause("An outcome of probability 0 keeps it, whatever its reward.", edits=(("else 0.0\n", "else 1e-9\n"),)),
        Clause(
            "An outcome of probability 0 keeps it, whatever its reward.",
            edits=(
                (
                    "for share, reward in zip(reference, rewards, strict=True) if share > 0)",
                    "for share, reward in zip(reference, rewards))",
                ),
            ),
        ),
        Clause(
            "However small, nothing overflows.",
            edits=(("math.exp((reward - best) / beta)", "math.exp(reward / beta)"),),
        ),
    ),
    "13-role-bytes": (
        Clause(
            "A frozen model has weights alone.", edits=(("if trained else 0\n", "if trained else 1e-3 * parameters\n"),)
        ),
        Clause(
            "master copy included",
            edits=(("float(optimizer_bytes * learning)", "float((optimizer_bytes + 4) * learning)"),),
        ),
        Clause(
            "the adapter has weights of its own beside the body's", edits=(("(parameters + adapter)", "parameters"),)
        ),
        Clause(
            "None: all of a trained model", edits=(("(parameters if trainable is None", "(0 if trainable is None"),)
        ),
    ),
    "13-rlhf-bytes": (
        Clause(
            "whether the optimizer keeps fp32 copies of the weights", edits=(("master=bool(masters)", "master=True"),)
        ),
        Clause("0 is a rule too.", edits=(("policy if value is None else value for", "value or policy for"),)),
        Clause(
            "The reference has as many parameters as the policy.",
            edits=(
                ("role_bytes(policy if reference else 0", "role_bytes((given['reward'] or policy) if reference else 0"),
            ),
        ),
    ),
}
