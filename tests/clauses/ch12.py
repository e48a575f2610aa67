"""What the docstrings of chapter 12 promise."""

from __future__ import annotations

from tools.clauses import Clause

_NOTHING_ELSE = "Gradients flow into ``logits`` and ``values`` and into nothing else"
_EMPTY_BUFFER = ("found, following = [], 0.0", "found, following = ([] if rewards else [0.0]), 0.0")

CLAUSES = {
    "12-discounted-returns": (
        Clause(
            "may be empty",
            edits=(
                (
                    "found, following = [], float(bootstrap)",
                    "found, following = ([] if rewards else [0.0]), float(bootstrap)",
                ),
            ),
        ),
    ),
    "12-policy-value": (
        Clause("only if an episode that starts in any state ends sooner or later", why="what it is called with"),
        Clause("empty without states", edits=(("[0.0] * size", "[0.0] * max(size, 1)"),)),
        Clause(
            "what a row lacks to 1 is the chance that the episode ends after s",
            edits=(("- discount * transitions[row][column]", "- discount * transitions[row][column] / _kept(row)"),)
            + (
                ("    size = len(rewards)\n", "    size, _kept = len(rewards), lambda s: sum(transitions[s]) or 1.0\n"),
            ),
        ),
    ),
    "12-gae": (
        Clause(
            "last step of the buffer bootstraps like any other, unless it terminated",
            edits=(("0.0 if terminated[t] else", "0.0 if terminated[t] or t == len(rewards) - 1 else"),),
        ),
        Clause("may be empty", edits=(_EMPTY_BUFFER,)),
        Clause(
            "this wins where both flags are set",
            edits=(("0.0 if terminated[t] else", "0.0 if terminated[t] and not truncated[t] else"),),
        ),
        Clause("a state after termination is worth 0", edits=(("0.0 if terminated[t] else ", ""),)),
        Clause("over an end of either kind", edits=(("terminated[t] or truncated[t]", "terminated[t]"),)),
    ),
    "12-debug-done": (
        Clause(
            "Where both flags are set, it terminated",
            edits=(("(1 - bool(terminated)) - value", "(1 - (bool(terminated) and not truncated)) - value"),),
        ),
    ),
    "12-optimal-baseline": (
        Clause(
            "it is the expected reward",
            edits=(("weights = list(probabilities)", "weights = [1.0] * len(probabilities)"),),
        ),
    ),
    "12-ppo-clip-objective": (Clause("None is more than 709 above its old one", why="what it is called with"),),
    "12-reinforce-loss": (
        Clause("No gradient flows into them", edits=(("weights.detach()", "weights"),)),
        Clause("as a mean over episodes", edits=(("/ len(log_probs)", "/ kept.any(1).sum()"),)),
        Clause("1 (or True)", edits=(("mask.bool()", "((1 - mask) == 0)"),)),
    ),
    "12-ppo-loss": (
        Clause(_NOTHING_ELSE, edits=(("batch.old_log_probs.detach()", "batch.old_log_probs"),)),
        Clause(_NOTHING_ELSE, edits=(("batch.advantages.detach()", "batch.advantages"),)),
        Clause(_NOTHING_ELSE, edits=(("batch.returns.detach()", "batch.returns"),)),
        Clause(
            "its observations are not used",
            edits=(("batch.advantages.detach()", "batch.advantages.detach() + 0 * batch.observations.sum()"),),
        ),
        Clause("equal advantages become 0", edits=(("(advantages.std() + TINY)", "advantages.std()"),)),
        Clause("plus 1e-8", edits=(("TINY = 1e-8", "TINY = 2e-8"),)),
        Clause("sample standard deviation", edits=(("advantages.std()", "advantages.std(correction=0)"),)),
    ),
    "12-ppo-update": (
        Clause(
            "Gradients that are left over from before the call do not count",
            edits=(
                ("        optimizer.zero_grad()\n        loss.backward()\n", "        loss.backward()\n"),
                ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
            ),
        ),
        Clause(
            "for each minibatch, in the given order",
            edits=(("in minibatches:", "in sorted(minibatches, key=lambda rows: rows.tolist()):"),),
        ),
        Clause(
            "They can be iterated over once",
            edits=(("    stats = []\n", "    stats, count = [], len(list(minibatches))\n"),),
        ),
        Clause("[n] or [n, 1]", edits=((".flatten()", ".squeeze(1)"),)),
        Clause(
            "of all gradients of the optimizer's parameters together",
            edits=(("clip_grad_norm_(parameters,", "clip_grad_norm_(policy.parameters(),"),),
        ),
    ),
    "12-debug-zero-grad": (
        Clause("by the gradient of that episode alone", edits=(("        optimizer.zero_grad()\n", ""),)),
    ),
    "12-debug-detach": (
        Clause("The actor's term moves the actor alone", edits=(("errors.detach()", "errors"),)),
        Clause("into ``next_values`` none", edits=(("next_values.detach()", "next_values"),)),
    ),
}
