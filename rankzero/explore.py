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
from decimal import Decimal
from html import escape
from typing import Any

from rankzero import vega

Spec = dict[str, Any]

#: Steps of a slider over a range of floats.
STEPS = 200

#: Prefixes of base units and their powers of ten, largest first; binary ones of bytes.
PREFIXES = ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"), (-6, "µ"), (-9, "n"))
BINARY = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
BASE_UNITS = ("B", "B/s", "s", "FLOP", "FLOP/s")

#: The newest version of the grammar's major version 5 that vl-convert draws.
VEGA_LITE = "5.21"


@dataclass(frozen=True)
class Range:
    """A slider. It gives integers when ``low``, ``high`` and ``default`` are integers, else floats.

    With ``log`` the values are spaced evenly in their logarithm and have three significant digits. ``low``, ``high``
    and ``default`` are rounded when they are floats, to four significant digits with ``log`` and to six without: a
    measured 1.2345678e-05 s becomes 1.235e-05 s, and the read-out (:func:`shown`) is exactly what the function gets.
    """

    low: float
    high: float
    default: float
    unit: str = ""
    log: bool = False

    def __post_init__(self) -> None:
        if not self.integer:
            for name in ("low", "high", "default"):
                object.__setattr__(self, name, float(f"{getattr(self, name):.{4 if self.log else 6}g}"))
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
        return [one if isinstance(one, str) else shown(one, self.unit) for one in self.options]


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

    @property
    def text(self) -> str:
        """The default as the text field shows it; ``read`` turns it back into the same numbers."""
        return ", ".join(repr(_plain(float(value))) for value in self.default)

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
    """A control's value for the reader, with all its digits: ``shown(32_768, "tokens") == "32,768 tokens"``.

    A base unit gets a prefix (``shown(2e9, "B") == "2 GB"``); bytes get a binary one where that is shorter
    (``shown(2**20, "B") == "1 MiB"``).
    """
    if unit not in BASE_UNITS:
        return f"{_in_full(value)} {unit}".strip()
    power, prefix = next(((power, p) for power, p in PREFIXES if abs(value) >= float(f"1e{power}")), (0, ""))
    texts = [f"{_in_full(value, -power)} {prefix}{unit}"]
    if unit == "B" and value:
        texts += [f"{int(value) // size:,} {p}B" for size, p in BINARY if value % size == 0]
    return min(texts, key=len)


def _in_full(value: float, power: int = 0) -> str:
    """All digits of ``value`` times ten to the ``power``; very small numbers as ``1e-05``."""
    number = Decimal(repr(value)).scaleb(power)
    whole, _, digits = f"{number:,f}".partition(".")
    digits = digits.rstrip("0")
    return repr(float(number)) if 0 < abs(number) < Decimal("1e-4") else whole + ("." + digits if digits else "")


# The notebook

#: Room for a whole label.
WIDE = {"description_width": "initial"}


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
    return ipywidgets.Text(value=control.text, description=text, continuous_update=False, style=WIDE)


def _value(control: Control, raw: Any) -> Any:
    return list(control.read(raw)) if isinstance(control, Vector) else raw


def widget(fn: Function, title: str, alt: str, controls: Mapping[str, Control]) -> Any:
    """The explorer as an ipywidgets box: title, controls, chart, and the sentence that says what there is to see.

    The scripts that draw the chart, where this checkout has them, are an output of their own at the end of the box.
    """
    import ipywidgets

    engine = vega.engine()
    inputs = {name: _input(name, control) for name, control in controls.items()}
    chart = ipywidgets.Output()

    def draw(_change: Any = None) -> None:
        try:
            state = {name: _value(control, inputs[name].value) for name, control in controls.items()}
            data = vega.chart(fn(**state), alt, engine is not None)
        except ValueError as error:
            data = {"text/plain": str(error)}
        chart.outputs = (_output(data),)

    for box in inputs.values():
        box.observe(draw, "value")
    draw()
    head, foot = ipywidgets.HTML(f"<b>{escape(title)}</b>"), ipywidgets.HTML(escape(alt))
    scripts = [ipywidgets.Output(outputs=(_output(engine),))] if engine else []
    return ipywidgets.VBox([head, *inputs.values(), chart, foot, *scripts])


def _output(data: dict[str, Any]) -> dict[str, Any]:
    """One output of a cell, as a notebook holds it."""
    return {"output_type": "display_data", "data": data, "metadata": {}}


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
        texts = "|".join(shown(value, control.unit) for value in control.stops)
        fields = {"kind": "Range", "default": control.default, "stops": control.stops, "texts": texts}
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
    unit = f"<span>{escape(control.unit)}</span>"
    return f'<label>{head}{unit}<input type="text" autocomplete="off" value="{control.text}" {named}></label>'


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
