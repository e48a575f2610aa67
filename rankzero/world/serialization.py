"""Serialization between the caller and the ranks: functions by cloudpickle, tensors as plain copies.

PyTorch's own pickler for processes passes tensors through shared memory and open descriptors, which must outlive the
sender. Here a tensor is sent as the bytes of its elements, without the rest of its storage, and arrives on the CPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import dis
import functools
import io
import operator
import pickle
import socket
import struct
import sys
import threading
import typing
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

from rankzero.world import source_locations

LENGTH = struct.Struct("!Q")  # the header of every message
#: What of a process cannot be shared with others: each gets a new one of its own, made by this function.
NEW: dict[type, Any] = {
    type(threading.Lock()): threading.Lock,
    type(threading.RLock()): threading.RLock,
    threading.local: threading.local,
}
#: A function with a cache, and the code of a generic function.
CACHED = type(functools.lru_cache(len))
DISPATCHES = functools.singledispatch(len).__code__  # type: ignore[attr-defined]
#: The instructions with which a class body inside a function reads a global name.
CLASS_BODY_READS = ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_register_lock = threading.Lock()  # cloudpickle keeps one list of modules for all threads


class _Packer(cloudpickle.Pickler):
    """cloudpickle, with plain tensors as bytes, and two of its gaps closed."""

    def reducer_override(self, obj: Any) -> Any:
        torch = sys.modules.get("torch")
        if (
            torch is not None
            and type(obj) is torch.Tensor
            and obj.layout is torch.strided
            and obj.device.type != "meta"
        ):
            return rebuild_tensor, _tensor_parts(torch, obj)
        if isinstance(obj, ModuleType) and (found := _as_attribute(obj)):
            return getattr, found
        if (made := NEW.get(type(obj))) is not None:
            return made, ()
        if isinstance(obj, CACHED) and not _is_found_by_name(obj):
            return rebuild_cached, (obj.__wrapped__, obj.cache_parameters())
        if getattr(obj, "__code__", None) is DISPATCHES and not _is_found_by_name(obj):
            return rebuild_dispatch, (obj.registry[object], list(obj.registry.items()))
        if isinstance(obj, typing.NewType) and not _is_found_by_name(obj):
            return typing.NewType, (obj.__name__, obj.__supertype__)
        reduced = super().reducer_override(obj)
        if isinstance(obj, FunctionType) and isinstance(reduced, tuple):  # by value: its state is (dict, slots)
            reduced[2][1]["__globals__"].update(_class_body_globals(obj))
        return reduced


def _is_found_by_name(obj: Any) -> bool:
    """Whether another process finds this very object in a module that it can import."""
    module = sys.modules.get(getattr(obj, "__module__", None) or "__main__")
    if module is None or module.__name__ in ("__main__", *cloudpickle.list_registry_pickle_by_value()):
        return False
    try:
        return operator.attrgetter(obj.__qualname__)(module) is obj and _is_importable(module)
    except AttributeError:
        return False


def rebuild_cached(function: Any, parameters: dict[str, Any]) -> Any:
    """A function with a cache of its own, empty."""
    return functools.lru_cache(**parameters)(function)


def rebuild_dispatch(default: Any, kinds: list[tuple[type, Any]]) -> Any:
    """A generic function of :func:`functools.singledispatch` with its implementations."""
    function = functools.singledispatch(default)
    for kind, implementation in kinds:
        function.register(kind, implementation)
    return function


def _as_attribute(module: ModuleType) -> tuple[ModuleType, str] | None:
    """The parent and the name of a module that exists only as an attribute and cannot be imported; else None.

    One such module is ``torch._C._functions``, which ``once_differentiable`` uses.
    """
    parent, _, name = module.__name__.rpartition(".")
    owner = sys.modules.get(parent)
    attribute_only = module.__name__ not in sys.modules and getattr(owner, name, None) is module
    return (owner, name) if owner is not None and attribute_only else None


def _class_body_globals(function: FunctionType) -> dict[str, Any]:
    """The globals that class bodies inside a function read, such as a decorator; cloudpickle overlooks them."""
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    read = {step.argval for code in codes for step in dis.get_instructions(code) if step.opname in CLASS_BODY_READS}
    return {name: function.__globals__[name] for name in sorted(read & function.__globals__.keys())}


def _tensor_parts(torch: Any, tensor: Any) -> tuple[str, tuple[int, ...], bytes, bool]:
    """The arguments with which :func:`rebuild_tensor` makes the tensor again."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    size = plain.numel() * plain.element_size()
    data = ctypes.string_at(plain.data_ptr(), size) if size else b""
    return str(plain.dtype).removeprefix("torch."), tuple(plain.shape), data, tensor.requires_grad


def rebuild_tensor(dtype: str, shape: tuple[int, ...], data: bytes, requires_grad: bool) -> Any:
    """A tensor from its packed parts, on the CPU and in memory of its own."""
    import torch

    element = getattr(torch, dtype)
    if not data:
        return torch.empty(shape, dtype=element, requires_grad=requires_grad)
    return torch.frombuffer(bytearray(data), dtype=element).reshape(shape).requires_grad_(requires_grad)


