"""Drivers of the capstone: a disk that crashes, a run that fails, and a job that is killed. Standard library only.

``crashed`` returns the operations that were asked of the disk, and the grader works out what they leave on it. To forge
a right list is to solve the exercise. ``killed`` returns weights and examples, which only the right state leads to.
"""

from copy import deepcopy
from random import Random


class Crash(BaseException):
    """The machine has crashed."""


class Disk:
    """Files, and the operations on them. It crashes before operation number ``left``, and stays dead."""

    def __init__(self, files, left):
        self.files, self.left, self.dead, self.operations = dict(files), left, False, []

    def _step(self, kind, name, *more):
        if self.dead or self.left == 0:
            self.dead = True
            raise Crash
        if kind != "write" and name not in self.files:
            raise FileNotFoundError(name)
        self.left -= 1
        self.operations.append([kind, name, *more])

    def write(self, name, data):
        self._step("write", name, data)
        self.files[name] = data

    def sync(self, name):
        self._step("sync", name)

    def rename(self, name, to):
        self._step("rename", name, to)
        self.files[to] = self.files.pop(name)

    def remove(self, name):
        self._step("remove", name)
        del self.files[name]


def crashed(program, files, name, data):
    """Saves on a disk that crashes after one operation, after two, and so on; then on one that does not crash.

    "after a crash" lists what a reader may then find under the name, "at the end" what remains there.
    """
    runs, ended = [], False
    while not ended and len(runs) < 100:
        disk = Disk(files, len(runs))
        try:
            program(disk, name, data)
            ended = not disk.dead
        except Crash:
            pass
        runs.append(disk.operations)
    return runs


def failing(program, work, interval, checkpoint_time, restart_time, failure_gaps):
    """Called once. If the gaps are an iterator, those that are taken are counted."""
    taken = []

    def counted():
        for gap in failure_gaps:
            taken.append(gap)
            yield gap

    gaps = failure_gaps if isinstance(failure_gaps, list) else counted()
    return {"run": program(work, interval, checkpoint_time, restart_time, gaps), "taken": len(taken)}


def killed(program, seed, examples, steps, every, kill_at):
    """A small job is killed, resumed with your state and run to its end; its weights and the examples it saw count."""
    state = _start(seed)
    saved, seen = deepcopy(state), []
    while state["step"] < kill_at:
        seen.append(_train(state, seed, examples))
        if state["step"] % every == 0:
            saved = deepcopy(state)
    seen = seen[: saved["step"]]
    state = program(_start(seed), deepcopy(saved))
    while state["step"] < steps and len(seen) < 2 * steps:
        seen.append(_train(state, seed, examples))
    return {"weights": state["weights"], "examples": seen}


def _start(seed):
    return {
        "step": 0,
        "weights": [0.5, -0.25],
        "optimizer": {"momentum": [0.0, 0.0]},
        "sampler": {"epoch": 0, "position": 0},
        "rng": {"seed": seed, "drawn": 0},
        "scaler": {"scale": 65536.0, "good_steps": 0},
    }


def _train(state, seed, examples):
    """One step of fitting a line to points, with noise, momentum and a loss scale; returns the example."""
    sampler, rng, scaler = state["sampler"], state["rng"], state["scaler"]
    order = list(range(examples))
    Random(f"{seed} epoch {sampler['epoch']}").shuffle(order)
    example = order[sampler["position"]]
    sampler["position"] += 1
    if sampler["position"] == examples:
        sampler["epoch"], sampler["position"] = sampler["epoch"] + 1, 0
    noise = Random(f"{rng['seed']} draw {rng['drawn']}").random()
    rng["drawn"] += 1
    x = example / examples + 0.25 * noise
    error = state["weights"][0] * x + state["weights"][1] - (3 * x - 1)
    gradients = [error * x * scaler["scale"], error * scaler["scale"]]
    state["step"] += 1
    if max(map(abs, gradients)) > 4096:  # overflow in the small format: the step is skipped
        scaler["scale"], scaler["good_steps"] = scaler["scale"] / 4, 0
        return example
    scaler["good_steps"] += 1
    for index, gradient in enumerate(gradients):
        momentum = 0.75 * state["optimizer"]["momentum"][index] + gradient / scaler["scale"]
        state["optimizer"]["momentum"][index] = momentum
        state["weights"][index] -= 0.125 * momentum
    if scaler["good_steps"] == 6:
        scaler["scale"], scaler["good_steps"] = scaler["scale"] * 2, 0
    return example
