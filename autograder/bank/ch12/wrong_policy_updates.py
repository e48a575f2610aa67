"""Wrong programs for ``ppo_update``: what people write. Each is an edit of the reference."""

from autograder.items import Slip

UPDATE = (
    Slip(
        "Gradients of earlier steps add up: zero them before each backward.",
        edit=("        optimizer.zero_grad()\n", ""),
    ),
    Slip(
        "Gradients that are there when the function is called go into the first step: zero them before backward.",
        edits=(
            ("        optimizer.zero_grad()\n", ""),
            ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
        ),
    ),
    Slip(
        "Nothing was learned: no step was made, or its gradients were zeroed between backward and step.",
        edits=(
            ("        optimizer.zero_grad()\n", ""),
            ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
        ),
    ),
    Slip(
        "There is one step for each minibatch; yours adds the gradients up and makes one.",
        edits=(
            ("    for index in minibatches:\n", "    optimizer.zero_grad()\n    for index in minibatches:\n"),
            ("        optimizer.zero_grad()\n", ""),
            ("        if max_grad_norm is", "        stats.append(found)\n    if max_grad_norm is"),
            ("            nn.utils.clip", "        nn.utils.clip"),
            ("        optimizer.step()\n        stats.append(found)\n", "    optimizer.step()\n"),
        ),
    ),
    Slip(
        "Old log-probabilities are those of the policy that played; computed anew they make every ratio 1.",
        edit=(
            "        loss, found = ",
            "        now = logits.log_softmax(-1).gather(1, part.actions.unsqueeze(1)).squeeze(1)\n"
            "        part = Batch(part.observations, part.actions, now, part.advantages, part.returns)\n"
            "        loss, found = ",
        ),
    ),
    Slip(
        "Gradients were not limited, or only before backward made them.",
        edits=(
            ("        loss.backward()\n", ""),
            ("        optimizer.step()\n", "        loss.backward()\n        optimizer.step()\n"),
        ),
    ),
    Slip(
        "The limit is on the norm of all gradients together, not of each network.",
        edit=(
            "            nn.utils.clip_grad_norm_(parameters, max_grad_norm)\n",
            "            nn.utils.clip_grad_norm_(policy.parameters(), max_grad_norm)\n"
            "            nn.utils.clip_grad_norm_(value.parameters(), max_grad_norm)\n",
        ),
    ),
    Slip(
        "The limit is on the norm of all gradients together: the critic's count too.",
        edit=("clip_grad_norm_(parameters,", "clip_grad_norm_(policy.parameters(),"),
    ),
    Slip(
        "The limit is on the norm of all gradients together, not on each number.",
        edit=("clip_grad_norm_", "clip_grad_value_"),
    ),
    Slip(
        "The index tensors say which rows are in a minibatch; yours takes rows one after the other.",
        edit=(
            "    for index in minibatches:\n",
            "    first = 0\n"
            "    for index in minibatches:\n"
            "        index = torch.arange(first, first + len(index)) % len(batch.actions)\n"
            "        first += len(index)\n",
        ),
    ),
    Slip(
        "Each step was made on the whole batch: take the rows of the minibatch.",
        edit=("part = batch.rows(index)", "part = batch"),
    ),
    Slip("The critic does not learn: no gradient reaches it.", edit=(".flatten()", ".flatten().detach()")),
    Slip(
        "`value_weight` and `entropy_weight` have to reach the loss.",
        edit=("part, clip, value_weight, entropy_weight)", "part, clip)"),
    ),
    Slip(
        "The advantages of each minibatch are normalised on their own, as `ppo_loss` does.",
        edits=(
            (
                "    for index in minibatches:\n",
                "    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + TINY)\n"
                "    batch = Batch(batch.observations, batch.actions, batch.old_log_probs, advantages, batch.returns)\n"
                "    for index in minibatches:\n",
            ),
            (
                "part, clip, value_weight, entropy_weight)",
                "part, clip, value_weight, entropy_weight, normalize=False)",
            ),
        ),
    ),
)
