"""The child: runs a submission's functions on inputs that the grader sends, and sends back what they return.

Started as ``[python, "-I", "-S", "-B", child.pyc]``, alone: it imports nothing of ours but the files named ``child_*``
beside it, and it holds no expected value. Descriptor 0 brings requests, 1 takes replies, 2 takes what the submission
prints; the first two are moved away before any of the submission's code runs. One JSON object a line, each with the
random ``id`` of its request; requests are answered one at a time, in the order in which they came.
"""

# mypy: no-check-untyped-defs

import builtins
import marshal
import os
import sys

try:  # the C parts of json, without the milliseconds that its Python parts take to import
    from _json import encode_basestring_ascii as quote
    from _json import make_scanner  # type: ignore[import]
except ImportError:  # another Python
    make_scanner = None  # type: ignore[assignment,misc]

#: What torch imports in the first backward pass with a gradient: a second or more, which should not be a case's.
BACKWARD = "torch.fx.experimental.symbolic_shapes"

HERE = os.path.dirname(os.path.abspath(__file__))


def sibling(name, apart=False):
    """The module in the compiled file ``name.pyc`` beside this one.

    One that stands ``apart`` has built-ins of its own: what a submission does to the others changes nothing in it.
    """
    module = type(sys)(name)
    if apart:
        module.__builtins__ = dict(vars(builtins))
    with open(f"{HERE}/{name}.pyc", "rb") as file:
        exec(marshal.loads(file.read()[16:]), module.__dict__)
    return module


def dumps(value):
    """JSON text of what the wire holds: None, booleans, integers, strings, lists, and dictionaries with string keys."""
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is list or kind is tuple:
        if len(value) > 8 and set(map(type, value[1:])) == {int}:  # a tag and a long row of numbers
            return f"[{dumps(value[0])},{','.join(map(repr, value[1:]))}]"
        return "[" + ",".join([dumps(part) for part in value]) + "]"
    if kind is dict:
        return "{" + ",".join([f"{quote(key)}:{dumps(part)}" for key, part in value.items()]) + "}"
    return {None: "null", True: "true", False: "false"}[value] if value is None or kind is bool else repr(value)


