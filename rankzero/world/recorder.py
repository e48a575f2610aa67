"""How every operation of a rank is seen: the process group itself is ours.

All of PyTorch's communication, from ``dist.all_reduce`` to the C++ of DistributedDataParallel, FSDP and DTensor, goes
through the methods of a ``ProcessGroup``. So our own class takes that name before the first group is made, and every
group of the program, subgroups and device meshes too, is a :class:`RecordingGroup`. It notes the call and hands it to a
plain group over the same backend; the :class:`Handle` it returns notes the end of the ``wait``. What the reader called
(``isend``, ``all_gather_into_tensor``) and on which line is read off the stack (:mod:`rankzero.calls`). An object
collective is several calls to the group; those six functions are wrapped and their pickles counted, so that each is one
event with the bytes of its pickles. Making a group is no event, but a rank may wait there, so that is seen too.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from rankzero import calls, places
from rankzero.calls import Call, Log

Plain = c10d.ProcessGroup  # the library's own class, before ours takes its name

# Methods of a group that are given tensors to fill and tensors to hand in, and the operation each one is.
EXCHANGES = {
    "allgather": "all_gather",
    "_allgather_base": "all_gather",
    "all_gather_single": "all_gather",
    "allgather_coalesced": "all_gather",
    "allgather_into_tensor_coalesced": "all_gather",
    "all_gather_single_coalesced": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter_single": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "reduce_scatter_single_coalesced": "reduce_scatter",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all",
    "all_to_all_single": "all_to_all",
    "gather": "gather",
    "scatter": "scatter",
}
# Methods that work in place, and methods without tensors.
IN_PLACE = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
}
EMPTY = {"barrier": "barrier", "monitored_barrier": "barrier"}
OBJECTS = (
    "all_gather_object",
    "gather_object",
    "broadcast_object_list",
    "scatter_object_list",
    "send_object_list",
    "recv_object_list",
)
FROM_ROOT, TO_ROOT = {"broadcast", "scatter"}, {"reduce", "gather"}

_log: Log  # this process's


def install(log: Log) -> None:
    """From here on every group of this process is a recording one, and ``log`` keeps its calls."""
    global _log
    _log = log
    c10d.ProcessGroup = RecordingGroup  # type: ignore[misc]
    _count_pickles()
    for name in OBJECTS:
        whole = _as_one(name, getattr(c10d, name))
        setattr(c10d, name, whole)
        setattr(dist, name, whole)
    c10d.new_group = dist.new_group = _as_meeting(c10d.new_group)


class Handle(dist.Work):
    """The library's handle of an operation, whose ``wait`` is seen."""

    def __init__(self, inner: dist.Work, calls: list[Call], group: RecordingGroup) -> None:
        super().__init__()
        self._inner, self._calls, self._group = inner, calls, group

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        with _log.waiting(self._calls[-1]):
            answer = self._inner.wait(*args, **kwargs)
        self._close()
        return answer

    def is_completed(self) -> bool:
        done = self._inner.is_completed()
        if done:
            self._close()
        return done

    def get_future(self) -> Any:
        """What DDP's reducer asks for; it waits for it in C++, where only the stack can tell."""
        future = self._inner.get_future()
        _log.show(self._calls[-1], "?")
        future.add_done_callback(lambda _: self._close())
        return future

    def _close(self) -> None:
        for call in self._calls:
            _log.hide(call)
            call.end = call.end or time.monotonic()
            if call.operation == "recv" and not call.peers:  # from any: now it is known from whom
                call.peers = (self._group.members[self._inner._source_rank()],)


