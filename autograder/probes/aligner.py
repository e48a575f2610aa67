"""The driver of the milestone "rlhf": makes each rank's job from plain data, and hands back the weights.

Rewards are in the grader's process: a rank asks for those of rows that it has written. So the grader sees every row,
with its log-probabilities, at the moment when it is finished.

Where several ranks work, the second step of every update is stopped at a barrier of this rank alone before it is taken:
there the broker carries whatever has been sent, as the data are at that moment. Weights that were handed to ``isend``
and are being trained have then changed. And before the last step of every update the grader is asked, who answers when
all other ranks wait or ask: it sees whether the next batch has been written by then.
"""

from array import array
from binascii import b2a_base64

import torch
import torch.distributed as dist

from rankzero.tiny import align_jobs


def aligned(ask, program, settings, plan, prompts, uniforms, orders, given=None, watch=False):
    """Called on each rank with a job; ``watch`` says that updates are stopped."""
    torch.set_num_threads(1)
    score = score_by(ask, given is not None)
    job = align_jobs.made(
        dist.get_rank(),
        **settings,
        plan=plan,
        prompts=prompts,
        uniforms=uniforms,
        orders=orders,
        score=score,
        rollout=given,
    )
    passes = Passes(job, ask, len(orders[0]) if watch else 0)
    returned = program(job)
    return {"returned": returned, "tokens": passes.tokens}


aligned.asks = True  # type: ignore[attr-defined]


def score_by(ask, given):
    """What asks the grader for rewards. ``given``: batch 0 is scored already."""

    def score(batch, rows, tokens, log_probs):
        if given:
            raise ValueError("batch 0 is written and scored already: job.rollout")
        if (
            tokens.dim() != 2
            or log_probs.dim() != 2
            or rows.dim() != 1
            or not len(rows) == len(tokens) == len(log_probs)
        ):
            raise ValueError(
                f"job.score takes rows [b], tokens [b, P + T] and log-probabilities [b, T]; got {list(rows.shape)}, "
                f"{list(tokens.shape)} and {list(log_probs.shape)}"
            )
        numbers = b2a_base64(array("d", log_probs.detach().double().flatten().tolist()).tobytes(), newline=False)
        answer = ask(["score", int(batch), rows.long().tolist(), tokens.long().tolist(), numbers.decode()])
        if "wrong" in answer:
            raise ValueError(answer["wrong"])
        return torch.tensor(answer["scores"], dtype=torch.float64)

    return score


class Passes:
    """Counts the tokens that pass through the model, and stops steps of the optimizer. ``steps``: of an update."""

    def __init__(self, job, ask, steps):
        self.tokens, self.ask, self.steps, self.taken = 0, ask, steps, 0
        self.group = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
        job.model.embedding.register_forward_hook(self.passed)
        if job.optimizer and steps:
            job.optimizer.register_step_pre_hook(self.stopped)

    def passed(self, embedding, given, hidden):
        self.tokens += given[0].numel()

    def stopped(self, optimizer, args, kwargs):
        update, place = divmod(self.taken, self.steps)
        self.taken += 1
        if place == 1:
            dist.barrier(group=self.group)
        if place == self.steps - 1:
            self.ask(["learning", update])
