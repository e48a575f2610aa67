"""Explorers: one pure function and its controls, alive in a notebook and in the page of the book.

``explore(fn, title=..., alt=..., ranks=Range(2, 8, 4))``: ``fn(ranks=4)`` returns a chart as a plain dict (Vega-Lite,
version 5). ``fn`` stands in a module that imports only the standard library and such modules, because in the page it
runs in the browser (``book/_static/explorer.js``). In a notebook ipywidgets call it; while the book is built
(``RANKZERO_BOOK=1``) its default state is drawn as a still.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

Spec = dict[str, Any]

#: The MIME type under which JupyterLab and VS Code draw a Vega-Lite chart.
MIME = "application/vnd.vegalite.v5+json"

#: Steps of a slider over a range of floats.
STEPS = 200

#: Prefixes of base units, largest first.
PREFIXES = (
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
)
BASE_UNITS = ("B", "B/s", "s", "FLOP", "FLOP/s")

#: The newest version of the grammar's major version 5 that vl-convert draws.
VEGA_LITE = "5.21"


@dataclass(frozen=True)
class Range:
    """A slider. It gives integers when ``low``, ``high`` and ``default`` are integers, else floats.

    With ``log`` the values are spaced evenly in their logarithm and have three significant digits. A value in a base
    unit (``B``, ``B/s``, ``s``, ``FLOP``, ``FLOP/s``) is shown with a prefix: 2e9 B as ``2 GB``.
    """

    low: float
    high: float
    default: float
    unit: str = ""
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
        if not self.low <= self.default <= self.high:
            raise ValueError(f"default must lie between {self.low} and {self.high}, got {self.default}")
        if self.log and self.low <= 0:
            raise ValueError(f"low must be positive for a logarithmic range, got {self.low}")

    @property
    def integer(self) -> bool:
        """The values are integers."""
        return all(isinstance(value, int) for value in (self.low, self.high, self.default))

    @property
    def stops(self) -> list[float]:
        """Every value of the slider, in order, the default among them: notebook and page share them."""
        if self.integer and not self.log:
            return list(range(int(self.low), int(self.high) + 1))
        shares = [step / STEPS for step in range(STEPS + 1)]
        if self.log:
            values = [float(f"{self.low * (self.high / self.low) ** share:.3g}") for share in shares]
        else:
            values = [float(f"{self.low + share * (self.high - self.low):.6g}") for share in shares]
        inside = {min(max(value, self.low), self.high) for value in values} | {self.low, self.default, self.high}
        return sorted({round(value) for value in inside} if self.integer else inside)


@dataclass(frozen=True, init=False)
class Choice:
    """One of several options, as in ``Choice("sum", "avg", default="avg")``; the default is the first unless named.

    Numbers with a ``unit`` are shown as a slider's are: 8e10 B as ``80 GB``.
    """

    options: tuple[str | int | float, ...]
    default: str | int | float
    unit: str

    def __init__(self, *options: str | int | float, default: str | int | float | None = None, unit: str = "") -> None:
        if not options:
            raise ValueError("options must not be empty")
        if default is not None and default not in options:
            raise ValueError(f"default must be one of {list(options)}, got {default!r}")
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "default", options[0] if default is None else default)
        object.__setattr__(self, "unit", unit)

    @property
    def texts(self) -> list[str]:
        """The options for the reader, in order."""
        return [str(one) if isinstance(one, str) or not self.unit else shown(one, self.unit) for one in self.options]


@dataclass(frozen=True)
class Vector:
    """Numbers, typed with commas between them: one to ``longest`` of them, each in [``low``, ``high``]."""

    default: tuple[float, ...]
    low: float = float("-inf")
    high: float = float("inf")
    unit: str = ""
    longest: int = 64

    def __post_init__(self) -> None:
        object.__setattr__(self, "default", tuple(self.default))
        if not 1 <= len(self.default) <= self.longest:
            raise ValueError(f"default must hold 1 to {self.longest} numbers, got {len(self.default)}")
        if not all(self.low <= value <= self.high for value in self.default):
            raise ValueError(f"default must lie in [{self.low}, {self.high}], got {self.default}")

    def read(self, text: str) -> tuple[float, ...]:
        """The numbers of ``text``.

        Raises:
            ValueError: it is not a list of numbers in the range; the message says which rule.
        """
        try:
            values = tuple(_plain(float(piece)) for piece in text.split(","))
        except ValueError:
            raise ValueError(f"numbers with commas between them are needed, got {text!r}") from None
        if len(values) > self.longest:
            raise ValueError(f"at most {self.longest} numbers, got {len(values)}")
        if not all(self.low <= value <= self.high and abs(value) < float("inf") for value in values):
            raise ValueError(f"each number must lie in [{self.low:g}, {self.high:g}], got {text!r}")
        return values


Control = Range | Choice | Vector
Function = Callable[..., Spec]


def _plain(value: float) -> float:
    """Whole numbers as int: ``[3, 4]`` is nicer than ``[3.0, 4.0]`` in a chart."""
    return int(value) if value.is_integer() else value


def explore(fn: Function, *, title: str, alt: str, **controls: Control) -> None:
    """Show ``fn``'s chart with its controls.

    Args:
        fn: pure; its keyword arguments are the controls' values; returns a Vega-Lite chart as a dict.
        title: what the chart is about.
        alt: one sentence that states what there is to see, for everyone and for those who cannot see it.
        **controls: one for each argument of ``fn``, under its name.

    Raises:
        ValueError: controls and arguments do not match, or (for the book) ``fn`` stands in no module.
    """
    _match(fn, controls)
    if not _in_kernel():
        print(f"{title}: an explorer; it moves in a notebook and in the book. {alt}")
        return
    from IPython.display import display

    if os.environ.get("RANKZERO_BOOK") == "1":
        display({"text/html": figure(fn, title, alt, controls)}, raw=True)
    else:
        display(widget(fn, title, alt, controls))


def _in_kernel() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _match(fn: Function, controls: Mapping[str, Control]) -> None:
    """Every control is an argument, and every argument without a default has a control."""
    parameters = inspect.signature(fn).parameters
    for name, control in controls.items():
        if name not in parameters:
            known = ", ".join(parameters)
            raise ValueError(f"controls must be arguments of {fn.__name__} ({known}), got {name}")
        if not isinstance(control, Control):
            raise ValueError(f"{name} must be a Range, Choice or Vector, got {control!r}")
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in controls]
    if missing:
        raise ValueError(f"controls must cover the arguments of {fn.__name__}, missing {', '.join(missing)}")


def defaults(controls: Mapping[str, Control]) -> dict[str, Any]:
    """The state in which an explorer begins; a vector is a list, as in the browser."""
    return {
        name: list(control.default) if isinstance(control, Vector) else control.default
        for name, control in controls.items()
    }


def label(name: str) -> str:
    """A control's name for the reader: ``message_bytes`` is "message bytes"."""
    return name.replace("_", " ")


