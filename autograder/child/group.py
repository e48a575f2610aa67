"""In the child: a ``torch.distributed`` process group that speaks over the child's channel to the broker in the grader.

Every operation has the same form: the tensors that this rank gives, tensors of the shapes that it takes, and what to do
with the data that arrive. An operation is announced when the rank next blocks, its data are read when the broker asks
for them (as late as a legal program allows), and its results are written in its own ``wait``. A program that touches a
buffer too early, or never waits, is therefore wrong every time; a program that keeps the rules never notices.
"""

import contextlib
import sys
from binascii import a2b_base64, b2a_base64
from ctypes import string_at

import torch
import torch.distributed as dist

#: Reductions: the function that combines two pieces.
FOLDS: dict = {
    "SUM": torch.add,
    "AVG": torch.add,
    "PRODUCT": torch.mul,
    "MIN": torch.minimum,
    "MAX": torch.maximum,
    "BAND": torch.bitwise_and,
    "BOR": torch.bitwise_or,
    "BXOR": torch.bitwise_xor,
}


class Abort(BaseException):
    """The broker has ended the case."""


class Operation(dist.Work):
    """One operation of this rank: the handle that the program waits on."""

    def __init__(self, link, facts, gives, takes, land, results=()):
        super().__init__()
        self.link, self.facts, self.gives, self.takes, self.land = link, facts, gives, takes, land
        self.results = list(results)
        self.done, self.source = False, -1
        link.announce(self)

    def wait(self, timeout=None):
        if not self.done:
            self.link.block(self, "wait")
        return True

    def is_completed(self):
        if not self.done:
            self.link.block(self, "poll")
        return self.done

    def finish(self, blocks, source):
        pieces = [piece_of(block, like) for block, like in zip(blocks, self.takes, strict=True)]
        with torch.no_grad():
            self.land(pieces)
        self.done, self.source = True, source

    def is_success(self):
        return self.done

    def exception(self):
        return None

    def synchronize(self):
        self.wait()

    def result(self):
        return self.results

    def source_rank(self):
        return self.source

    _source_rank = source_rank

    def get_future(self):
        """A completed future: asking for it waits for the operation."""
        self.wait()
        future = torch.futures.Future()
        future.set_result(self.results)
        return future


def data_of(tensor):
    """A tensor's elements in base64, for the channel."""
    whole = tensor.detach().contiguous()
    size = whole.numel() * whole.element_size()
    return b2a_base64(string_at(whole.data_ptr(), size) if size else b"", newline=False).decode()


def piece_of(data, like):
    """A new tensor of the type and shape of ``like`` with the elements in ``data``."""
    content = bytearray(a2b_base64(data))
    return torch.frombuffer(content, dtype=like.dtype).reshape(like.shape) if content else torch.empty_like(like)


class Link:
    """This rank's side of the channel during one case."""

    def __init__(self, channel, caller):
        self.channel, self.caller = channel, caller
        self.operations, self.unannounced = [], []

    def announce(self, operation):
        operation.facts["handle"] = len(self.operations)
        operation.facts["unit"], operation.facts["line"] = self.caller()
        operation.facts["called"] = public_name()
        self.operations.append(operation)
        self.unannounced.append(operation)

    def flush(self):
        """Announce to the broker every operation that it does not know yet."""
        for operation in self.unannounced:
            self.channel.send(kind="post", **operation.facts)
        self.unannounced = []

    def block(self, operation, how):
        """Wait for ``operation``, or ask once whether it is done."""
        self.flush()
        self.channel.send(kind=how, handle=operation.facts["handle"])
        reply = self.serve()
        if reply["do"] == "done":
            operation.finish(reply["blocks"], reply["source"])
            self.operations[operation.facts["handle"]] = None  # it holds its tensors no longer than the program does

    def serve(self):
        """Hand out the data that the broker asks for, until it sends another message; returns that message."""
        while True:
            message = self.channel.receive()
            if message["do"] == "take":
                operation = self.operations[message["handle"]]
                self.channel.send(kind="data", blocks=[data_of(tensor) for tensor in operation.gives])
            elif message["do"] == "abort":
                raise Abort
            else:
                return message

    def leave(self, raised):
        """Called when the function has ended: announce what is left, and hand out data until every rank has ended."""
        self.flush()
        self.channel.send(kind="leave", raised=raised)
        with contextlib.suppress(Abort):
            self.serve()


