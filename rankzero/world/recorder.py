"""Recording every operation of a rank, by replacing PyTorch's process group with our own.

All of PyTorch's communication, from ``dist.all_reduce`` to the C++ of DistributedDataParallel, FSDP and DTensor, goes
through the methods of a ``ProcessGroup``. So we replace that class before the first group is created, and every group
of the program, including subgroups and device meshes, is a :class:`RecordingGroup`. It records the call and forwards it
to a plain group with the same backend; the :class:`Handle` it returns records the end of the ``wait``. The stack tells
which function the reader called (``isend``, ``all_gather_into_tensor``) and on which line
(:mod:`rankzero.world.call_log`).

An object collective makes several calls to the group. Those six functions are wrapped and their pickles counted, so
that each of them is one event with the bytes of its pickles. Creating a group is not an event, but a rank may wait for
others there, so the wait is recorded.
"""

from __future__ import annotations

import datetime
import functools
import math
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from rankzero.world import call_log, source_locations
from rankzero.world.call_log import Call, CallLog

PlainGroup = c10d.ProcessGroup  # PyTorch's own class, before ours replaces it

# Methods of a group that take output and input tensors, with the operation that each one performs.
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
# Methods that work in place.
IN_PLACE = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce",
    "broadcast": "broadcast",
    "reduce": "reduce",
}
# Methods without tensors.
WITHOUT_TENSORS = {"barrier": "barrier", "monitored_barrier": "barrier"}
OBJECT_COLLECTIVES = (
    "all_gather_object",
    "gather_object",
    "broadcast_object_list",
    "scatter_object_list",
    "send_object_list",
    "recv_object_list",
)
FROM_ROOT, TO_ROOT = {"broadcast", "scatter"}, {"reduce", "gather"}

_log: CallLog  # the log of this process; install sets it


def install(log: CallLog) -> None:
    """From now on, record the calls of every new group of this process in ``log``."""
    global _log
    _log = log
    c10d.ProcessGroup = RecordingGroup
    _count_pickles()
    for name in OBJECT_COLLECTIVES:
        recorded = _as_one_event(name, getattr(c10d, name))
        setattr(c10d, name, recorded)
        setattr(dist, name, recorded)
    c10d.new_group = dist.new_group = _recording_new_group(c10d.new_group)
    meshes = sys.modules.get("torch.distributed.device_mesh")  # which has the function under its own name
    if meshes is not None and hasattr(meshes, "new_group"):
        vars(meshes)["new_group"] = dist.new_group


class Handle(dist.Work):
    """PyTorch's handle of an operation, with a ``wait`` that is recorded."""

    def __init__(self, inner: dist.Work, calls: list[Call], group: RecordingGroup, seconds: float) -> None:
        super().__init__()
        self._inner, self._calls, self._group = inner, calls, group
        self._seconds = seconds  # after which the operation fails by itself

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        with _log.waiting(self._calls[-1], min(self._seconds, _shortest((*args, *kwargs.values())))):
            answer = self._inner.wait(*args, **kwargs)
        self._close()
        return answer

    def is_completed(self) -> bool:
        done = self._inner.is_completed()
        if done:
            self._close()
        return done

    def get_future(self) -> Any:
        """The operation's future. DDP's reducer waits for it in C++, which only the rank's stack can show."""
        future = self._inner.get_future()
        _log.show(self._calls[-1], "?", self._seconds)
        future.add_done_callback(lambda _: self._close())
        return future

    def _close(self) -> None:
        for call in self._calls:
            _log.hide(call)
            call.end = call.end or time.monotonic()
            if call.operation == "recv" and not call.peers:  # a receive from any rank: now the source is known
                call.peers = (self._group.members[self._inner._source_rank()],)