def shown(value: float, unit: str) -> str:
    """A slider's value for the reader, as ``explorer.js`` shows it: ``shown(2e9, "B") == "2 GB"``."""
    size, prefix = 1.0, ""
    if unit in BASE_UNITS:
        size, prefix = next(((s, p) for s, p in PREFIXES if abs(value) >= s), (1.0, ""))
    return f"{float(f'{value / size:.4g}'):g} {prefix}{unit}".strip()


# The notebook

#: Room for a whole label.
WIDE = {"description_width": "initial"}


def _bundle(spec: Spec, alt: str) -> dict[str, Any]:
    """The chart as Jupyter shows it: through altair where it is installed (Colab), else as its own MIME type."""
    try:
        import altair
    except ImportError:
        return {MIME: spec, "text/plain": alt}
    bundle = altair.Chart.from_dict(spec)._repr_mimebundle_()
    return dict(bundle[0] if isinstance(bundle, tuple) else bundle)


def _slider(name: str, control: Range) -> Any:
    import ipywidgets

    options = [(shown(value, control.unit), value) for value in control.stops]
    return ipywidgets.SelectionSlider(
        options=options, value=control.default, description=label(name), continuous_update=False, style=WIDE
    )


def _input(name: str, control: Control) -> Any:
    import ipywidgets

    if isinstance(control, Range):
        return _slider(name, control)
    if isinstance(control, Choice):
        options = list(zip(control.texts, control.options, strict=True))
        return ipywidgets.Dropdown(options=options, value=control.default, description=label(name), style=WIDE)
    text = f"{label(name)} ({control.unit})" if control.unit else label(name)
    value = ", ".join(f"{number:g}" for number in control.default)
    return ipywidgets.Text(value=value, description=text, continuous_update=False, style=WIDE)