def pack(thing: Any) -> bytes:
    """Pickle any value, function or class; what another process could not import by name is pickled by value."""
    file = io.BytesIO()
    packer = _Packer(file, protocol=pickle.HIGHEST_PROTOCOL)
    module = _unimportable_module(thing)
    if module is None:
        packer.dump(thing)
        return file.getvalue()
    with _register_lock:
        cloudpickle.register_pickle_by_value(module)
        try:
            packer.dump(thing)
        finally:
            cloudpickle.unregister_pickle_by_value(module)
    return file.getvalue()


class Unsendable(TypeError):
    """Something that a function uses cannot be sent to another process. A notebook shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def pack_call(function: Any, arguments: tuple[Any, ...]) -> bytes:
    """Pickle a call for the ranks.

    Raises:
        Unsendable: part of it cannot be pickled; the message names the global, the variable or the argument.
    """
    try:
        return pack((function, arguments))
    except Exception as error:
        raise Unsendable(_why(function, arguments) or f"the call cannot be sent to the ranks: {error}") from None


def _why(function: Any, arguments: tuple[Any, ...]) -> str:
    """Which of the names that a call uses cannot be pickled, as a sentence; empty if there is none."""
    tried: set[int] = set()
    for index, one in enumerate((function, *arguments)):
        if (found := _first_unsendable(one, tried)) is None:
            continue
        owner, name, kind = found
        if not name:
            what = f"argument {index}" if index else "the function"
            return f"{what} is a {kind}, which cannot be sent to the ranks"
        return f"{owner} uses {name}, a {kind}, which cannot be sent to the ranks: make it inside {owner}"
    return ""


def _first_unsendable(thing: Any, tried: set[int], owner: str = "", name: str = "") -> tuple[str, str, str] | None:
    """The user, the name and the type of the innermost thing that cannot be pickled, searched depth first."""
    if id(thing) in tried or _can_pack(thing):
        return None
    tried.add(id(thing))
    named = getattr(thing, "__qualname__", "") or (type(thing).__qualname__ if callable(thing) else "")
    here = named.rpartition(".<locals>.")[2] or owner
    for inner, value in _names_used(thing):
        if found := _first_unsendable(value, tried, here, inner):
            return found
    compiled = hasattr(thing, "_torchdynamo_orig_callable")
    return owner, name, "compiled function" if compiled else type(thing).__name__


def _can_pack(thing: Any) -> bool:
    try:
        pack(thing)
    except Exception:
        return False
    return True


def _names_used(thing: Any) -> Iterator[tuple[str, Any]]:
    """The globals and the variables around it that a function uses, and the attributes of a class, of what a method is
    bound to, and of an object that is called."""
    owner = getattr(thing, "__self__", None) if hasattr(thing, "__func__") else thing if callable(thing) else None
    if owner is not None and not isinstance(owner, (type, FunctionType, CACHED)):
        yield from ((f"self.{name}", value) for name, value in getattr(owner, "__dict__", {}).items())
    thing = getattr(thing, "__func__", thing)
    if isinstance(thing, FunctionType) and source_locations.is_user_code(thing.__code__.co_filename):
        codes = [thing.__code__]
        for code in codes:
            codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        names = dict.fromkeys(name for code in codes for name in code.co_names)
        yield from ((name, thing.__globals__[name]) for name in names if name in thing.__globals__)
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not assigned yet
                yield name, cell.cell_contents
    elif isinstance(thing, type):
        yield from vars(thing).items()
    elif hasattr(thing, "__wrapped__"):
        yield "", thing.__wrapped__


def unpack(data: bytes) -> Any:
    """The value that :func:`pack` packed."""
    return pickle.loads(data)


def _unimportable_module(thing: Any) -> ModuleType | None:
    """The module of a function, or of the function in a call ``(fn, args)``, if other processes cannot import it."""
    function = thing[0] if isinstance(thing, tuple) and thing else thing
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return None if module is None or module.__name__ == "__main__" or _is_importable(module) else module


def _is_importable(module: ModuleType) -> bool:
    """Whether a new process would find this very module under its name."""
    top, _, rest = module.__name__.partition(".")
    spec = next((spec for finder in sys.meta_path if (spec := finder.find_spec(top, None))), None)
    file = getattr(module, "__file__", None)
    if spec is None or file is None:
        return spec is not None
    if not rest:
        return spec.origin == file
    return any(Path(folder) in Path(file).parents for folder in spec.submodule_search_locations or ())


def send(connection: socket.socket, message: Any) -> None:
    """Send one message: its length, then its pickle."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    connection.sendall(LENGTH.pack(len(body)))
    connection.sendall(body)


def receive(connection: socket.socket) -> Any:
    """Receive the next message.

    Raises:
        EOFError: the other end has closed the connection.
    """
    (size,) = LENGTH.unpack(_receive_exactly(connection, LENGTH.size))
    return pickle.loads(_receive_exactly(connection, size))


def complete_message(inbox: bytearray) -> Any:
    """The message that has arrived in ``inbox`` piece by piece, or None while it is incomplete."""
    if len(inbox) < LENGTH.size or len(inbox) < LENGTH.size + LENGTH.unpack_from(inbox)[0]:
        return None
    return pickle.loads(memoryview(inbox)[LENGTH.size :])


def _receive_exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return data