def public_name():
    """The function of torch.distributed that the program called: the library's outermost one on the stack."""
    frame, name = sys._getframe(2), ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.endswith("distributed_c10d.py"):
            name = frame.f_code.co_name
        elif name and not file.endswith(("c10d_logger.py", "contextlib.py")):
            break
        frame = frame.f_back
    return name


def check_contiguous(tensors):
    """Refuse tensors that are not contiguous, as Gloo does."""
    if not all(tensor.is_contiguous() for tensor in tensors):
        raise RuntimeError("a tensor that is sent or received must be contiguous")


def in_memory(tensor):
    """The tensor with its dimensions in the order of memory: contiguous unless its elements have gaps or overlap."""
    return tensor.detach().permute(sorted(range(tensor.dim()), key=tensor.stride, reverse=True))


def cells(operation, tensors):
    """The tensors as Gloo takes them where it does not look at strides: so many cells of memory, in their order.

    A transposed matrix is therefore right if it is transposed on all ranks, and a column is refused: the cells that
    follow its first are not its own.
    """
    laid = [tensor if tensor.is_contiguous() else in_memory(tensor) for tensor in tensors]
    if not all(tensor.is_contiguous() for tensor in laid):
        raise wrong_cells(operation)
    return laid


def wrong_cells(operation):
    return RuntimeError(
        f"{operation}: a tensor is not contiguous, and Gloo would work on the wrong cells of its memory: "
        "call .contiguous() first"
    )