def _value(control: Control, raw: Any) -> Any:
    return list(control.read(raw)) if isinstance(control, Vector) else raw


def widget(fn: Function, title: str, alt: str, controls: Mapping[str, Control]) -> Any:
    """The explorer as an ipywidgets box: title, controls, chart, and the sentence that says what there is to see."""
    import ipywidgets

    inputs = {name: _input(name, control) for name, control in controls.items()}
    chart = ipywidgets.Output()

    def draw(_change: Any = None) -> None:
        try:
            state = {name: _value(control, inputs[name].value) for name, control in controls.items()}
            data = _bundle(fn(**state), alt)
        except ValueError as error:
            data = {"text/plain": str(error)}
        chart.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

    for box in inputs.values():
        box.observe(draw, "value")
    draw()
    head, foot = ipywidgets.HTML(f"<b>{escape(title)}</b>"), ipywidgets.HTML(escape(alt))
    return ipywidgets.VBox([head, *inputs.values(), chart, foot])


# The book


def still(fn: Function, controls: Mapping[str, Control], name: str) -> str:
    """The default state as SVG text; its ids are ``name`` and a number, the same in every build."""
    try:
        import vl_convert
    except ImportError:
        raise RuntimeError("stills of explorers need vl-convert-python: pip install '.[book]'") from None
    svg = vl_convert.vegalite_to_svg(json.dumps(fn(**defaults(controls))), vl_version=VEGA_LITE)
    ids = {old: f"{name}-{i}" for i, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))}
    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', lambda found: found[1] + ids.get(found[2], found[2]), svg)


def _definition(control: Control) -> dict[str, Any]:
    """A control as data for the page."""
    fields = {"kind": type(control).__name__, **asdict(control)}
    if isinstance(control, Range):
        fields = {"kind": "Range", "default": control.default, "unit": control.unit, "stops": control.stops}
    finite = (None if value in (float("inf"), float("-inf")) else value for value in fields.values())
    return dict(zip(fields, finite, strict=True))


def _field(name: str, control: Control) -> str:
    """One labelled native input; ``explorer.js`` gives sliders their range and their text."""
    head = f"<span>{escape(label(name))}</span>"
    named = f'data-name="{escape(name)}"'
    if isinstance(control, Range):
        value = f'<span class="rz-value" aria-hidden="true">{escape(shown(control.default, control.unit))}</span>'
        return f'<label>{head}{value}<input type="range" {named}></label>'
    if isinstance(control, Choice):
        options = "".join(
            f'<option value="{i}"{" selected" if option == control.default else ""}>{escape(text)}</option>'
            for i, (option, text) in enumerate(zip(control.options, control.texts, strict=True))
        )
        return f"<label>{head}<span></span><select {named}>{options}</select></label>"
    value = ", ".join(f"{number:g}" for number in control.default)
    unit = f"<span>{escape(control.unit)}</span>"
    return f'<label>{head}{unit}<input type="text" autocomplete="off" value="{value}" {named}></label>'


def figure(fn: Function, title: str, alt: str, controls: Mapping[str, Control]) -> str:
    """The explorer as the page's HTML: a still, its controls (asleep until ``explorer.js`` wakes them), a caption."""
    if fn.__module__ == "__main__":
        raise ValueError(f"fn must stand in a module, so that the page can import it, got {fn.__name__} from a cell")
    name = f"rz-{fn.__module__}-{fn.__qualname__}".replace(".", "-")
    definitions = {key: _definition(control) for key, control in controls.items()}
    fields = "".join(_field(key, control) for key, control in controls.items())
    return (
        f'<figure class="rz-explorer" data-module="{fn.__module__}" data-function="{fn.__qualname__}" '
        f'data-controls="{escape(json.dumps(definitions))}">'
        f'<fieldset class="rz-controls" disabled aria-label="{escape(title)}">{fields}</fieldset>'
        '<p class="rz-status" role="status">This chart moves when the book is served: run <code>make serve</code>.</p>'
        f'<div class="rz-chart" role="img" aria-label="{escape(title)}">{still(fn, controls, name)}</div>'
        f"<figcaption><b>{escape(title)}.</b> {escape(alt)}</figcaption></figure>"
    )
