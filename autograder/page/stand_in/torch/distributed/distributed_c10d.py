"""The functions of ``torch.distributed``: each checks its arguments as torch does and asks the group to carry it out.

A backend is registered by name with :meth:`Backend.register_backend`; the page's is the grader's broker. A group of the
class that :data:`ProcessGroup` names at that moment stands before the backend, so that a recorder can replace it.
"""

import io
import itertools
import pickle
import warnings
from datetime import timedelta
from typing import ClassVar

from ..creation import empty, tensor, zeros
from ..dtypes import INT64, UINT8
from ..joining import cat
from ..missing import absent, missing
from ..reductions import sum_
from ..tensor import Tensor
from .c10d_logger import NON_GROUP_MEMBER, logged, public
from .process_groups import HashStore, Options, ProcessGroup, ReduceOp, Store, Work

#: The longest that torch waits for an operation; the broker has limits of its own.
default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of what carries out operations; names are lower case."""

    GLOO, NCCL, MPI, UNDEFINED = "gloo", "nccl", "mpi", "undefined"
    _makers: ClassVar[dict] = {}

    def __new__(cls, name):
        return str.__new__(cls, name.lower())

    @classmethod
    def register_backend(cls, name, func, extended_api=False, devices=None):
        """Make a backend available: ``func`` makes it from a store, a rank, a size and a time limit."""
        if extended_api:
            raise missing("torch.distributed.Backend.register_backend(extended_api=True)")
        cls._makers[name.lower()] = func
        setattr(cls, name.upper(), name.lower())


class _World:
    """All groups that this rank has made."""

    def __init__(self):
        self.default_pg, self.group_count = None, 0
        self.pg_map, self.pg_names, self.pg_group_ranks = {}, {}, {}

    def clear(self):
        self.__init__()


_world = _World()


class _WorldMeta(type):
    @property
    def WORLD(cls):  # noqa: N802  # as torch calls it
        return _world.default_pg


class group(metaclass=_WorldMeta):  # noqa: N801  # as torch calls it
    """``group.WORLD`` is the group of all ranks."""


class GroupMember(metaclass=_WorldMeta):
    """What a rank gets in place of a group that it does not belong to."""

    NON_GROUP_MEMBER = NON_GROUP_MEMBER


# Groups


@public
def is_available():
    """Whether ranks can communicate: yes."""
    return True


@public
def is_initialized():
    """Whether this rank belongs to a world."""
    return _world.default_pg is not None


@public
def is_nccl_available():
    """Whether GPUs can communicate: there are none."""
    return False


@public
def init_process_group(
    backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None
):
    """Become a rank of a world, whose backend somebody has registered."""
    if _world.default_pg is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if backend is None or Backend(backend) not in Backend._makers or store is None or pg_options is not None:
        raise missing("Calling torch.distributed.init_process_group yourself (the page has already started the ranks)")
    made = _made(Backend(backend), store, rank, world_size, list(range(world_size)), timeout or default_pg_timeout)
    _world.default_pg = made


def _made(backend, store, rank, size, ranks, timeout):
    """A new group: the one that stands before the backend."""
    carrier = Backend._makers[backend](store, rank, size, timeout)
    front = ProcessGroup(store, rank, size)
    front._register_backend("cpu", backend, carrier)
    name, _world.group_count = str(_world.group_count), _world.group_count + 1
    for one in (carrier, front):
        one.group_name = name
        _world.pg_names[one], _world.pg_map[one] = name, (backend, store)
        _world.pg_group_ranks[one] = {member: place for place, member in enumerate(ranks)}
    return front


@public
def destroy_process_group(group=None):
    """Leave the world, or give up one group."""
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    pg = _world.default_pg if group is None else group
    if pg is None:
        raise AssertionError("Process group cannot be None")
    if pg not in _world.pg_map:
        raise ValueError("Invalid process group specified")
    if pg is _world.default_pg:
        _world.clear()
        return
    for one in (pg, pg._get_backend("cpu")):
        del _world.pg_map[one], _world.pg_names[one], _world.pg_group_ranks[one]


@public
def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
    sort_ranks=True,
):
    """A group of some ranks; all ranks of the world call it, in the same order."""
    default = _get_default_group()
    own, store = _world.pg_map[default]
    if use_local_synchronization or pg_options is not None or device_id is not None:
        raise missing("torch.distributed.new_group with use_local_synchronization, pg_options or device_id")
    if backend is not None and Backend(backend) != own:
        raise missing("A group with another backend than its world's")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    members = list(range(default.size())) if ranks is None else sorted(ranks) if sort_ranks else list(ranks)
    _check_members(members, default.size())
    if default.rank() not in members:
        _world.group_count += 1
        _world.pg_group_ranks[GroupMember.NON_GROUP_MEMBER] = {member: place for place, member in enumerate(members)}
        return GroupMember.NON_GROUP_MEMBER
    place = members.index(default.rank())
    return _made(own, store, place, len(members), members, timeout or default_pg_timeout)


def _check_members(ranks, size):
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    if len(ranks) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in ranks:
        if rank < 0 or rank >= size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")


def _get_default_group():
    if _world.default_pg is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world.default_pg


def _rank_not_in_group(group):
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _outside(group, operation):
    """Whether this rank is not in the group; torch then warns, and does nothing."""
    if not _rank_not_in_group(group):
        return False
    rank = -1 if _world.default_pg is None else _world.default_pg.rank()
    warnings.warn(f"Running {operation} on global rank {rank} which does not belong to the given group.", stacklevel=2)
    return True


def _group_or_default_group(group=None):
    return _get_default_group() if group is None else group


@public
def get_rank(group=None):
    """This rank's number in the world, or in a group; -1 outside it."""
    if _rank_not_in_group(group):
        return -1
    default = _get_default_group()
    return default.rank() if group is None or group is default else _place(group, default.rank())


