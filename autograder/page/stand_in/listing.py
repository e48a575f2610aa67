"""Writes what is generated from the stand-in and from torch: the list of names, and the names that torch has.

    python -m autograder.page.stand_in.listing

``README.md`` says of each name of the stand-in whether it does the same as torch. ``torch/names.py`` holds the names
that torch has, so that the stand-in can tell a name that works elsewhere from a misspelt one.
"""

from __future__ import annotations

import importlib
import pkgutil
import textwrap
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
STAND_IN = "autograder.page.stand_in.torch"

#: The places whose names are compared: modules of torch, and its class.
PLACES = (
    "torch",
    "torch.Tensor",
    "torch.autograd",
    "torch.cuda",
    "torch.distributed",
    "torch.futures",
    "torch.nn",
    "torch.nn.functional",
)

#: By place, what no code of chapters 1 to 4 needs and a learner of these chapters may type.
_ORDINARY = {
    "torch": """
        Size amax amin any argmin argsort clamp cumsum dot dtype finfo flip floor get_num_threads iinfo int isclose
        isfinite isinf isnan log log_softmax logsumexp long masked_fill matmul mm mv nan neg nonzero norm ones_like
        permute pow preserve_format reciprocal relu round sigmoid sign sort squeeze std strided tanh transpose unsqueeze
        var
    """,
    "torch.Tensor": """
        add_ amax amin any argmin argsort clamp clamp_ cumsum div_ dot expand expand_as fill_ flip floor grad_fn int
        is_cuda is_leaf isclose isfinite isinf isnan log log_softmax logsumexp long masked_fill matmul mm mul_ mv ndim
        neg neg_ new_ones nonzero norm permute pow pow_ reciprocal relu repeat round sigmoid sign sort squeeze std
        stride tanh transpose unsqueeze var
    """,
    "torch.distributed": "GroupMember c10d_logger get_global_rank get_group_rank reduce_scatter_tensor",
    "torch.nn": "ReLU",
    "torch.nn.functional": "linear log_softmax relu",
}
ORDINARY = {place: frozenset(_ORDINARY.get(place, "").split()) for place in PLACES}

#: What is true of the whole stand-in.
GENERAL = (
    "Tensors live on the CPU and hold bool, uint8, int32, int64, float32 or float64.",
    "`+ - * /` give float32's own bits; a sum of floats is rounded once, while torch adds in pairs, and functions such "
    "as `exp` are rounded from float64: their last bits may differ.",
    "Unfilled memory (`torch.empty`) is nan, or an odd integer such as -777777777.",
    "There are no random numbers, and there is no NumPy.",
    "An operation without a rule for gradients refuses a tensor that requires one, and so do writes in place that "
    "would change a history, other than `add_`, `sub_`, `neg_` and `copy_`.",
    "Errors have torch's types and, where learners meet them, the first line of torch's text.",
    "Indexing takes one tensor or list at most; slices, integers, None and `...` may stand beside it.",
    "A pickled tensor has another number of bytes than torch's.",
    "A float that is nan, or too large for an integer type, converts as on an x86 processor.",
    "Process groups need a backend that the page registers; time limits have no effect.",
)


def followed() -> str:
    """The version of torch that the stand-in follows, which it says itself: major and minor."""
    return importlib.import_module(STAND_IN).__version__.rpartition(" ")[2]


def place(path: str, stand_in: bool) -> Any:
    """A module of torch or of the stand-in, or the class of tensors."""
    root = STAND_IN if stand_in else "torch"
    if path == "torch.Tensor":
        return importlib.import_module(root).Tensor
    return importlib.import_module(root + path.removeprefix("torch"))


def own_names(path: str) -> list[str]:
    """The public names that the stand-in has in a place, and the operators of its tensors."""
    here = place(path, stand_in=True)
    if path == "torch.Tensor":
        return sorted(name for name in vars(here) if _is_tensor_name(name))
    return sorted(name for name, value in vars(here).items() if not name.startswith("_") and _counts(path, name, value))


#: What every class has, or has by another way.
OF_ANY_CLASS = frozenset({"__copy__", "__dict__", "__doc__", "__module__", "__weakref__", "__new__", "__getattr__"})


def _is_tensor_name(name: str) -> bool:
    if name.startswith("__"):
        return name not in OF_ANY_CLASS
    return not name.startswith("_")


def _counts(path: str, name: str, value: Any) -> bool:
    """Whether a name of a module is torch's, not one that the module needs for itself."""
    if isinstance(value, ModuleType):
        return hasattr(place(path, stand_in=False), name) and value.__name__.startswith(STAND_IN)
    return hasattr(place(path, stand_in=False), name)


def torch_names(path: str) -> list[str]:
    """The public names that torch has in a place, submodules included."""
    there = place(path, stand_in=False)
    found = {name for name in dir(there) if not name.startswith("_") and not _is_borrowed(getattr(there, name, None))}
    if isinstance(there, ModuleType) and hasattr(there, "__path__"):
        found |= {module.name for module in pkgutil.iter_modules(there.__path__) if not module.name.startswith("_")}
    return sorted(found)


def _is_borrowed(value: Any) -> bool:
    """Whether a name is a module that does not belong to torch."""
    return isinstance(value, ModuleType) and not value.__name__.startswith("torch")


