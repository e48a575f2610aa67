"""Explorers: interactive charts, each a pure function and its controls, in notebooks and in the pages of the book.

``explore(fn, title=..., alt=..., ranks=Range(2, 8, 4))`` shows the chart that ``fn(ranks=4)`` returns as a plain dict
(Vega-Lite). In a page of the book, ``fn`` runs in the browser (``book/_static/explorer.js``). So it must be
defined in a module that imports only the standard library and other modules of this kind. In a notebook ipywidgets call
it; while the book is being built (``RANKZERO_BOOK=1``), its default state is drawn as a still image.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from rankzero import checks
from rankzero.explore import vega
from rankzero.explore.controls import Choice, Control, Number, Range, Vector, shown
from rankzero.room import phone

Spec = dict[str, Any]

#: The version of Vega-Lite in which vl-convert draws, the one of ``package.json``.
VEGA_LITE = "6.4"

Function = Callable[..., Spec]


def explore(fn: Function, *, title: str, alt: str, **controls: Control) -> None:
    """Show the chart of ``fn`` with its controls.

    Args:
        fn: a pure function that takes the controls' values as keyword arguments and returns a Vega-Lite chart.
        title: what the chart is about.
        alt: one sentence that says what the chart shows; it is also the text for readers who cannot see it.
        **controls: a control for each argument of ``fn``, under its name.

    Raises:
        ValueError: the controls do not match the arguments, or, for the book, ``fn`` is not defined in a module.
    """
    _match(fn, controls)
    if not in_kernel():
        print(f"{title}: an explorer, interactive in a notebook and in the book. {alt}")
        return
    if os.environ.get("RANKZERO_BOOK") == "1":
        from IPython.display import display

        display({"text/html": figure(fn, title, alt, controls)}, raw=True)
    else:
        show_with_still(widget(fn, title, alt, controls), _still_output(fn, title, alt, controls))


def show_with_still(box: Any, still: Mapping[str, Any]) -> None:
    """Display a widget, and beside it a still picture for a Jupyter without widgets, which takes what it can show."""
    from IPython.display import display

    made = getattr(box, "_repr_mimebundle_", None)
    if made is None:  # ipywidgets 7
        display(box)
    else:
        display({**made(), **still}, raw=True)


def in_kernel() -> bool:
    """Whether this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _match(fn: Function, controls: Mapping[str, Control]) -> None:
    """Check that every control is an argument, and that every argument without a default has a control."""
    parameters = inspect.signature(fn).parameters
    for name, control in controls.items():
        checks.one_of(parameters, controls=name)
        checks.require(isinstance(control, Control), "be a Range, Choice, Vector or Number", **{name: control})
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in controls]
    checks.require(not missing, f"cover {', '.join(missing)}", controls=list(controls))


def defaults(controls: Mapping[str, Control]) -> dict[str, Any]:
    """The initial value of every control; a vector's is a list, as in the browser."""
    return {
        name: list(control.default) if isinstance(control, Vector) else control.default
        for name, control in controls.items()
    }


def label(name: str) -> str:
    """A control's name as the reader sees it: ``message_bytes`` becomes "message bytes"."""
    return name.replace("_", " ")


# The notebook

#: The style of a widget whose label is shown in full.
FULL_LABEL = {"description_width": "initial"}


def _slider(name: str, control: Range) -> Any:
    import ipywidgets

    options = [(shown(value, control.unit), value) for value in control.stops]
    return ipywidgets.SelectionSlider(
        options=options, value=control.default, description=label(name), continuous_update=False, style=FULL_LABEL
    )


def _input(name: str, control: Control) -> Any:
    import ipywidgets

    if isinstance(control, Range):
        return _slider(name, control)
    if isinstance(control, Choice):
        options = list(zip(control.texts, control.options, strict=True))
        return ipywidgets.Dropdown(options=options, value=control.default, description=label(name), style=FULL_LABEL)
    text = f"{label(name)} ({control.unit})" if control.unit else label(name)
    return ipywidgets.Text(value=control.text, description=text, continuous_update=False, style=FULL_LABEL)


def _value(control: Control, raw: Any) -> Any:
    if isinstance(control, Number):
        return control.read(raw)
    return list(control.read(raw)) if isinstance(control, Vector) else raw