class _Reading:
    """What the scanner asks for."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def loads(text):
    """The value of a line of JSON."""
    return scan(text, 0)[0]


if make_scanner is None:
    from json import dumps, loads  # type: ignore[assignment]
else:
    scan = make_scanner(_Reading())  # type: ignore[arg-type]


class Channel:
    """Requests in, replies out, on descriptors of their own."""

    def __init__(self):
        null = os.open(os.devnull, os.O_RDWR)
        self.requests, self.replies = self.away(0), self.away(1)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)
        self.buffer = bytearray()
        self.id = ""

    @staticmethod
    def away(descriptor):
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 32)

    def receive(self):
        """The next request; ends the process when the grader has closed the pipe."""
        while True:
            end = self.buffer.find(b"\n")
            if end >= 0:
                line = self.buffer[:end].decode()
                del self.buffer[: end + 1]
                message = loads(line)
                self.id = message["id"]
                return message
            data = os.read(self.requests, 1 << 16)
            if not data:
                os._exit(0)
            self.buffer += data

    def send(self, **message):
        message["id"] = self.id
        data = dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.replies, data) :]


def limit(bounds):
    """Set the resource limits, soft and hard: ``{"CPU": 60, "AS": 536870912, ...}``."""
    import resource

    for name, bound in bounds.items():
        which = getattr(resource, f"RLIMIT_{name}", None)
        if which is None:
            continue
        hard = resource.getrlimit(which)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        try:
            resource.setrlimit(which, (bound, bound))
        except (ValueError, OSError):  # this system has no such limit
            continue


class Child:
    """Answers requests, one at a time."""

    def __init__(self, channel):
        self.channel = channel
        self.wire, self.units = sibling("child_wire", apart=True), sibling("child_code")
        self.code = self.group = self.stage = None
        self.drivers = {}

    def serve(self):
        while True:
            request = self.channel.receive()
            try:
                reply = getattr(self, request["do"])(request)
            except self.wire.Refused as refusal:
                reply = {"kind": "refused", "what": str(refusal), "type": refusal.kind}
            except BaseException as error:
                unit, line = self.code.place(error) if self.code else (None, None)
                text = self.units.safe_text(error)
                reply = {"kind": "raised", "error": type(error).__name__, "unit": unit, "line": line, "text": text}
            self.flush()
            self.channel.send(**reply)

    def flush(self):
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            pass

    # What the grader can ask for.

    def start(self, request):
        """Walls, packages, limits, and the submission's units, of which none runs yet.

        No unit is ever run by a child whose walls did not go up: it says so, and ends.
        """
        walls = sibling("child_walls")
        try:
            walls.first(request["walls"])
            self.preload(request)
            limit(request["limits"])
            walls.last(request["walls"])
        except walls.Down as down:
            self.channel.send(kind="down", wall=str(down))
            os._exit(1)
        self.code = self.units.Code(request["units"], request["rankzero_units"], self.running)
        return {"kind": "ready"}

    def preload(self, request):
        """Import the packages and drivers that the submission will need, while nothing of it can change them."""
        sys.path.extend(request["packages"])
        for name in request["preload"]:
            __import__(name)
        backward = request["drivers"] or any("backward" in source for _, _, source in request["units"])
        if "torch" in request["preload"] and backward:
            __import__(BACKWARD)
        self.drivers = {name: sibling(f"probe_{name}", apart=True) for name in request["drivers"]}

    def running(self, index):
        self.channel.send(kind="running", unit=index)

    def load(self, request):
        """Run the units that hold a topic, but none that an earlier child did not survive."""
        self.code.skip = request["skip"]
        self.code.module(request["module"])
        return {"kind": "loaded", "problems": self.code.problems}

    def find(self, request):
        """The function or class that is asked for, or None."""
        for module in (self.code.module(request["module"]), self.code.shared_module()):
            if module is not None and request["function"] in module.__dict__:
                return module.__dict__[request["function"]]
        return None

    def call(self, request):
        """Call a function; its value, and its arguments where they have changed."""
        function = self.find(request)
        if function is None:
            return {"kind": "missing"}
        args, kwargs = self.decode(request["args"]), self.decode(request["kwargs"])
        if "probe" in request:
            value = self.probe(request["probe"])(function, *args, **kwargs)
        else:
            value = function(*args, **kwargs)
        if self.stage and "probe" not in request:
            value = self.stage.answer(value, args, self.wire.Record)
        reply = {"kind": "value", "value": self.encode(value)}
        if request["report"]:
            reply["arguments"] = self.after(request["args"], args)
        return reply

    def probe(self, name):
        """The driver of a probed item: ``"ch06.differentiated"``. One that ``asks`` gets a way to ask the grader."""
        module, _, name = name.partition(".")
        driver = getattr(self.drivers[module], name)
        if not getattr(driver, "asks", False):
            return driver
        return lambda function, *args, **kwargs: driver(self.ask, function, *args, **kwargs)

    def ask(self, question):
        """What the grader answers in the middle of a call."""
        self.channel.send(kind="ask", question=question)
        return self.channel.receive()["answer"]

    def after(self, wire, args):
        """The arguments as the call left them, None when that is as they were.

        An iterator is meant to be used up, and a stage to get gradients.
        """
        try:
            pairs = zip(wire[1:], args, strict=True)
            left = ["t", *(s if type(s) is list and s[0] in ("i", "S") else self.encode(arg) for s, arg in pairs)]
        except self.wire.Refused:
            return None
        return None if left == wire else left

    def calls(self, request):
        """Make an object and drive it; every answer, where a call that raised is ``("raises", class name)``."""
        maker = self.find(request)
        if maker is None:
            return {"kind": "missing"}
        objects = {"": self.make(maker, request)}
        answers = [self.answer(maker, request, objects, place, *call) for place, call in enumerate(request["calls"])]
        return {"kind": "value", "value": ["l", *answers]}

    def make(self, maker, request):
        return maker(*self.decode(request["args"]), **self.decode(request["kwargs"]))

    def answer(self, maker, request, objects, place, name, arguments):
        """One call or attribute of the object, or of the ``owner`` in ``owner.name``, made when it is first named.

        The owner ``#3`` is what call 3 answered.
        """
        owner, _, name = name.rpartition(".")
        try:
            if owner not in objects and not owner.startswith("#"):
                objects[owner] = self.make(maker, request)
            value = getattr(objects[owner], name)
            if arguments is not None:
                value = value(*self.decode(arguments))
        except Exception as error:
            return ["t", "raises", type(error).__name__]
        objects[f"#{place}"] = value
        return self.encode(value)

    def world(self, request):
        """Call a function as one rank of a world, whose process group speaks over this channel."""
        if self.group is None:
            self.group = sibling("child_group")
        function = self.find(request)
        if function is None:
            return {"kind": "missing"}
        with self.group.joined(self.channel, self.code.caller, request["rank"], request["ranks"]):
            return self.call(request)

    # Values.

    def encode(self, value):
        return self.wire.encode(value, self.special)

    def decode(self, wire):
        return self.wire.decode(wire, self.make_tensor, {"i": iter, "S": self.make_stage})

    def make_stage(self, parts):
        self.stage = self.stage or sibling("child_stage")
        return self.stage.make(parts)

    def special(self, value):
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and isinstance(value, torch.Tensor):
            return self.wire.tensor(*tensor_parts(torch, value))
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self.wire.tensor(*array_parts(value), "N")
        return None

    def make_tensor(self, dtype, shape, data):
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is None:
            return numpy.frombuffer(bytearray(data), dtype).reshape(shape)
        kind = getattr(torch, dtype)
        return torch.frombuffer(bytearray(data), dtype=kind).reshape(shape) if data else torch.empty(shape, dtype=kind)


def array_parts(value):
    """``(dtype, shape, data)`` of an array or a number of NumPy."""
    native = value.astype(value.dtype.newbyteorder("="))
    return native.dtype.name, native.shape, native.tobytes()


def tensor_parts(torch, value):
    """``(dtype, shape, data)`` of a torch tensor."""
    import ctypes

    whole = value.detach().cpu().contiguous()
    if whole.dtype == torch.bool:  # memory that nobody filled may hold other bytes than 0 and 1
        whole = whole.view(torch.uint8) != 0
    size = whole.numel() * whole.element_size()
    data = ctypes.string_at(whole.data_ptr(), size) if size else b""
    return str(whole.dtype).removeprefix("torch."), tuple(whole.shape), data


if __name__ == "__main__":
    Child(Channel()).serve()