@public
def get_world_size(group=None):
    """How many ranks the world, or a group, has; -1 outside it."""
    if _rank_not_in_group(group):
        return -1
    return _group_or_default_group(group).size()


@public
def get_backend(group=None):
    """The name of what carries out operations: in a page, the grader's broker."""
    pg = _group_or_default_group(group)
    if _rank_not_in_group(pg) or pg not in _world.pg_map:
        raise ValueError("Invalid process group specified")
    return Backend(_world.pg_map[pg][0])


@public
def get_group_rank(group, global_rank):
    """A rank's number in a group."""
    return _place(group, global_rank)


def _registered(group):
    """The places of a group's ranks by their numbers in the world."""
    if group not in _world.pg_group_ranks:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return _world.pg_group_ranks[group]


def _place(group, global_rank):
    if group is _world.default_pg:
        return global_rank
    places = _registered(group)
    if global_rank not in places:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return places[global_rank]


@public
def get_global_rank(group, group_rank):
    """The number in the world of a group's rank."""
    return _global(group, group_rank)


def _global(group, group_rank):
    if group is _world.default_pg:
        return group_rank
    for rank, place in _registered(group).items():
        if place == group_rank:
            return rank
    raise ValueError(f"Group rank {group_rank} is not part of group {group}")


@public
def get_process_group_ranks(group):
    """The global ranks of a group, in the order of their ranks there."""
    return list(_world.pg_group_ranks[_group_or_default_group(group)])


def _canonicalize_group_rank(group, global_rank=None, group_rank=None, return_global=False):
    """The rank in the group, or in the world, from whichever of the two a caller gave."""
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return _global(group, group_rank) if return_global else group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return global_rank if return_global else _place(group, global_rank)


# Checks


def _check_single_tensor(param, name):
    if not isinstance(param, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(param)} instead."
        )


def _check_tensor_list(param, name):
    start = f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got "
    if not isinstance(param, list):
        raise TypeError(f"{start}{type(param)} instead.")
    if not all(isinstance(one, Tensor) for one in param):
        raise TypeError(f"{start}{type(param)} with elements of type {[type(one) for one in param]}.")


def _ensure_all_tensors_same_dtype(*tensors):
    found = None
    for one in itertools.chain.from_iterable(t if isinstance(t, list) else (t,) for t in tensors):
        if found is not None and one.dtype is not found:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {found} and  {one.dtype}")
        found = one.dtype


def _check_not_self_rank(group, rank, kind):
    if group.rank() == rank:
        raise ValueError(f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process.")


def _finished(work, async_op):
    """The handle, or nothing after the operation has ended."""
    if async_op:
        return work
    if work is not None:
        work.wait()
    return None


# Messages


@public
def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begin to send; the tensor may be touched again after the handle's ``wait``."""
    return _isend(tensor, dst, group, tag, group_dst)


def _isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "isend"):
        return None
    return group.send([tensor], group_dst, tag)


@public
def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begin to receive; the tensor is filled after the handle's ``wait``."""
    return _irecv(tensor, src, group, tag, group_src)


