"""Groups of ranks: a group hands each operation to the backend that carries it out."""

import enum

from ..missing import missing


class Work:
    """The handle of an operation; a backend overrides what it needs."""

    def wait(self, timeout=None):
        raise missing("Waiting for an operation of no backend")

    def is_completed(self):
        raise missing("Asking for an operation of no backend")

    def is_success(self):
        return self.is_completed()

    def exception(self):
        return None

    def synchronize(self):
        self.wait()

    def result(self):
        raise missing("The result of an operation of no backend")

    def source_rank(self):
        raise missing("The source of an operation of no backend")

    def _source_rank(self):
        return self.source_rank()

    def get_future(self):
        raise missing("The future of an operation of no backend")


class ReduceOp:
    """How collectives combine elements."""

    class RedOpType(enum.Enum):
        """The ways, as constants."""

        SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)

        def __call__(self):
            raise TypeError("'torch._C._distributed_c10d.RedOpType' object is not callable")

    SUM, AVG, PRODUCT, MIN = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN
    MAX, BAND, BOR, BXOR = RedOpType.MAX, RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR


class Options:
    """What a collective is told besides its tensors."""

    def __init__(self, **facts):
        self.__dict__.update(facts)


class Store:
    """Where processes meet; in a page they have met already."""


class HashStore(Store):
    """A store that nobody has to reach over a network."""


class ProcessGroup:
    """A group of ranks. Made with a store, it forwards to the backend that is registered with it."""

    def __init__(self, *arguments):
        *store, self._rank, self._size = arguments
        self._store = store[0] if store else None
        self._backend = None
        self.group_name, self.group_desc, self.bound_device_id = "", "", None

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def name(self):
        return self.getBackendName()

    def getBackendName(self):  # noqa: N802  # as torch calls it
        return self._carrier().getBackendName()

    def get_group_store(self):
        return self._store

    def shutdown(self):
        """Nothing is held that would have to be given back."""

    def _register_backend(self, device, kind, backend):
        self._backend = backend

    def _set_default_backend(self, kind):
        """There is one backend."""

    def _get_backend(self, device):
        return self._carrier()

    def _carrier(self):
        if self._backend is None:
            raise missing("A process group without a backend")
        return self._backend


#: What a group does for the functions of ``torch.distributed``.
METHODS = (
    "allgather",
    "all_gather_single",
    "allreduce",
    "alltoall",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "recv",
    "recv_anysource",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "scatter",
    "send",
)


def _forwarded(name):
    def call(self, *args, **kwargs):
        return getattr(self._carrier(), name)(*args, **kwargs)

    call.__name__ = name
    return call


for _name in METHODS:
    setattr(ProcessGroup, _name, _forwarded(_name))
for _class in (Work, ReduceOp, Store, HashStore, ProcessGroup):
    _class.__module__ = "torch.distributed"
