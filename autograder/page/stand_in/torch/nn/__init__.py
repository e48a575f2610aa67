"""Modules with parameters: what a part of a model needs to run forward and backward. Nothing is drawn at random."""

from ..dtypes import FLOAT32
from ..memory import Device
from ..missing import getter, missing
from ..tensor import Tensor, as_kind
from . import functional

__getattr__ = getter("torch.nn")


class Parameter(Tensor):
    """A tensor that a module registers as its parameter."""

    def __new__(cls, data=None, requires_grad=True):
        data = Tensor() if data is None else data
        made = cls._made(data._storage, data.shape, data.dtype, data.stride(), data._offset)
        return made.requires_grad_(requires_grad)

    @classmethod
    def unknown(cls, shape, kind):
        """A parameter without numbers, on the device ``meta``."""
        return cls._made(None, shape, kind).requires_grad_()

    def __repr__(self):
        return f"Parameter containing:\n{super().__repr__()}"

    def __reduce_ex__(self, protocol):
        return _parameter, (self.data, self.requires_grad)

    def __deepcopy__(self, memo):
        found = memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return found


Parameter.__module__ = "torch.nn.parameter"


def _parameter(data, requires_grad):
    """The parameter that was pickled; torch's class is in a module that is not here."""
    return Parameter(data, requires_grad)


def _type_name(value):
    """A value's type as torch writes it."""
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


class Module:
    """A part of a model: parameters, further parts, and ``forward``."""

    training: bool

    def __init__(self):
        self.__dict__.update(training=True, _parameters={}, _modules={})

    def __setattr__(self, name, value):
        if "_parameters" not in self.__dict__:
            if isinstance(value, (Parameter, Module)):
                kind = "parameters" if isinstance(value, Parameter) else "module"
                raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
            object.__setattr__(self, name, value)
            return
        for kind, held in ((Parameter, self._parameters), (Module, self._modules)):
            if isinstance(value, kind):
                self.__dict__.pop(name, None)
                self._parameters.pop(name, None)
                self._modules.pop(name, None)
                held[name] = value
                return
            if name in held:
                if value is None:
                    held[name] = None
                    return
                wanted = "torch.nn.Parameter" if kind is Parameter else "torch.nn.Module"
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as "
                    f"{'parameter' if kind is Parameter else 'child module'} '{name}' ({wanted} or None expected)"
                )
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for held in ("_parameters", "_modules"):
            if name in self.__dict__.get(held, ()):
                return self.__dict__[held][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_parameter(self, name, param):
        self._parameters[name] = param

    def named_children(self):
        return iter([(name, part) for name, part in self._modules.items() if part is not None])

    def children(self):
        return iter([part for _, part in self.named_children()])

    def named_modules(self, memo=None, prefix=""):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, part in self.named_children():
            yield from part.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (part for _, part in self.named_modules())

    def named_parameters(self, prefix="", recurse=True):
        seen = set()
        for place, part in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, parameter in part._parameters.items():
                if parameter is not None and id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{place}.{name}" if place else name, parameter

    def parameters(self, recurse=True):
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def state_dict(self):
        """The numbers of all parameters, by name."""
        return {name: parameter.detach() for name, parameter in self.named_parameters()}

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad = parameter.grad.detach().zero_()

    def train(self, mode=True):
        for part in self.modules():
            part.training = mode
        return self

    def eval(self):
        return self.train(False)

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = [f"({name}): " + repr(part).replace("\n", "\n  ") for name, part in self.named_children()]
        if not lines:
            return f"{type(self).__name__}({self.extra_repr()})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


class Linear(Module):
    """A matrix product and a bias. Its numbers must be given: those that torch draws cannot be had in a page."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        if device is None or Device(device).type != "meta":
            raise missing("Random initialization (torch.nn.Linear without weights of your own)")
        self.in_features, self.out_features = in_features, out_features
        kind = as_kind(dtype, FLOAT32)
        self.weight = Parameter.unknown((out_features, in_features), kind)
        self.register_parameter("bias", Parameter.unknown((out_features,), kind) if bias else None)

    def forward(self, input):  # noqa: A002  # as torch calls it
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _layer(name, function):
    """A module without parameters that applies a function."""

    def forward(self, input):  # noqa: A002  # as torch calls it
        return function(input)

    return type(name, (Module,), {"forward": forward, "__doc__": f"``{name}`` as a module.", "__module__": __name__})


Tanh = _layer("Tanh", lambda x: x.tanh())
ReLU = _layer("ReLU", lambda x: x.relu())


class Sequential(Module):
    """Modules, one after the other."""

    def __init__(self, *layers):
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], dict):
            self._modules.update(layers[0])
        else:
            self._modules.update({str(place): layer for place, layer in enumerate(layers)})

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        found = list(self._modules.items())
        if isinstance(index, slice):
            return type(self)(dict(found[index]))
        return found[index][1]

    def forward(self, input):  # noqa: A002  # as torch calls it
        for layer in self:
            input = layer(input)  # noqa: A001
        return input