def _irecv(tensor, src=None, group=None, tag=0, group_src=None):
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "irecv"):
        return None
    group = _group_or_default_group(group)
    if src is None and group_src is None:
        return group.recv_anysource([tensor], tag)
    return group.recv([tensor], _canonicalize_group_rank(group, src, group_src), tag)


@logged
def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send, and wait until the receiver has taken it."""
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_not_self_rank(group, group_dst, "destination")
    work = _isend(tensor, group=group, tag=tag, group_dst=group_dst)
    if work is not None:
        work.wait()


@logged
def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive into a tensor; returns the global rank of the sender."""
    work = _irecv(tensor, src=src, group=group, tag=tag, group_src=group_src)
    if work is None:
        return -1
    work.wait()
    if src is None:
        group = _group_or_default_group(group)
        group_src = work._source_rank() if group_src is None else group_src
        _check_not_self_rank(group, group_src, "source")
        src = _global(group, group_src)
    return src


class P2POp:
    """One ``isend`` or ``irecv`` of a batch."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_single_tensor(tensor, "tensor")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _group_or_default_group(group)
        self.peer = _canonicalize_group_rank(self.group, peer, group_peer, return_global=True)
        self.group_peer = _canonicalize_group_rank(self.group, peer, group_peer)


@public
def batch_isend_irecv(p2p_op_list):
    """Begin several messages; returns their handles."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any(one.group != p2p_op_list[0].group for one in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    handles = []
    for one in p2p_op_list:
        peer = {"group_dst" if one.op is isend else "group_src": one.group_peer}
        work = one.op(one.tensor, group=one.group, tag=one.tag, **peer)
        if work:
            handles.append(work)
    return handles


# Collectives


@logged
def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Wait until all ranks of the group have come."""
    group = _group_or_default_group(group)
    if _outside(group, "barrier"):
        return None
    if device_ids is not None:
        raise missing("torch.distributed.barrier(device_ids=...)")
    return _finished(group.barrier(opts=Options(asyncOp=async_op)), async_op)


@logged
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Combine the tensors of all ranks, in place on all."""
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "all_reduce"):
        return None
    group = _group_or_default_group(group)
    return _finished(group.allreduce([tensor], Options(reduceOp=op, asyncOp=async_op)), async_op)


@logged
def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Combine the tensors of all ranks, in place on one; on the others the tensor is undefined afterwards."""
    group = _group_or_default_group(group)
    root = _canonicalize_group_rank(group, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "reduce"):
        return None
    return _finished(group.reduce([tensor], Options(reduceOp=op, rootRank=root, asyncOp=async_op)), async_op)


@logged
def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """One rank's tensor, in place on all."""
    group = _group_or_default_group(group)
    root = _canonicalize_group_rank(group, src, group_src)
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "broadcast"):
        return None
    options = Options(rootRank=root, rootTensor=0, asyncOp=async_op)
    return _finished(group.broadcast([tensor], options), async_op)


@logged
def all_gather(tensor_list, tensor, group=None, async_op=False):
    """The tensors of all ranks, on all."""
    _check_tensor_list(tensor_list, "tensor_list")
    _check_single_tensor(tensor, "tensor")
    _ensure_all_tensors_same_dtype(tensor_list, tensor)
    if _outside(group, "all_gather"):
        return None
    group = _group_or_default_group(group)
    return _finished(group.allgather([tensor_list], [tensor], Options(asyncOp=async_op)), async_op)


