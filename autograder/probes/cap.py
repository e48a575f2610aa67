"""Drivers of the capstone: a disk that crashes, and a job that is killed. Standard library only."""

# mypy: no-check-untyped-defs

import copy
import random


class Crash(BaseException):
    """The machine is gone."""


class Disk:
    """Files of which a crash may leave a part. It crashes before operation number ``left``, and stays dead."""

    def __init__(self, files, left):
        self.files, self.left, self.dead = dict(files), left, False
        self.torn, self.others, self.name = set(), False, None

    def _step(self):
        if self.dead or self.left == 0:
            self.dead = True
            raise Crash
        self.left -= 1

    def write(self, name, data):
        self._step()
        self.files[name] = data
        self.torn.add(name)
        self.others = self.others or name != self.name

    def sync(self, name):
        self._step()
        if name not in self.files:
            raise FileNotFoundError(name)
        self.torn.discard(name)

    def rename(self, name, to):
        self._step()
        if name not in self.files:
            raise FileNotFoundError(name)
        self.files[to] = self.files.pop(name)
        self.torn.discard(to)
        if name in self.torn:
            self.torn = self.torn - {name} | {to}

    def remove(self, name):
        self._step()
        if name not in self.files:
            raise FileNotFoundError(name)
        del self.files[name]
        self.torn.discard(name)


def crashed(program, files, name, data):
    """Saves on a disk that crashes after one operation, after two, and so on; then on one that does not crash.

    "after a crash" lists what a reader may then find under the name, "at the end" what is there for good.
    """
    found, safe, operations, ended = set(), True, 0, False
    while not ended and operations < 100:
        disk = Disk(files, operations)
        disk.name = name
        try:
            program(disk, name, data)
            ended = not disk.dead
        except Crash:
            pass
        found.add(_under(disk, files, name, data))
        safe = safe and bool(disk.files.keys() - disk.torn)
        operations += 1
    return {
        "after a crash": sorted(found),
        "at the end": _under(disk, files, name, data),
        "always a whole file somewhere": safe,
        "other files left": len(set(disk.files) - {name}),
        "wrote beside it": disk.others,
    }


def _under(disk, files, name, data):
    if name not in disk.files:
        return "nothing"
    if name in disk.torn:
        return "a part of a checkpoint"
    return "this checkpoint" if disk.files[name] == data else "the last checkpoint" if name in files else "another file"


def killed(program, seed, examples, steps, every, kill_at):
    """A small job is killed, resumed with your state, and run to its end: its weights, and the examples that it saw."""
    state = _start(seed)
    saved, seen = copy.deepcopy(state), []
    while state["step"] < kill_at:
        seen.append(_train(state, seed, examples))
        if state["step"] % every == 0:
            saved = copy.deepcopy(state)
    seen = seen[: saved["step"]]
    state = program(_start(seed), copy.deepcopy(saved))
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
    """One step of a line fitted to points, with noise, momentum and a loss scale; returns the example."""
    sampler, rng, scaler = state["sampler"], state["rng"], state["scaler"]
    order = list(range(examples))
    random.Random(f"{seed} epoch {sampler['epoch']}").shuffle(order)
    example = order[sampler["position"]]
    sampler["position"] += 1
    if sampler["position"] == examples:
        sampler["epoch"], sampler["position"] = sampler["epoch"] + 1, 0
    noise = random.Random(f"{rng['seed']} draw {rng['drawn']}").random()
    rng["drawn"] += 1
    x = example / examples + 0.25 * noise
    error = state["weights"][0] * x + state["weights"][1] - (3 * x - 1)
    gradients = [error * x * scaler["scale"], error * scaler["scale"]]
    state["step"] += 1
    if max(map(abs, gradients)) > 4096:  # beyond the largest number of the small format: the step is skipped
        scaler["scale"], scaler["good_steps"] = scaler["scale"] / 4, 0
        return example
    scaler["good_steps"] += 1
    for place, gradient in enumerate(gradients):
        momentum = 0.75 * state["optimizer"]["momentum"][place] + gradient / scaler["scale"]
        state["optimizer"]["momentum"][place] = momentum
        state["weights"][place] -= 0.125 * momentum
    if scaler["good_steps"] == 6:
        scaler["scale"], scaler["good_steps"] = scaler["scale"] * 2, 0
    return example
