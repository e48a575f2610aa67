"""Drivers of chapter 1: processes that meet. The answer is what each of them came with, as all of them saw it."""

import os

import torch
import torch.distributed as dist

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
#: Numbers in the message with which a process comes: rank, world size, port, and the letters of the host.
LETTERS = 40


def met(program, environ):
    """Each process calls the function with the variables of its own, and then all compare what they came with.

    The processes have a way to talk already, the group of the world that runs them. What the program hands to
    ``init_process_group`` travels over that, so that every process sees what every other one came with.
    """
    came, closed, kept = [], [], {name: os.environ.pop(name) for name in NAMES if name in os.environ}
    ours = getattr(program, "__globals__", {})

    def init_process_group(
        backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, *args, **options
    ):
        if store is None:
            came.append([backend, *place_of(init_method or "env://", rank, world_size)])
        else:
            came.append([backend, *place_of_store(store, rank, world_size)])

    given = {
        "init_process_group": init_process_group,
        "destroy_process_group": lambda *_: closed.append(1),
        "TCPStore": Store,
    }
    real = {name: vars(dist)[name] for name in given if name in vars(dist)}  # a page's torch has no stores
    bound = {key: name for key, value in ours.items() for name, one in real.items() if value is one}
    replace({name: given[name] for name in real}, ours, bound)
    try:
        returned = program(environ)
    finally:
        replace(real, ours, bound)
        for name in NAMES:
            os.environ.pop(name, None)
        os.environ.update(kept)
    answer = {"device": returned, "calls of init_process_group": came, "who came": compared(came)}
    return answer | {"closed again": bool(closed)}


def replace(functions, ours, bound):
    """Set some functions of ``torch.distributed``, and the program's own names for them, ``bound``."""
    for name, function in functions.items():
        setattr(dist, name, function)
    ours.update({key: functions[name] for key, name in bound.items()})


class Store:
    """A stand-in for ``dist.TCPStore``, which keeps what it was made with: there is no network here."""

    def __init__(self, host_name, port, world_size=None, is_master=False, *args, **options):
        self.host_name, self.port, self.world_size, self.is_master = host_name, port, world_size, is_master


def place_of_store(store, rank, world_size):
    """Host, port, rank and world size of a meeting at a store."""
    if not isinstance(store, Store):
        raise ValueError("a store must be a TCPStore here")
    if type(rank) is not int or type(world_size) is not int or type(store.port) is not int:
        raise TypeError("rank, world_size and the store's port must be integers, not text")
    if store.world_size not in (None, world_size) or bool(store.is_master) != (rank == 0):
        raise ValueError("rank 0, and no other, is the master of a store for all ranks")
    return [store.host_name, store.port, rank, world_size]


def place_of(method, rank, world_size):
    """Host, port, rank and world size as the library would take them from a URL and its environment."""
    if method == "env://":
        missing = [name for name in NAMES if name not in os.environ and name != "LOCAL_RANK"]
        if missing:
            raise ValueError(f"init_process_group reads os.environ, where {missing[0]} is not set")
        rank = int(os.environ["RANK"]) if rank == -1 else rank
        world_size = int(os.environ["WORLD_SIZE"]) if world_size == -1 else world_size
        method = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    if type(rank) is not int or type(world_size) is not int:
        raise TypeError("rank and world_size must be integers, not text")
    kind, _, address = str(method).partition("://")
    host, _, port = address.partition("?")[0].rstrip("/").rpartition(":")
    if kind != "tcp" or not host or not port.isdigit():
        raise ValueError("init_method must be tcp://host:port here")
    return [host, int(port), rank, world_size]


def compared(came):
    """What every process came with, in the order of the processes; each tells the others in one message."""
    _, host, port, rank, size = came[-1] if came else ("", "", -1, -1, -1)
    letters = [ord(letter) for letter in host[:LETTERS]]
    mine = torch.tensor([rank, size, port, *letters, *[0] * (LETTERS - len(letters))])
    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [[*row[:3], "".join(map(chr, filter(None, row[3:])))] for row in (one.tolist() for one in heard)]
