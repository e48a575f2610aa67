"""A training script for several ranks, in the form in which people write it.

    torchrun --standalone --nproc-per-node 2 -m experiments.ch05.training_script

On GPUs it takes NCCL and one GPU for each process, elsewhere Gloo and the CPU. The data are random rows, with labels
that a linear rule gives them.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

CPU = torch.device("cpu")
EPOCHS = 3


def examples(count: int = 512) -> TensorDataset:
    """The same rows on every rank."""
    draws = torch.Generator().manual_seed(0)
    inputs = torch.randn(count, 8, generator=draws)
    return TensorDataset(inputs, (inputs @ torch.randn(8, 4, generator=draws)).argmax(1))


def network() -> torch.nn.Module:
    """A small classifier; seeded, so that each run prints the same."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))


def train(folder: Path, device: torch.device = CPU, pieces: int = 4) -> None:
    gpu = device.type == "cuda"
    model = network().to(device)
    device_ids = [device] if gpu else None
    replica = DDP(model, device_ids=device_ids, gradient_as_bucket_view=True)
    sampler = DistributedSampler(rows := examples())
    loader = DataLoader(rows, 8, sampler=sampler, drop_last=True, pin_memory=gpu)
    steps = len(loader) // pieces
    optimizer = torch.optim.AdamW(replica.parameters(), lr=0.02)
    schedule = CosineAnnealingLR(optimizer, EPOCHS * steps)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        mean = torch.zeros((), device=device)
        for number, batch in enumerate(islice(loader, steps * pieces), 1):
            inputs, labels = (part.to(device, non_blocking=True) for part in batch)
            last = number % pieces == 0
            with nullcontext() if last else replica.no_sync():
                loss = cross_entropy(replica(inputs), labels) / pieces
                loss.backward()
            mean += loss.detach() / (steps * dist.get_world_size())
            if last:
                norm = clip_grad_norm_(replica.parameters(), max_norm=1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {mean:.3f}, norm {norm:.2f}")
            torch.save(state(epoch, model, optimizer, schedule), folder / "last.pt")
        dist.barrier()


def state(epoch: int, *parts: torch.nn.Module | torch.optim.Optimizer | CosineAnnealingLR) -> dict[str, object]:
    """What a run needs to go on after this epoch, by name."""
    names = ("model", "optimizer", "schedule")
    return {"epoch": epoch} | {name: part.state_dict() for name, part in zip(names, parts, strict=True)}


def main() -> None:
    """One process of ``torchrun``, which sets LOCAL_RANK."""
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else CPU
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    folder = Path("run")
    folder.mkdir(exist_ok=True)
    train(folder, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