def names_module() -> str:
    """The text of ``torch/names.py``."""
    blocks = []
    for path in PLACES:
        lines = textwrap.wrap(" ".join(torch_names(path)), 112, break_long_words=False, break_on_hyphens=False)
        blocks.append(f'    "{path}": """\n' + "".join(f"        {line}\n" for line in lines) + '    """,\n')
    return (
        '"""The names that torch has, by place; generated by ``autograder/page/stand_in/listing.py``."""\n\n'
        "_NAMES = {\n" + "".join(blocks) + "}\n\n"
        "KNOWN = {place: frozenset(names.split()) for place, names in _NAMES.items()}\n"
    )


def _difference(path: str, name: str) -> str:
    """What is not the same about a name, in a few words."""
    registry = importlib.import_module(f"{STAND_IN}.registry")
    words = [OTHERWISE.get(f"{path}.{name}", "")]
    if path in ("torch", "torch.Tensor") and not name.startswith("__"):
        words.append(registry.DIFFERS.get(name.removesuffix("_"), ""))
        words.append("without a gradient" if _refuses(name) else "")
    return "; ".join(filter(None, words))


def _refuses(name: str) -> bool:
    """Whether an operation refuses a tensor that requires a gradient."""
    registry = importlib.import_module(f"{STAND_IN}.registry")
    linear = importlib.import_module(f"{STAND_IN}.in_place").LINEAR
    in_place = name.endswith("_") and name in registry.IN_PLACE
    return name in registry.WITHOUT_GRADIENT or (in_place and name not in linear)


#: What differs of names that are not operations on tensors.
OTHERWISE = {
    "torch.__version__": "says that it is a stand-in",
    "torch.device": "`cpu` alone",
    "torch.set_num_threads": "1 alone",
    "torch.Tensor.data": "takes a tensor of the same type; not for views",
    "torch.Tensor.backward": "without `create_graph` and `inputs`",
    "torch.Tensor.grad": "of the tensor's own type",
    "torch.Tensor.__getitem__": "one tensor or list at most; without a gradient through it",
    "torch.Tensor.__setitem__": "one tensor or list at most; without gradients",
    "torch.Tensor.__floordiv__": "without a gradient",
    "torch.Tensor.__mod__": "without a gradient",
    "torch.Tensor.__rfloordiv__": "without a gradient",
    "torch.Tensor.__rmod__": "without a gradient",
    **{f"torch.Tensor.__{shift}__": "refused" for shift in ("lshift", "rshift", "rlshift", "rrshift")},
    **{f"torch.Tensor.__{shift}__": "refused" for shift in ("ilshift", "irshift")},
    "torch.Tensor.__pow__": "the last bits may differ unless the exponent is 2",
    "torch.Tensor.__rpow__": "the last bits may differ",
    "torch.Tensor.__matmul__": "at most two dimensions; the last bits may differ",
    "torch.Tensor.__reduce_ex__": "another number of bytes",
    "torch.autograd.backward": "without `create_graph` and `inputs`",
    "torch.autograd.grad": "of leaves, without `create_graph`",
    "torch.nn.Linear": "on the device `meta` alone: its numbers must be given",
    "torch.nn.functional.linear": "the last bits may differ",
    "torch.nn.functional.mse_loss": "without weights; the last bits may differ",
    "torch.nn.functional.softmax": "the last bits may differ",
    "torch.nn.functional.log_softmax": "the last bits may differ",
    "torch.nn.functional.pad": "at the ends of the last dimension, without a gradient",
    "torch.distributed.init_process_group": "with a registered backend and a store alone",
    "torch.distributed.new_group": "of the world's own backend",
    "torch.distributed.get_backend": "the page's backend",
    "torch.distributed.Backend": "backends are registered, none is built in",
    "torch.distributed.barrier": "without `device_ids`",
    "torch.distributed.all_gather_into_tensor": "without torch's warning that it has a newer name",
    "torch.distributed.reduce_scatter_tensor": "without torch's warning that it has a newer name",
    "torch.distributed.send_object_list": "without `device` and `use_batch`",
    "torch.distributed.recv_object_list": "without `device` and `use_batch`",
    "torch.distributed.broadcast_object_list": "without `device`",
    "torch.futures.Future": "waiting for one without a result is refused",
}


def readme() -> str:
    """The text of ``README.md``."""
    lines = [
        "# What the stand-in for torch has",
        "",
        "Generated by `python -m autograder.page.stand_in.listing`; tests compare every name below with torch.",
        "",
        *(f"- {sentence}" for sentence in (f"It follows torch {followed()}.", *GENERAL)),
        "- Anything else is refused in a sentence that names it and says where it works.",
        "",
    ]
    for path in PLACES:
        lines += [f"## `{path}`", "", "| name | the same | what is not |", "| --- | --- | --- |"]
        for name in own_names(path):
            difference = _difference(path, name)
            lines.append(f"| `{name}` | {'almost' if difference else 'yes'} | {difference} |")
        lines.append("")
    return "\n".join(lines)


def generated() -> dict[Path, str]:
    """The generated files and their texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {FOLDER / "torch" / "names.py": names_module(), FOLDER / "README.md": readme()}


def main() -> None:
    """Write the generated files."""
    for path, text in generated().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
