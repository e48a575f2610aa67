"""Load what four ranks saved on another number of ranks, and note what each of them reads.

    reader = NotingReader(folder)
    dcp.load(state, storage_reader=reader)
    reader.notes("model.weight")

A checkpoint of ``torch.distributed.checkpoint`` holds each rank's shard of a tensor and, in its metadata, where in the
tensor the shard stood. Who loads it intersects the rows it needs with those shards.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch.distributed.checkpoint as dcp


@dataclass(frozen=True)
class Read:
    """One shard that a rank loaded.

    Attributes:
        file: that holds it.
        saved: its rows in the tensor, first and one after the last.
        kept: those of them that the rank needed.
    """

    file: str
    saved: tuple[int, int]
    kept: tuple[int, int]


class NotingReader(dcp.FileSystemReader):
    """The library's reader, which notes the plan and the shapes of the tensors that ``torch.load`` returned."""

    def read_data(self, plan: Any, planner: Any) -> Any:
        """Read as the library does."""
        self.items, self.loaded = plan.items, Counter[tuple[int, ...]]()
        load = torch.load

        def noted(*args: Any, **options: Any) -> Any:
            found = load(*args, **options)
            if isinstance(found, torch.Tensor):
                self.loaded[tuple(found.shape)] += 1
            return found

        with mock.patch.object(torch, "load", noted):
            return super().read_data(plan, planner)

    def notes(self, name: str) -> list[Read]:
        """What was read of one tensor, in the order of its rows."""
        found = []
        for item in self.items:
            if item.storage_index.fqn == name:
                stored, first = self.storage_data[item.storage_index], item.storage_index.offset[0]
                rows = next(c.sizes[0] for c in self._chunks(name) if c.offsets[0] == first)
                kept = first + item.storage_offsets[0]
                found.append(Read(stored.relative_path, (first, first + rows), (kept, kept + item.lengths[0])))
        return sorted(found, key=lambda read: read.saved)

    def _chunks(self, name: str) -> Any:
        stored: Any = self.read_metadata().state_dict_metadata[name]  # a tensor's, which has chunks
        return stored.chunks
