"""The drivers of the milestones "trainer" and "survive": each makes a job from plain data, and hands back its weights.

For "trainer", weights and optimizer state are values. Two things about a run cannot be seen in a value. That a bucket
is on its way before the backward pass has ended is seen by the grader itself: the pass stops at a barrier of this rank
alone when it reaches the first block, and at that moment the broker reads the data of every bucket that all ranks have
sent. How many bytes a rank holds is counted here, and the grader has to believe it; but a rank that receives only its
slice of the summed gradients, which the ledger shows, has nothing to fill more than a slice with.

For "survive", the disk is in the grader's process. Every operation on it is a question, and so are the beginning and
the middle of every step, because the grader may end this process instead of answering. A program that announces its
steps at other moments is killed at other moments, and has to resume all the same.
"""

import gc
import weakref
from binascii import a2b_base64, b2a_base64

import torch
import torch.distributed as dist

from rankzero.tiny import jobs, long_jobs


def trained(program, shape, seed, plan, rows, rates, saved, watch):
    """Called once on a job; ``watch`` is the number of passes that are watched, counted from the end."""
    torch.set_num_threads(1)
    job = jobs.made(shape, seed, plan, rows, tuple(rates), saved)
    watcher = Watcher(job, watch) if watch else None
    returned = program(job)
    return {"returned": returned, "held": watcher.held if watcher else []}


def survived(ask, program, settings, rows):
    """Called on each rank with a new job and the rank's disk; the process may be killed at any moment."""
    torch.set_num_threads(1)
    where = dist.get_rank(), dist.get_world_size()
    job = long_jobs.started(settings, rows, *where, lambda moment: ask([moment]))
    program(job, Disk(ask))
    return {name: weight.detach() for name, weight in job.model.named_parameters()}


survived.asks = True  # type: ignore[attr-defined]


class Disk:
    """The files of one rank, which the grader holds."""

    def __init__(self, ask):
        self._ask = ask

    def _do(self, *question):
        for text in question:
            if type(text) is not str:
                raise TypeError(f"the name of a file must be a string, got {text!r}")
        answer = self._ask(list(question))
        if "missing" in answer:
            raise FileNotFoundError(2, "No such file", answer["missing"])
        if "full" in answer:
            raise OSError(28, "No space left on device", answer["full"])
        return answer.get("value")

    def names(self):
        return self._do("names")

    def read(self, name):
        return a2b_base64(self._do("read", name))

    def write(self, name, data):
        self._do("write", name, b2a_base64(data, newline=False).decode())

    def sync(self, name):
        self._do("sync", name)

    def rename(self, name, to):
        self._do("rename", name, to)

    def remove(self, name):
        self._do("remove", name)


class Watcher:
    """Marks in the event log where each backward pass reaches the first block, and counts the bytes held then.

    Bytes are counted where a forward pass begins, in the last ``passes`` of a job: all tensors that the
    program has made but the model's weights, and every gradient.
    """

    def __init__(self, job, passes):
        self.job, self.held = job, []
        self.group = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
        self.unwatched = sum(map(len, job.steps)) - passes
        self.before = [weakref.ref(tensor) for tensor in tensors()]
        job.model.embedding.register_forward_hook(self.forward)

    def forward(self, embedding, given, hidden):
        self.unwatched -= 1
        if self.unwatched < 0:
            self.held.append(self.bytes_held(given[0], hidden))
        return Mark.apply(hidden, self.group)

    def bytes_held(self, *passing):
        weights = list(self.job.model.parameters())
        gc.collect(1)  # what a program has dropped lately is not held
        before = [tensor for ref in self.before if (tensor := ref()) is not None]
        out = {place(tensor) for tensor in (*before, *weights, *passing)}
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        found = {place(tensor): tensor.untyped_storage().nbytes() for tensor in (*gradients, *tensors())}
        return sum(size for where, size in found.items() if where not in out)


def tensors():
    """Every tensor that a Python program can reach."""
    return [one for one in gc.get_objects() if type(one) in (torch.Tensor, torch.nn.Parameter)]


def place(tensor):
    """Where the memory of a tensor begins; views share it."""
    return tensor.untyped_storage().data_ptr()


class Mark(torch.autograd.Function):
    """Passes values on; the backward pass stops in the rank's own group, so that the broker sees what has been sent."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        dist.barrier(group=ctx.group)
        return gradient, None