@logged
def all_gather_single(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all ranks, on all, in one tensor."""
    return _all_gather_single(output_tensor, input_tensor, group, async_op)


@logged
def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all ranks, on all, in one tensor, under its older name."""
    return _all_gather_single(output_tensor, input_tensor, group, async_op)


def _all_gather_single(output_tensor, input_tensor, group, async_op):
    _check_single_tensor(input_tensor, "input_tensor")
    _check_single_tensor(output_tensor, "output_tensor")
    if _outside(group, "all_gather_single"):
        return None
    group = _group_or_default_group(group)
    return _finished(group.all_gather_single(output_tensor, input_tensor, Options(asyncOp=async_op)), async_op)


@logged
def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """The tensors of all ranks, on one."""
    _check_single_tensor(tensor, "tensor")
    if gather_list:
        _check_tensor_list(gather_list, "gather_list")
    blocks = gather_list or []
    _ensure_all_tensors_same_dtype(tensor, blocks)
    group = _group_or_default_group(group)
    if _outside(group, "gather"):
        return None
    root = _canonicalize_group_rank(group, 0 if dst is None and group_dst is None else dst, group_dst)
    mine = root == group.rank()
    if mine and not blocks:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if blocks and not mine:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    return _finished(
        group.gather([blocks] if mine else [], [tensor], Options(rootRank=root, asyncOp=async_op)), async_op
    )


@logged
def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """One of one rank's tensors on each rank."""
    _check_single_tensor(tensor, "tensor")
    if scatter_list:
        _check_tensor_list(scatter_list, "scatter_list")
    blocks = scatter_list or []
    _ensure_all_tensors_same_dtype(tensor, blocks)
    group = _group_or_default_group(group)
    root_given = 0 if src is None and group_src is None else src
    if _outside(group, "scatter"):
        return None
    root = _canonicalize_group_rank(group, root_given, group_src)
    mine = root == group.rank()
    if mine and not blocks:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if blocks and not mine:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    options = Options(rootRank=root, asyncOp=async_op)
    return _finished(group.scatter([tensor], [blocks] if mine else [], options), async_op)


@logged
def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Block r of the combined blocks of all ranks, on rank r."""
    _check_single_tensor(output, "output")
    _check_tensor_list(input_list, "input_list")
    _ensure_all_tensors_same_dtype(output, input_list)
    if _outside(group, "reduce_scatter"):
        return None
    group = _group_or_default_group(group)
    return _finished(group.reduce_scatter([output], [input_list], Options(reduceOp=op, asyncOp=async_op)), async_op)


@logged
def reduce_scatter_single(output, input, op=ReduceOp.SUM, group=None, async_op=False):  # noqa: A002
    """Block r of the combined tensors of all ranks, on rank r, from one tensor."""
    return _reduce_scatter_single(output, input, op, group, async_op)


@logged
def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):  # noqa: A002
    """Block r of the combined tensors of all ranks, on rank r, from one tensor, under its older name."""
    return _reduce_scatter_single(output, input, op, group, async_op)


def _reduce_scatter_single(output, given, op, group, async_op):
    _check_single_tensor(output, "output")
    _check_single_tensor(given, "input")
    if _outside(group, "reduce_scatter_single"):
        return None
    group = _group_or_default_group(group)
    options = Options(reduceOp=op, asyncOp=async_op)
    return _finished(group.reduce_scatter_single(output, given, options), async_op)


@logged
def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Block c of each rank goes to rank c."""
    if _outside(group, "all_to_all"):
        return None
    _check_tensor_list(output_tensor_list, "output_tensor_list")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(output_tensor_list, input_tensor_list)
    group = _group_or_default_group(group)
    return _finished(group.alltoall(output_tensor_list, input_tensor_list, Options(asyncOp=async_op)), async_op)


@logged
def all_to_all_single(
    output,
    input,  # noqa: A002  # as torch calls it
    output_split_sizes=None,
    input_split_sizes=None,
    group=None,
    async_op=False,
):
    """Block c of each rank goes to rank c, from one tensor into one."""
    if _outside(group, "all_to_all_single"):
        return None
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    _ensure_all_tensors_same_dtype(output, input)
    group = _group_or_default_group(group)
    sizes = (output_split_sizes or [], input_split_sizes or [])
    return _finished(group.all_to_all_single(output, input, *sizes, Options(asyncOp=async_op)), async_op)


# Objects


def _object_to_tensor(obj, device, group):
    """An object's pickle as bytes, and their number."""
    file = io.BytesIO()
    pickle.Pickler(file).dump(obj)
    content = tensor(list(file.getvalue()), dtype=UINT8)
    return content, tensor([content.numel()])


def _tensor_to_object(tensor, tensor_size, group):
    return pickle.loads(bytes(tensor._values()[: int(tensor_size)]))


def _padded(content, size):
    """Bytes with room for as many as the longest pickle has."""
    return cat([content, content.new_zeros(size - content.numel())]) if content.numel() < size else content


def _gathered_sizes(local_size, group, count):
    sizes = zeros(count, dtype=INT64)
    boxes = [sizes[place].unsqueeze(0) for place in range(count)]
    all_gather(boxes, local_size, group=group)
    return boxes, int(max(int(box) for box in boxes))


def _rows_of(count, size):
    whole = empty(count * size, dtype=UINT8)
    return [whole[size * place : size * (place + 1)] for place in range(count)]


@logged
def all_gather_object(object_list, obj, group=None):
    """The objects of all ranks, on all."""
    if _outside(group, "all_gather_object"):
        return
    content, local_size = _object_to_tensor(obj, "cpu", group)
    count = get_world_size(group)
    sizes, longest = _gathered_sizes(local_size, group, count)
    rows = _rows_of(count, longest)
    all_gather(rows, _padded(content, longest), group=group)
    for place, row in enumerate(rows):
        object_list[place] = _tensor_to_object(row, sizes[place], group)


@logged
def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """The objects of all ranks, on one."""
    group = _group_or_default_group(group)
    root = _canonicalize_group_rank(group, 0 if dst is None and group_dst is None else dst, group_dst)
    if _outside(group, "gather_object"):
        return
    mine = group.rank() == root
    if mine and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if object_gather_list and not mine:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    content, local_size = _object_to_tensor(obj, "cpu", group)
    count = get_world_size(group)
    sizes, longest = _gathered_sizes(local_size, group, count)
    rows = _rows_of(count, longest) if mine else None
    gather(_padded(content, longest), gather_list=rows, group_dst=root, group=group)
    for place, row in enumerate(rows or []):
        object_gather_list[place] = _tensor_to_object(row, sizes[place], group)


def _packed_objects(objects, group):
    contents, sizes = zip(*[_object_to_tensor(one, "cpu", group) for one in objects], strict=True)
    return cat(list(contents)) if len(contents) > 1 else contents[0], cat(list(sizes))


def _unpack_objects(object_list, whole, sizes, group):
    at = 0
    for place, size in enumerate(sizes.tolist()):
        object_list[place] = _tensor_to_object(whole[at : at + size], size, group)
        at += size


def _refuse_options(device, use_batch=False):
    if device not in (None, "cpu") or use_batch:
        raise missing("A message of objects with a device or use_batch")


@logged
def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    """Send objects."""
    _refuse_options(device, use_batch)
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst)
    _check_not_self_rank(group, group_dst, "destination")
    if _outside(group, "send_object_list"):
        return
    whole, sizes = _packed_objects(object_list, group)
    send(sizes, group_dst=group_dst, group=group)
    send(whole, group_dst=group_dst, group=group)