def widget(fn: Function, title: str, alt: str, controls: Mapping[str, Control]) -> Any:
    """The explorer as an ipywidgets box: title, controls, chart, and the sentence that says what the chart shows.

    If this checkout has the scripts that draw the chart, they are a separate output at the end of the box.
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


def _still_output(fn: Function, title: str, alt: str, controls: Mapping[str, Control]) -> dict[str, Any]:
    """The default state without controls: a picture if this environment can draw one, else a chart for JupyterLab."""
    told = {"text/plain": f"{title}. {alt} (Controls need ipywidgets in the environment of the Jupyter server.)"}
    try:
        name = f"rz-{fn.__module__}-{fn.__qualname__}".replace(".", "-")
        return {"image/svg+xml": still(fn, controls, name), **told}
    except RuntimeError:  # nothing here draws pictures of charts
        return {vega.MIME: fn(**defaults(controls)), **told}
    except ValueError as error:
        return {"text/plain": str(error)}


def _output(data: dict[str, Any]) -> dict[str, Any]:
    """One output of a cell, in the notebook format."""
    return {"output_type": "display_data", "data": data, "metadata": {}}


# The book


def still(fn: Function, controls: Mapping[str, Control], name: str) -> str:
    """The default state as SVG text. Its ids are ``name`` with a number, so that they are the same in every build."""
    try:
        import vl_convert
    except ImportError:
        raise RuntimeError("stills of explorers need vl-convert-python: pip install '.[book]'") from None
    svg = vl_convert.vegalite_to_svg(json.dumps(fn(**defaults(controls))), vl_version=VEGA_LITE)
    ids = {old: f"{name}-{i}" for i, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)))}
    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', lambda found: found[1] + ids.get(found[2], found[2]), svg)


def _stills(fn: Function, controls: Mapping[str, Control]) -> str:
    """The default state twice: for a desk, and for a phone, where ``page.css`` shows the second."""
    name = f"rz-{fn.__module__}-{fn.__qualname__}".replace(".", "-")
    with phone():
        narrow = still(fn, controls, f"{name}-phone")
    return _of_class("rz-wide", still(fn, controls, name)) + _of_class("rz-phone", narrow, ' style="display:none"')


def _of_class(kind: str, svg: str, style: str = "") -> str:
    """A still that says where it is shown. Its name is that of the box around it."""
    named = svg.replace(' class="marks"', f' class="marks {kind}"', 1)
    return named.replace("<svg ", f'<svg aria-hidden="true"{style} ', 1)


def _definition(control: Control) -> dict[str, Any]:
    """A control as the data that ``explorer.js`` reads."""
    fields = {"kind": type(control).__name__, **asdict(control)}
    if isinstance(control, Range):
        texts = "|".join(shown(value, control.unit) for value in control.stops)
        fields = {"kind": "Range", "default": control.default, "stops": control.stops, "texts": texts}
    if isinstance(control, Number):
        fields["whole"] = control.whole
    finite = (None if value in (float("inf"), float("-inf")) else value for value in fields.values())
    return dict(zip(fields, finite, strict=True))


def _field(name: str, control: Control) -> str:
    """One labeled native input; ``explorer.js`` sets the range and the text of sliders."""
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
    """The explorer as HTML for the page: a still image, controls that ``explorer.js`` enables, and a caption."""
    still_image = f'<div class="rz-chart" role="img" aria-label="{escape(title)}">{_stills(fn, controls)}</div>'
    return _figure(fn, (title, alt), controls, still_image, "make this chart interactive")


def sheet(fn: Callable[..., dict[str, list[list[str]]]], title: str, alt: str, controls: Mapping[str, Control]) -> str:
    """A calculator as HTML for the page. It is an explorer whose ``fn`` returns the rows of a table, ``{"rows": ...}``:
    a name and a text in each. The page shows those of the default state, and the latest ones once a number changes."""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in fn(**defaults(controls))["rows"]
    )
    shown_rows = f'<div class="rz-sheet" aria-live="polite"><table><tbody>{rows}</tbody></table></div>'
    return _figure(fn, (title, alt), controls, shown_rows, "calculate with other numbers")


def _figure(fn: Callable[..., Any], said: tuple[str, str], controls: Mapping[str, Control], body: str, aim: str) -> str:
    """An explorer around ``body``; ``said`` are its title and the sentence below, ``aim`` is why to serve it."""
    checks.require(fn.__module__ != "__main__", "be defined in a module, so that the page can import it", fn=fn)
    title, alt = map(escape, said)
    definitions = {key: _definition(control) for key, control in controls.items()}
    fields = "".join(_field(key, control) for key, control in controls.items())
    return (
        f'<figure class="rz-explorer" data-module="{fn.__module__}" data-function="{fn.__qualname__}" '
        f'data-controls="{escape(json.dumps(definitions))}">'
        f'<fieldset class="rz-controls" disabled aria-label="{title}">{fields}</fieldset>'
        '<p class="rz-status" role="status">'
        f"To {aim}, serve the book: run <code>make serve</code>.</p>"
        f"{body}"
        f"<figcaption><b>{title}.</b> {alt}</figcaption></figure>"
    )
