"""What travels between the caller and the ranks: functions by cloudpickle, tensors as plain copies.

PyTorch's own pickler for processes hands tensors over by shared memory and open descriptors, which must outlive the
sender. Here a tensor travels as its bytes, of the part it shows and no more, and comes back on the CPU.
"""

from __future__ import annotations

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

LENGTH = struct.Struct("!Q")  # stands before every message
#: How the body of a class inside a function reads a global name.
BODY_READS = ("LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_registering = threading.Lock()  # cloudpickle keeps one list of modules for all threads


class _Packer(cloudpickle.Pickler):
    """cloudpickle, with plain tensors as bytes."""

    def reducer_override(self, obj: Any) -> Any:
        torch = sys.modules.get("torch")
        if (
            torch is not None
            and type(obj) is torch.Tensor
            and obj.layout is torch.strided
            and obj.device.type != "meta"
        ):
            return tensor_of, _parts(torch, obj)
        if isinstance(obj, ModuleType) and (found := _within(obj)):
            return getattr, found
        reduced = super().reducer_override(obj)
        if isinstance(obj, FunctionType) and isinstance(reduced, tuple):  # by value: its state is (dict, slots)
            reduced[2][1]["__globals__"].update(_of_classes(obj))
        return reduced


def _within(module: ModuleType) -> tuple[ModuleType, str] | None:
    """Where a module stands that no import finds, as ``torch._C._functions``, which ``once_differentiable`` uses."""
    parent, _, name = module.__name__.rpartition(".")
    owner = sys.modules.get(parent)
    lost = module.__name__ not in sys.modules and getattr(owner, name, None) is module
    return (owner, name) if owner is not None and lost else None


def _of_classes(function: FunctionType) -> dict[str, Any]:
    """The globals that bodies of classes inside a function read, a decorator's name say: cloudpickle overlooks them."""
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    read = {step.argval for code in codes for step in dis.get_instructions(code) if step.opname in BODY_READS}
    return {name: function.__globals__[name] for name in sorted(read & function.__globals__.keys())}


def _parts(torch: Any, tensor: Any) -> tuple[str, tuple[int, ...], bytes, bool]:
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return str(plain.dtype).removeprefix("torch."), tuple(plain.shape), data, tensor.requires_grad


def tensor_of(dtype: str, shape: tuple[int, ...], data: bytes, requires_grad: bool) -> Any:
    """The tensor that was packed: in its own memory, on the CPU."""
    import torch

    kind = getattr(torch, dtype)
    if not data:
        return torch.empty(shape, dtype=kind, requires_grad=requires_grad)
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape).requires_grad_(requires_grad)


def pack(thing: Any) -> bytes:
    """Bytes of any value, function or class; what another process could not import by name travels by value."""
    file = io.BytesIO()
    packer = _Packer(file, protocol=pickle.HIGHEST_PROTOCOL)
    module = _module_without_name(thing)
    if module is None:
        packer.dump(thing)
        return file.getvalue()
    with _registering:
        cloudpickle.register_pickle_by_value(module)
        try:
            packer.dump(thing)
        finally:
            cloudpickle.unregister_pickle_by_value(module)
    return file.getvalue()


def unpack(data: bytes) -> Any:
    """The value that :func:`pack` packed."""
    return pickle.loads(data)


def _module_without_name(thing: Any) -> ModuleType | None:
    """The module of the function in a call ``(fn, args)``, when importing its name elsewhere would not find it."""
    function = thing[0] if isinstance(thing, tuple) and thing else thing
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return None if module is None or module.__name__ == "__main__" or _has_name(module) else module


def _has_name(module: ModuleType) -> bool:
    """Whether a fresh process would find this very module under its name."""
    top, _, rest = module.__name__.partition(".")
    spec = next((spec for finder in sys.meta_path if (spec := finder.find_spec(top, None))), None)
    file = getattr(module, "__file__", None)
    if spec is None or file is None:
        return spec is not None
    if not rest:
        return spec.origin == file
    return any(Path(folder) in Path(file).parents for folder in spec.submodule_search_locations or ())


def send(line: socket.socket, message: Any) -> None:
    """One message: its length, then its pickle."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    line.sendall(LENGTH.pack(len(body)))
    line.sendall(body)


def receive(line: socket.socket) -> Any:
    """The next message; ``EOFError`` when the other end is gone."""
    (size,) = LENGTH.unpack(_exactly(line, LENGTH.size))
    return pickle.loads(_exactly(line, size))


def complete(inbox: bytearray) -> Any:
    """The message that has arrived in ``inbox`` in pieces, or None while some are missing."""
    if len(inbox) < LENGTH.size or len(inbox) < LENGTH.size + LENGTH.unpack_from(inbox)[0]:
        return None
    return pickle.loads(memoryview(inbox)[LENGTH.size :])


def _exactly(line: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = line.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return data