def _forwarded(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(self._inner, name)(*args, **kwargs)


for _name in ("is_success", "exception", "source_rank", "_source_rank", "result", "synchronize", "get_future_result"):
    if hasattr(dist.Work, _name):
        setattr(Handle, _name, _forwarded(_name))


class RecordingGroup(PlainGroup):
    """A process group that records every call and lets a plain group with the same backend do the work."""

    def __init__(self, store: dist.Store, rank: int, size: int) -> None:
        super().__init__(rank, size)  # type: ignore[call-arg]  # the constructor for subclasses written in Python
        self.plain = PlainGroup(store, rank, size)
        self.batch: list[Call] | None = None  # the calls since _start_coalescing

    @functools.cached_property
    def members(self) -> tuple[int, ...]:
        """Global ranks of the group, in the order of their ranks in the group."""
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
        return Handle(work, batch, self, self._limit) if work is not None and batch else work

    def send(self, tensors: Any, dst: int, tag: int = 0) -> Any:
        peers, size = (self._member(dst),), _bytes(tensors)
        return self._carry_out("send", "send", (tensors, dst, tag), peers=peers, sent=size, tag=tag)

    def recv(self, tensors: Any, src: int, tag: int = 0) -> Any:
        peers, size = (self._member(src),), _bytes(tensors)
        return self._carry_out("recv", "recv", (tensors, src, tag), peers=peers, received=size, tag=tag)

    def _member(self, peer: int) -> int:
        """The global rank of a peer; checked here because PyTorch's error for a missing peer talks about sockets."""
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
        """Record the call, let the plain group execute it, and return a handle that records its end."""
        caller = call_log.caller(sys._getframe(1), c10d.__file__)
        label = self._label(caller.name or operation, operation, peers, root, tag)
        call = Call(operation, label, peers, sent, received, root, caller.where, time.monotonic())
        if not caller.internal:
            _log.add(call)
        seconds = min(self._limit, _shortest((*args, *(options or {}).values())))
        with _log.waiting(call, seconds):
            work = getattr(self.plain, method)(*args, **(options or {}))
        if self.batch is not None:
            self.batch.append(call)
            return work
        if work is None:
            call.end = time.monotonic()
            return None
        return Handle(work, [call], self, seconds)

    @property
    def _limit(self) -> float:
        """Seconds after which an operation of this group fails by itself; 0 if the backend does not say."""
        try:
            limit: datetime.timedelta = self.plain._get_backend(torch.device("cpu")).options._timeout
        except (AttributeError, RuntimeError):
            return 0.0
        return limit.total_seconds()

    def _label(self, name: str, operation: str, peers: tuple[int, ...], root: int | None, tag: int) -> str:
        """The call as a program would write it: ``send(dst=1)``, ``broadcast(src=0)``, ``barrier(group=[0, 2])``."""
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
        """Global rank of the root, from an options object or an argument; None for operations without a root."""
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


def _without_tensors(method: str, operation: str) -> Callable[..., Any]:
    return lambda self, *args, **options: self._carry_out(method, operation, args, options, peers=self.members)


for _table, _make in ((EXCHANGES, _exchange), (IN_PLACE, _in_place), (WITHOUT_TENSORS, _without_tensors)):
    for _name, _operation in _table.items():
        if hasattr(PlainGroup, _name):  # the names differ between versions of PyTorch
            setattr(RecordingGroup, _name, _make(_name, _operation))


def _shortest(arguments: Iterable[Any]) -> float:
    """The shortest time limit among the arguments of a call and their options, seconds."""
    limits = [getattr(argument, "timeout", argument) for argument in arguments]
    given = [limit.total_seconds() for limit in limits if isinstance(limit, datetime.timedelta)]
    return min((limit for limit in given if limit > 0), default=math.inf)


def _bytes(tensors: Any) -> int:
    if isinstance(tensors, (list, tuple)):
        return sum(_bytes(tensor) for tensor in tensors)
    return tensors.numel() * tensors.element_size()


def _as_one_event(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An object collective, recorded as one event."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        where = source_locations.of_frame(sys._getframe(1))
        recorded = Call(name, name, (), 0, 0, None, str(where) if where else "", time.monotonic())
        _log.object_call = recorded
        try:
            return function(*args, **kwargs)
        finally:
            _log.object_call, recorded.end = None, time.monotonic()
            if recorded.peers:  # a rank outside the group took no part
                _log.add(recorded)

    return call


def _recording_new_group(function: Callable[..., Any]) -> Callable[..., Any]:
    """``new_group``, in which a rank can be seen waiting; it is not an event, as it moves none of the reader's data."""

    @functools.wraps(function)
    def call(ranks: Any = None, *args: Any, **kwargs: Any) -> Any:
        where = source_locations.of_frame(sys._getframe(1))
        label = f"new_group({list(ranks) if isinstance(ranks, (list, tuple, range)) else ''})"
        meeting = Call("new_group", label, (), 0, 0, None, str(where) if where else "", time.monotonic())
        store = getattr(c10d, "_get_default_store", lambda: None)()  # a page has none
        seconds = _shortest((store, *args, *kwargs.values()))
        with _log.waiting(meeting, seconds, call_log.A_KEY):
            return function(ranks, *args, **kwargs)

    return call


def _count_pickles() -> None:
    """Make object collectives count the bytes that they pickle and unpickle."""
    to_tensor, to_object = c10d._object_to_tensor, c10d._tensor_to_object

    def object_to_tensor(*args: Any, **kwargs: Any) -> Any:
        tensor, size = to_tensor(*args, **kwargs)
        if _log.object_call is not None:
            _log.object_call.sent += int(size)
        return tensor, size

    def tensor_to_object(tensor: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
        if _log.object_call is not None:
            _log.object_call.received += int(size)
        return to_object(tensor, size, *args, **kwargs)

    c10d._object_to_tensor, c10d._tensor_to_object = object_to_tensor, tensor_to_object