def _handed_on(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(self._inner, name)(*args, **kwargs)


for _name in ("is_success", "exception", "source_rank", "_source_rank", "result", "synchronize", "get_future_result"):
    if hasattr(dist.Work, _name):
        setattr(Handle, _name, _handed_on(_name))


class RecordingGroup(Plain):
    """A process group that notes every call and lets a plain group over the same backend do the work."""

    def __init__(self, store: dist.Store, rank: int, size: int) -> None:
        super().__init__(rank, size)  # type: ignore[call-arg]  # the form that Python classes may use
        self.plain = Plain(store, rank, size)
        self.batch: list[Call] | None = None  # the calls since _start_coalescing

    @functools.cached_property
    def members(self) -> tuple[int, ...]:
        """Global ranks of the group, in the order of the group's own numbers."""
        return tuple(dist.get_process_group_ranks(self))

    def get_group_store(self) -> dist.Store:
        return self.plain.get_group_store()

    def _register_backend(self, *args: Any) -> None:
        super()._register_backend(*args)
        self.plain._register_backend(*args)

    def _set_default_backend(self, *args: Any) -> None:
        super()._set_default_backend(*args)
        self.plain._set_default_backend(*args)

    def _start_coalescing(self, *args: Any) -> None:
        self.batch = []
        self.plain._start_coalescing(*args)

    def _end_coalescing(self, *args: Any) -> Any:
        batch, self.batch = self.batch, None
        work = self.plain._end_coalescing(*args)
        return Handle(work, batch, self) if work is not None and batch else work

    def send(self, tensors: Any, dst: int, tag: int = 0) -> Any:
        peers, size = (self._member(dst),), _bytes(tensors)
        return self._carry_out("send", "send", (tensors, dst, tag), peers=peers, sent=size, tag=tag)

    def recv(self, tensors: Any, src: int, tag: int = 0) -> Any:
        peers, size = (self._member(src),), _bytes(tensors)
        return self._carry_out("recv", "recv", (tensors, src, tag), peers=peers, received=size, tag=tag)

    def _member(self, peer: int) -> int:
        """The global rank of a peer; the library's own words for one that is not there are about sockets."""
        if not 0 <= peer < self.size():
            raise ValueError(f"there is no rank {peer} in a group of {self.size()}")
        return self.members[peer]

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        return self._carry_out("recv_anysource", "recv", (tensors, tag), peers=(), received=_bytes(tensors), tag=tag)

    def _carry_out(
        self,
        method: str,
        operation: str,
        args: tuple[Any, ...],
        options: dict[str, Any] | None = None,
        *,
        peers: tuple[int, ...],
        sent: int = 0,
        received: int = 0,
        root: int | None = None,
        tag: int = 0,
    ) -> Any:
        """Note the call, let the plain group do it, and hand back a handle that notes its end."""
        caller = calls.caller(sys._getframe(1), c10d.__file__)
        label = self._label(caller.name or operation, operation, peers, root, tag)
        call = Call(operation, label, peers, sent, received, root, caller.where, time.monotonic())
        if not caller.housekeeping:
            _log.add(call)
        with _log.waiting(call):
            work = getattr(self.plain, method)(*args, **(options or {}))
        if self.batch is not None:
            self.batch.append(call)
            return work
        if work is None:
            call.end = time.monotonic()
            return None
        return Handle(work, [call], self)

    def _label(self, name: str, operation: str, peers: tuple[int, ...], root: int | None, tag: int) -> str:
        """The call as the reader would write it: ``send(dst=1)``, ``broadcast(src=0)``, ``barrier(group=[0, 2])``."""
        arguments = []
        if operation in ("send", "recv") and peers:
            arguments.append(f"{'dst' if operation == 'send' else 'src'}={peers[0]}")
        if root is not None:
            arguments.append(f"{'src' if operation in FROM_ROOT else 'dst'}={root}")
        if tag:
            arguments.append(f"tag={tag}")
        if operation not in ("send", "recv") and self.size() < dist.get_world_size():
            arguments.append(f"group={list(self.members)}")
        return f"{name}({', '.join(arguments)})"

    def _root(self, operation: str, args: tuple[Any, ...], options: dict[str, Any]) -> int | None:
        """Global rank of the root, for the operations that have one: in the options, or given by itself."""
        if operation not in FROM_ROOT | TO_ROOT:
            return None
        for value in (*args, *options.values()):
            if hasattr(value, "rootRank"):
                return self.members[value.rootRank]
        return self.members[options["root"] if "root" in options else args[0]]


def _exchange(method: str, operation: str) -> Callable[..., Any]:
    def call(self: RecordingGroup, output: Any, given: Any, *args: Any, **options: Any) -> Any:
        sizes = {"sent": _bytes(given), "received": _bytes(output)}
        root = self._root(operation, args, options)
        return self._carry_out(
            method, operation, (output, given, *args), options, peers=self.members, root=root, **sizes
        )

    return call


def _in_place(method: str, operation: str) -> Callable[..., Any]:
    def call(self: RecordingGroup, tensors: Any, *args: Any, **options: Any) -> Any:
        root, size = self._root(operation, args, options), _bytes(tensors)
        sent = 0 if operation == "broadcast" and root != _log.rank else size
        idle = (operation == "broadcast" and root == _log.rank) or (operation == "reduce" and root != _log.rank)
        sizes = {"sent": sent, "received": 0 if idle else size}
        return self._carry_out(method, operation, (tensors, *args), options, peers=self.members, root=root, **sizes)

    return call


def _empty(method: str, operation: str) -> Callable[..., Any]:
    return lambda self, *args, **options: self._carry_out(method, operation, args, options, peers=self.members)


for _table, _make in ((EXCHANGES, _exchange), (IN_PLACE, _in_place), (EMPTY, _empty)):
    for _name, _operation in _table.items():
        if hasattr(Plain, _name):  # the names differ between versions of the library
            setattr(RecordingGroup, _name, _make(_name, _operation))


def _bytes(tensors: Any) -> int:
    if isinstance(tensors, (list, tuple)):
        return sum(_bytes(tensor) for tensor in tensors)
    return tensors.numel() * tensors.element_size()


def _as_one(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An object collective, recorded as one event."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        where = places.of_frame(sys._getframe(1))
        whole = Call(name, name, (), 0, 0, None, str(where) if where else "", time.monotonic())
        _log.whole = whole
        try:
            return function(*args, **kwargs)
        finally:
            _log.whole, whole.end = None, time.monotonic()
            if whole.peers:  # a rank outside the group took no part
                _log.add(whole)

    return call


def _as_meeting(function: Callable[..., Any]) -> Callable[..., Any]:
    """``new_group``, in which a rank may wait for others: no event, since no data of the reader's moves."""

    @functools.wraps(function)
    def call(ranks: Any = None, *args: Any, **kwargs: Any) -> Any:
        where = places.of_frame(sys._getframe(1))
        label = f"new_group({list(ranks) if isinstance(ranks, (list, tuple, range)) else ''})"
        meeting = Call("new_group", label, (), 0, 0, None, str(where) if where else "", time.monotonic())
        with _log.waiting(meeting):
            return function(ranks, *args, **kwargs)

    return call


def _count_pickles() -> None:
    """Let object collectives count the bytes of what they pickle and unpickle."""
    to_tensor, to_object = c10d._object_to_tensor, c10d._tensor_to_object

    def object_to_tensor(*args: Any, **kwargs: Any) -> Any:
        tensor, size = to_tensor(*args, **kwargs)
        if _log.whole is not None:
            _log.whole.sent += int(size)
        return tensor, size

    def tensor_to_object(tensor: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
        if _log.whole is not None:
            _log.whole.received += int(size)
        return to_object(tensor, size, *args, **kwargs)

    c10d._object_to_tensor, c10d._tensor_to_object = object_to_tensor, tensor_to_object  # type: ignore[assignment]
