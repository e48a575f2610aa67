"""A job with four models whose tensors come and go by phase, measured by ledger, live tensors and resident memory.

>>> with MemoryJob() as job:  # doctest: +SKIP
...     samples = job.run()

Every tenant but the activations is one large tensor, or two: memory of that size goes back to the system when it is
freed. What is copied out goes to a file and comes back from it; what is discardable is created again.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch.autograd.graph import saved_tensors_hooks

from rankzero.tiny import GPT, GPTConfig, KVCache, loss
from solutions.ch14.rlhf_profile import DISCARDABLE, cycle

#: The models; the first two learn.
MODELS = ("actor", "critic", "reference", "reward")
TRAINED = MODELS[:2]

#: One shape for all of them: large enough that the system sees each come and go.
CONFIG = GPTConfig(vocab=256, layers=3, heads=8, head_dim=64, context=1024)

#: Prompt and response tokens, and the responses of a training step at most.
PROMPT, RESPONSE, MINIBATCH = 4, 4, 6


@dataclass(frozen=True)
class Sample:
    """Memory at one moment, bytes.

    Attributes:
        phase: in which.
        ledger: bytes in memory, by tenant.
        live: storages of all tensors that Python can reach, each once, beyond those from before the job.
        process: the process's resident set beyond that from before the job; None where the system does not report it.
        loaded: read from files since the phase before.
        evicted: written to files since the phase before.
    """

    phase: str
    ledger: Mapping[str, int]
    live: int
    process: int | None
    loaded: int
    evicted: int


def live_storages() -> dict[int, int]:
    """Bytes of the storage of every tensor that Python can reach, by address."""
    gc.collect()
    things = gc.get_objects()
    kinds = {kind for kind in set(map(type, things)) if issubclass(kind, torch.Tensor)}
    tensors = [thing for thing in things if type(thing) in kinds]
    storages = [tensor.untyped_storage() for tensor in tensors if tensor.device.type == "cpu"]
    return {storage.data_ptr(): storage.nbytes() for storage in storages if storage.nbytes()}


def resident_bytes() -> int | None:
    """The process's resident set after free memory is returned to the system; None without ``/proc``."""
    if not sys.platform.startswith("linux"):
        return None
    with suppress(OSError, AttributeError):  # a system without glibc has no malloc_trim
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Weights:
    """A model whose parameters and gradients are pieces of flat tensors that can be removed and restored."""

    def __init__(self, model: GPT) -> None:
        self.model = model
        self._shapes = [parameter.shape for parameter in model.parameters()]
        self.leave()

    @property
    def count(self) -> int:
        """Parameters of the model, whether it holds them or not."""
        return sum(shape.numel() for shape in self._shapes)

    def come(self, flat: torch.Tensor, gradients: torch.Tensor | None = None) -> None:
        """Use these flat weights, and collect gradients in this flat tensor."""
        counts = [shape.numel() for shape in self._shapes]
        into = [None] * len(counts) if gradients is None else gradients.split(counts)
        rows = zip(self.model.parameters(), self._shapes, flat.split(counts), into, strict=True)
        for parameter, shape, piece, gradient in rows:
            parameter.data = piece.view(shape)
            parameter.grad = None if gradient is None else gradient.view(shape)

    def leave(self) -> None:
        """Hold nothing."""
        for parameter in self.model.parameters():
            parameter.data, parameter.grad = torch.empty(0), None


