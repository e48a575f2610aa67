"""Serialization between the caller and the ranks: functions by cloudpickle, tensors as plain copies.

PyTorch's own pickler for processes passes tensors through shared memory and open descriptors, which must outlive the
sender. Here a tensor is sent as the bytes of its elements, without the rest of its storage, and arrives on the CPU.
"""

from __future__ import annotations

import ctypes
import dis
import io
import pickle
import socket
import struct
import sys
import threading
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

LENGTH = struct.Struct("!Q")  # the header of every message
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
        reduced = super().reducer_override(obj)
        if isinstance(obj, FunctionType) and isinstance(reduced, tuple):  # by value: its state is (dict, slots)
            reduced[2][1]["__globals__"].update(_class_body_globals(obj))
        return reduced


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