@logged
def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    """Receive objects; returns the global rank of the sender."""
    _refuse_options(device, use_batch)
    group = _group_or_default_group(group)
    group_src = _canonicalize_group_rank(group, src, group_src)
    _check_not_self_rank(group, group_src, "source")
    if _outside(group, "recv_object_list"):
        return -1
    sizes = empty(len(object_list), dtype=INT64)
    sender = recv(sizes, group=group, group_src=group_src)
    whole = empty(int(sum_(sizes)), dtype=UINT8)
    recv(whole, group=group, group_src=group_src)
    _unpack_objects(object_list, whole, sizes, group)
    return sender


@logged
def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """One rank's objects, on all."""
    _refuse_options(device)
    group = _group_or_default_group(group)
    root = _canonicalize_group_rank(group, 0 if src is None and group_src is None else src, group_src)
    if _outside(group, "broadcast_object_list"):
        return
    mine = group.rank() == root
    whole, sizes = _packed_objects(object_list, group) if mine else (None, empty(len(object_list), dtype=INT64))
    broadcast(sizes, group_src=root, group=group)
    whole = whole if mine else empty(int(sum_(sizes)), dtype=UINT8)
    broadcast(whole, group_src=root, group=group)
    if not mine:
        _unpack_objects(object_list, whole, sizes, group)


@logged
def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None
):
    """One of one rank's objects on each rank."""
    group = _group_or_default_group(group)
    root = _canonicalize_group_rank(group, 0 if src is None and group_src is None else src, group_src)
    if _outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    contents, sizes, longest = None, None, tensor([0])
    if group.rank() == root:
        if scatter_object_input_list is None:
            raise ValueError("source rank must provide non-None scatter_object_input_list")
        pairs = [_object_to_tensor(one, "cpu", group) for one in scatter_object_input_list]
        sizes = [size for _, size in pairs]
        longest = tensor([max(int(size) for size in sizes)])
        contents = [_padded(content, int(longest)) for content, _ in pairs]
    broadcast(longest, group_src=root, group=group)
    box, size = empty(int(longest), dtype=UINT8), tensor([0])
    scatter(box, scatter_list=contents, group_src=root, group=group)
    scatter(size, scatter_list=sizes, group_src=root, group=group)
    scatter_object_output_list[0] = _tensor_to_object(box, size, group)


__all__ = [
    "Backend",
    "GroupMember",
    "HashStore",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_gather_single",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "is_nccl_available",
    "isend",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]


def __getattr__(name):
    raise absent("torch.distributed", name)