class MemoryJob:
    """Four models, two of which learn, in one process: generate, score, train, with what each phase needs.

    Args:
        responses: of a batch.
        offload: as in :func:`~.rlhf_profile.cycle`.

    Attributes:
        phases: names and tenants.
        held: the tensors of each tenant in memory.
    """

    def __init__(self, responses: int = 6, offload: str = "and frozen models") -> None:
        self.responses = responses
        gc.freeze()  # only what the job makes is searched for tensors, however much the process holds
        empty = Weights(GPT(CONFIG))
        self._models = {name: copy.deepcopy(empty) for name in (*MODELS, "rollout")}
        self.phases = cycle(self.sizes(), offload)
        self._tokens = torch.randint(CONFIG.vocab, (responses, PROMPT + RESPONSE))
        self._folder = tempfile.TemporaryDirectory()
        self.held: dict[str, list[torch.Tensor]] = {}
        self._copied = {"loaded": 0, "evicted": 0}
        self._before, self._process = live_storages(), resident_bytes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for weights in self._models.values():
            weights.leave()
        self.held.clear()
        self._folder.cleanup()
        gc.unfreeze()

    def sizes(self) -> dict[str, int]:
        """Bytes of each tenant in 32-bit floats, by formula; 0 for the activations, which a pass has yet to count."""
        one = 4 * self._models["actor"].count
        kv = 2 * 4 * CONFIG.layers * self.responses * CONFIG.kv_heads * CONFIG.context * CONFIG.head_dim
        sizes = {_tenant(name): one for name in MODELS}
        sizes |= {f"{name}_optimizer": 2 * one for name in TRAINED}
        return sizes | {"gradients": 2 * one, "rollout": one, "kv": kv, "activations": 0}

    def run(self, iterations: int = 2) -> list[Sample]:
        """Go through the phases, taking one sample in each when everything it needs is in memory."""
        samples = []
        for _ in range(iterations):
            for name, tenants in self.phases:
                self._enter(tenants)
                samples.append(getattr(self, f"_{name}")())
        return samples

    def _enter(self, tenants: Collection[str]) -> None:
        """Copy out or drop what is not needed, and copy in or create what is missing, except activations."""
        self._copied = {"loaded": 0, "evicted": 0}
        for weights in self._models.values():
            weights.leave()
        for name in set(self.held) - set(tenants) | (self.held.keys() & {"activations"}):
            if name not in DISCARDABLE:
                torch.save(self.held[name], self._file(name))
                self._copied["evicted"] += sum(_storages(self.held[name]).values())
            del self.held[name]
        for name in sorted(set(tenants) - set(self.held) - {"activations"}):
            self.held[name] = self._fetched(name)
        gradients = dict(zip(TRAINED, self.held.get("gradients", ()), strict=False))
        for name, weights in self._models.items():
            if _tenant(name) in self.held:
                weights.come(self.held[_tenant(name)][0], gradients.get(name))

    def _file(self, name: str) -> Path:
        return Path(self._folder.name) / f"{name}.pt"

    def _fetched(self, name: str) -> list[torch.Tensor]:
        """A tenant's tensors: read from its file, or created again."""
        if self._file(name).exists():
            found: list[torch.Tensor] = torch.load(self._file(name))
            self._copied["loaded"] += sum(_storages(found).values())
            return found
        count = self._models["actor"].count
        if name == "rollout":
            return [(self.held.get("actor_weights") or self._fetched("actor_weights"))[0].clone()]
        if name == "kv":
            shape = (CONFIG.layers, self.responses, CONFIG.kv_heads, CONFIG.context, CONFIG.head_dim)
            return [torch.zeros(shape), torch.zeros(shape)]
        if name == "gradients" or name.endswith("_optimizer"):
            return [torch.zeros(count), torch.zeros(count)]
        return [torch.full((count,), 0.01)]  # what the numbers are does not matter here

    def _sample(self, phase: str) -> Sample:
        ledger = {name: sum(_storages(tensors).values()) for name, tensors in self.held.items()}
        live = sum(size for place, size in live_storages().items() if place not in self._before)
        now = resident_bytes()
        process = None if now is None or self._process is None else now - self._process
        return Sample(phase, ledger, live, process, **self._copied)

    @torch.no_grad()
    def _generate(self) -> Sample:
        """Write all responses greedily with the rollout copy."""
        model = self._models["rollout"].model
        cache = KVCache(model, 1)
        cache.keys, cache.values = self.held["kv"]
        for index in range(PROMPT, PROMPT + RESPONSE):
            new = self._tokens[:, 0 if index == PROMPT else index - 1 : index]
            self._tokens[:, index] = model(new, cache=cache)[:, -1].argmax(-1)
        return self._sample("generate")

    @torch.no_grad()
    def _score(self) -> Sample:
        """One pass of every model over some of the responses."""
        for name in MODELS:
            self._models[name].model(self._tokens[:MINIBATCH])
        return self._sample("score")

    def _train(self) -> Sample:
        """One step of actor and critic; the sample is taken between forward and backward."""
        inputs, targets = self._tokens[:MINIBATCH, :-1], self._tokens[:MINIBATCH, 1:]
        kept: list[torch.Tensor] = []

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            kept.append(tensor)
            return tensor

        with saved_tensors_hooks(keep, lambda tensor: tensor):
            losses = [loss(self._models[name].model, inputs, targets) for name in TRAINED]
        own = {place for tensors in self.held.values() for place in _storages(tensors)} | set(self._before)
        kept = [tensor for tensor in [*kept, *losses] if tensor.untyped_storage().data_ptr() not in own]
        self.held["activations"] = kept
        sample = self._sample("train")
        torch.autograd.backward(losses)
        for name, gradient in zip(TRAINED, self.held["gradients"], strict=True):
            _adam(self.held[_tenant(name)][0], gradient, *self.held[f"{name}_optimizer"])
        return sample


def _tenant(name: str) -> str:
    """The tenant that holds a model's weights."""
    return f"{name}_weights" if name in TRAINED else name


def _storages(tensors: Sequence[torch.Tensor]) -> dict[int, int]:
    """Bytes of each storage, by address."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return {storage.data_ptr(): storage.nbytes() for storage in storages}


@torch.no_grad()
def _adam(weights: torch.Tensor, gradient: torch.Tensor, mean: torch.Tensor, square: torch.Tensor) -> None:
    """A step of Adam without its bias correction, in place."""
    mean.lerp_(gradient, 0.1)
    square.lerp_(gradient.square(), 0.001)
    weights.addcdiv_(mean, square.sqrt().add_(1e-8), value=-1e-4)
