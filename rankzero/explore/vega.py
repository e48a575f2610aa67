"""A Vega-Lite chart as a notebook output, drawn without network access wherever possible.

The scripts of the book's pages (``make vendor``) draw it in every front end. Without them the output has the MIME type
of Vega-Lite, which JupyterLab, Notebook and VS Code can draw. Colab cannot; there the last resort is altair, which
Colab has installed and whose HTML loads scripts from another host.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

#: The MIME type of a Vega-Lite chart: JupyterLab draws none that is newer. Our charts are the same in versions 5 and 6.
MIME = "application/vnd.vegalite.v5+json"

#: Where a checkout of the course keeps the scripts of its pages, and the scripts that draw charts, in loading order.
FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "static" / "vendor"
SCRIPTS = ("vega/vega.min.js", "vega-lite/vega-lite.min.js", "vega-embed/vega-embed.min.js")

#: One script, wrapped so that it does not find RequireJS or CommonJS and therefore defines a global name.
LOADED = "(function (exports, module, define) {{ {source}\n}}).call(window);"
ENGINE = """<script>
if (!window.vegaEmbed) {{ {sources} }}
document.dispatchEvent(new Event("rankzero-vega"));
</script>"""
CHART = """<div role="img" aria-label="{alt}"><div id="{name}"></div></div><script>
(function () {{
  const draw = () => vegaEmbed("#{name}", {spec}, {{ actions: false, mode: "vega-lite", renderer: "svg" }});
  if (window.vegaEmbed) draw();
  else document.addEventListener("rankzero-vega", draw, {{ once: true }});
}})();
</script>"""


def engine() -> dict[str, str] | None:
    """An output with the scripts, to be shown once beside the charts; None if this checkout does not have them."""
    files = [FOLDER / name for name in SCRIPTS]
    if not all(file.is_file() for file in files):
        return None
    sources = "\n".join(LOADED.format(source=_inside(file.read_text(encoding="utf-8"))) for file in files)
    return {"text/html": ENGINE.format(sources=sources), "text/plain": ""}


def chart(spec: dict[str, Any], alt: str, scripts: bool) -> dict[str, Any]:
    """The output that shows a chart.

    Args:
        spec: the chart.
        alt: one sentence that says what it shows.
        scripts: whether the output of :func:`engine` is shown beside it.
    """
    shown = {MIME: spec, "text/plain": alt}
    if scripts:
        from html import escape

        text = CHART.format(name=f"rz-{uuid4().hex}", alt=escape(alt), spec=_inside(json.dumps(spec)))
        return shown | {"text/html": text}
    return _by_altair(spec) or shown if "google.colab" in sys.modules else shown


def _inside(source: str) -> str:
    """A script, escaped so that nothing in it ends the HTML element around it."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def _by_altair(spec: dict[str, Any]) -> dict[str, Any] | None:
    """The output of altair's renderer; None if altair is not installed."""
    try:
        import altair
    except ImportError:
        return None
    renderer = altair.renderers.get()
    made = renderer(spec) if renderer else {}
    return dict(made[0] if isinstance(made, tuple) else made)
