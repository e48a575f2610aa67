"""The child: runs a submission's functions on inputs that the grader sends, and sends back what they return.

Started as ``[python, "-I", "-S", "-B", child.pyc]``: of the course it loads only the files named ``child_*`` and
``probe_*`` beside it and the sources that the first request brings, and it holds no expected value. Descriptor 0 brings
requests, 1 takes replies, 2 takes what the submission prints; the first two are moved away before any of the
submission's code runs. Every message is a JSON object on one line with the random ``id`` of its request; requests are
answered one at a time, in the order of their arrival.
"""

import builtins
import gc
import marshal
import os
import sys

#: What torch imports in the first backward pass. It takes a second or more, which should not count as a case's time.
BACKWARD = "torch.fx.experimental.symbolic_shapes"

HERE = os.path.dirname(os.path.abspath(__file__))


def sibling(name, apart=False):
    """The module in the compiled file ``name.pyc`` beside this one.

    A module loaded ``apart`` has its own copy of the built-ins: a submission that changes them does not affect it.
    """
    module = type(sys)(name)
    if apart:
        module.__builtins__ = dict(vars(builtins))
    with open(f"{HERE}/{name}.pyc", "rb") as file:
        exec(marshal.loads(file.read()[16:]), module.__dict__)
    return module


def codec():
    """The wire, its encoder and its decoder; while these load, they can import the wire by its name in the course."""
    wire = sys.modules["autograder.child.wire"] = sibling("child_wire", apart=True)
    try:
        return wire, sibling("child_encoding", apart=True), sibling("child_decoding", apart=True)
    finally:
        del sys.modules["autograder.child.wire"]


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
        self.wire, self.encoding, self.decoding = codec()
        self.units = sibling("child_code")
        self.code = self.group = self.stage = None
        self.drivers = {}
        self.homes = {}

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

    # The requests of the grader.

    def start(self, request):
        """Put up walls, import packages, set limits and take the submission's units, without running any.

        A child whose walls do not go up says so and ends before it runs a unit.
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
        self.code = self.units.Code(request["units"], request["offered"], self.running)
        self.homes = request["homes"]
        return {"kind": "ready"}

    def preload(self, request):
        """Import the packages and drivers that the submission will need, before its code could change them.

        What drivers import of the course comes with the request, and has no name once they are loaded.
        """
        sys.path.extend(request["packages"])
        backward = request["drivers"] or any("backward" in unit[2] for unit in request["units"])
        gc.disable()  # looking for garbage takes a fifth of the time in which torch is imported, and there is none
        for name in request["preload"]:
            __import__(name)
        if "torch" in request["preload"] and backward:
            __import__(BACKWARD)
        gc.enable()
        with self.units.Modules(request["course"]):
            self.drivers = {name: sibling(f"probe_{name}", apart=True) for name in request["drivers"]}

    def running(self, index, place):
        self.channel.send(kind="running", unit=index, place=place)

    def load(self, request):
        """Run the units of a topic, except what an earlier child did not survive."""
        self.code.skip = request["skip"]
        self.code.module(request["module"])
        return {"kind": "loaded", "problems": self.code.problems}

    def find(self, request):
        """The function or class that is asked for, or None."""
        home = self.homes.get(request["function"], request["module"])
        for module in (self.code.module(home), self.code.shared_module()):
            if module is not None and request["function"] in module.__dict__:
                return module.__dict__[request["function"]]
        return None

    def call(self, request):
        """Call a function; returns its value, and its arguments if they have changed."""
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
        """The driver called ``name``, such as ``"ch06.differentiated"``; one that ``asks`` gets :meth:`ask` first."""
        module, _, name = name.partition(".")
        driver = getattr(self.drivers[module], name)
        if not getattr(driver, "asks", False):
            return driver
        return lambda function, *args, **kwargs: driver(self.ask, function, *args, **kwargs)

    def ask(self, question):
        """Put a question to the grader in the middle of a call; returns its answer."""
        self.channel.send(kind="ask", question=question)
        return self.channel.receive()["answer"]

    def after(self, wire, args):
        """The arguments as the call left them; None if they have not changed.

        Iterators and stages do not count: calls are meant to use up the first and to leave gradients in the second.
        """
        try:
            pairs = zip(wire[1:], args, strict=True)
            left = ["t", *(s if type(s) is list and s[0] in ("i", "S") else self.encode(arg) for s, arg in pairs)]
        except self.wire.Refused:
            return None
        return None if left == wire else left

    def calls(self, request):
        """Make an object and call its methods; a call that raised is answered ``("raises", class name)``."""
        maker = self.find(request)
        if maker is None:
            return {"kind": "missing"}
        objects = {"": self.make(maker, request)}
        answers = [self.answer(maker, request, objects, index, *call) for index, call in enumerate(request["calls"])]
        return {"kind": "value", "value": ["l", *answers]}

    def make(self, maker, request):
        return maker(*self.decode(request["args"]), **self.decode(request["kwargs"]))

    def answer(self, maker, request, objects, place, name, arguments):
        """The answer to one call or attribute of the object.

        In ``owner.name`` it belongs to a further object called ``owner``, made when it is first named; the owner ``#3``
        is the answer to call 3.
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
        """Call a function as one rank of a world, whose process group communicates over this channel."""
        if self.group is None:
            self.group = sibling("child_group")
        function = self.find(request)
        if function is None:
            return {"kind": "missing"}
        with self.group.joined(self.channel, self.code.caller, request["rank"], request["ranks"]):
            return self.call(request)

    # Values.

    def encode(self, value):
        return self.encoding.encode(value, self.special)

    def decode(self, wire):
        return self.decoding.decode(wire, self.make_tensor, {"i": iter, "S": self.make_stage})

    def make_stage(self, parts):
        self.stage = self.stage or sibling("child_stage")
        return self.stage.make(parts)

    def special(self, value):
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and isinstance(value, torch.Tensor):
            return self.encoding.tensor(*tensor_parts(torch, value))
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self.encoding.tensor(*array_parts(value), "N")
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
    if whole.dtype == torch.bool:  # uninitialized memory may hold bytes other than 0 and 1
        whole = whole.view(torch.uint8) != 0
    size = whole.numel() * whole.element_size()
    data = ctypes.string_at(whole.data_ptr(), size) if size else b""
    return str(whole.dtype).removeprefix("torch."), tuple(whole.shape), data


if __name__ == "__main__":
    Child(sibling("child_channel").Channel()).serve()