class Group(dist.ProcessGroup):
    """A process group whose operations go through :attr:`link`."""

    link: Link

    def __init__(self, rank, size):
        super().__init__(rank, size)
        self.me, self.ranks = rank, size

    def size(self):
        return self.ranks

    def getBackendName(self):  # noqa: N802
        return "broker"

    def do(self, operation, gives=(), takes=(), land=None, results=None, **facts):
        facts["operation"], facts["group"] = operation, dist.get_process_group_ranks(self)
        facts["name"] = dist.distributed_c10d._world.pg_names[self]
        facts["types"] = sorted({str(tensor.dtype) for tensor in (*gives, *takes)})
        facts["gives"] = [tensor.numel() * tensor.element_size() for tensor in gives]
        facts["takes"] = [tensor.numel() * tensor.element_size() for tensor in takes]
        results = takes if results is None else results
        return Operation(self.link, facts, list(gives), list(takes), land or copy_to(takes), results)

    # Point-to-point.

    def send(self, tensors, dst, tag=0):
        self.check_peer(dst)
        check_contiguous(tensors)
        return self.do("send", gives=tensors, peer=dst, tag=tag)

    def recv(self, tensors, src, tag=0):
        self.check_peer(src)
        check_contiguous(tensors)
        return self.do("recv", takes=tensors, peer=src, tag=tag)

    def recv_anysource(self, tensors, tag=0):
        check_contiguous(tensors)
        return self.do("recv", takes=tensors, peer=None, tag=tag)

    def check_peer(self, peer):
        """Refuse a rank outside the group and this rank itself, as the library does."""
        if not 0 <= peer < self.ranks:
            raise ValueError(f"there is no rank {peer} in a group of {self.ranks}")
        if peer == self.me:
            raise ValueError(f"rank {peer} can neither send to itself nor receive from itself")

    # Collectives: what each rank gives, the shapes that it takes, and what it does with the data that arrive.

    def barrier(self, opts=None):
        return self.do("barrier")

    def allreduce(self, tensors, opts=None):
        (x,) = cells("all_reduce", tensors)
        fold = Reduction(opts.reduceOp if opts else dist.ReduceOp.SUM, x)
        takes = [x] * self.ranks
        return self.do("all_reduce", [x], takes, lambda pieces: x.copy_(fold(pieces)), tensors, reduction=fold.name)

    def reduce(self, tensors, opts):
        (x,) = cells("reduce", tensors)
        fold = Reduction(opts.reduceOp, x)
        count = (opts.rootRank - self.me) % self.ranks or self.ranks

        def land(pieces):  # the root gets the sum; like the library, leave a partial result on the others
            x.copy_(fold((pieces[self.me :] + pieces[: self.me])[:count]))

        return self.do("reduce", [x], [x] * self.ranks, land, tensors, root=opts.rootRank, reduction=fold.name)

    def broadcast(self, tensors, opts):
        takes = cells("broadcast", tensors)
        gives = takes if opts.rootRank == self.me else []
        return self.do("broadcast", gives, takes, results=tensors, root=opts.rootRank)

    def allgather(self, outputs, inputs, opts=None):
        check_same("all_gather", inputs[0], outputs[0])
        return self.do("all_gather", inputs, outputs[0])

    def gather(self, outputs, inputs, opts):
        outs = outputs[0] if outputs else []
        check_same("gather", inputs[0], outs)
        return self.do("gather", inputs, outs, root=opts.rootRank)

    def scatter(self, outputs, inputs, opts):
        ins = inputs[0] if inputs else []
        check_same("scatter", outputs[0], ins)
        gives, takes = cells("scatter", ins), cells("scatter", outputs)
        return self.do("scatter", gives, takes, results=outputs, root=opts.rootRank)

    def reduce_scatter(self, outputs, inputs, opts):
        out, ins = outputs[0], inputs[0]
        check_same("reduce_scatter", out, ins)
        if not out.is_contiguous() or any(not x.is_contiguous() and in_memory(x).is_contiguous() for x in ins):
            raise wrong_cells("reduce_scatter")  # blocks with gaps are copied, and right
        return self.reduced_blocks(out, ins, opts)

    def reduced_blocks(self, out, ins, opts):
        fold = Reduction(opts.reduceOp, out)
        takes = [out] * self.ranks
        return self.do("reduce_scatter", ins, takes, lambda p: out.copy_(fold(p)), [out], reduction=fold.name)

    def alltoall(self, outputs, inputs, opts=None):
        return self.do("all_to_all", inputs, outputs)

    # The same collectives on one tensor that holds all blocks, under the library's older and newer names.

    def all_gather_single(self, output, tensor, opts=None):
        return self.allgather([self.blocks(output)], [tensor])

    def reduce_scatter_single(self, output, tensor, opts):
        blocks = self.blocks(tensor)
        check_same("reduce_scatter", output, blocks)
        return self.reduced_blocks(output, blocks, opts)

    def all_to_all_single(self, output, tensor, output_splits, input_splits, opts=None):
        check_contiguous([output, tensor])
        gives, takes = self.blocks(tensor, input_splits), self.blocks(output, output_splits)
        return self.do("all_to_all", gives, takes, results=[output])

    _allgather_base, _reduce_scatter_base, alltoall_base = all_gather_single, reduce_scatter_single, all_to_all_single

    def blocks(self, tensor, sizes=None):
        """A tensor's blocks along its first dimension, one for each rank."""
        if not sizes and (tensor.dim() == 0 or tensor.shape[0] % self.ranks):
            raise RuntimeError(f"a tensor of shape {tuple(tensor.shape)} does not divide by {self.ranks} ranks")
        return list(tensor.split(list(sizes) if sizes else [tensor.shape[0] // self.ranks] * self.ranks))


def copy_to(targets):
    def land(pieces):
        for target, piece in zip(targets, pieces, strict=True):
            target.copy_(piece)

    return land


def check_same(operation, tensor, others):
    """Refuse blocks of another shape or type than ``tensor``, as the library does."""
    for other in others:
        if (other.shape, other.dtype) != (tensor.shape, tensor.dtype):
            found, expected = (f"{tuple(t.shape)} of {t.dtype}" for t in (other, tensor))
            raise RuntimeError(f"{operation}: a block of shape {found}, expected {expected}")


class Reduction:
    """Combines pieces by the library's ``op``, in rank order. ``name`` is the library's name for it."""

    def __init__(self, op, tensor):
        self.name = next((name for name in FOLDS if op == getattr(dist.ReduceOp, name)), None)
        if self.name is None or (self.name == "AVG" and not tensor.is_floating_point()):
            raise RuntimeError(f"cannot reduce {tensor.dtype} with {self.name or op}")

    def __call__(self, pieces):
        total = pieces[0]
        for piece in pieces[1:]:
            total = FOLDS[self.name](total, piece)
        return total / len(pieces) if self.name == "AVG" else total


dist.Backend.register_backend("broker", lambda store, rank, size, timeout: Group(rank, size), devices=["cpu"])


def joined(channel, caller, rank, ranks):
    """A context in which the process is ``rank`` of a fresh world."""
    return linked(Link(channel, caller), rank, ranks)


@contextlib.contextmanager
def linked(link, rank, ranks):
    """The same with a link that is there already."""
    Group.link = link
    dist.init_process_group("broker", store=dist.HashStore(), rank=rank, world_size=ranks)
    raised = True
    try:
        yield
        raised = False
    finally:
        link.leave(raised)
        if dist.is_initialized():
            dist.destroy_process_group()
