"""What Sphinx is told, read from ``_config.yml``: what Jupyter Book 1 makes of that file, without Jupyter Book.

The file keeps Jupyter Book's form, and a test compares the two. A key that is not translated here is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

#: What Jupyter Book sets whatever the file says.
ALWAYS: dict[str, Any] = {
    "html_theme": "sphinx_book_theme",
    "html_sourcelink_suffix": "",
    "numfig": True,
    "pygments_style": "sphinx",
    "suppress_warnings": ["myst.domains"],
    "myst_url_schemes": ["mailto", "http", "https"],
    "nb_execution_allow_errors": False,
}
THEME: dict[str, Any] = {"search_bar_text": "Search this book..."}
#: What is never a page.
NEVER = ("**.ipynb_checkpoints", ".DS_Store", "Thumbs.db", "_build")
#: A key of the file, with its section -> the setting of Sphinx or of an extension.
SETTINGS = {
    "title": "html_title",
    "author": "author",
    "copyright": "copyright",
    "logo": "html_logo",
    "only_build_toc_files": "external_toc_exclude_missing",
    "exclude_patterns": "exclude_patterns",
    "execute.execute_notebooks": "nb_execution_mode",
    "execute.run_in_temp": "nb_execution_in_temp",
    "execute.timeout": "nb_execution_timeout",
    "execute.stderr_output": "nb_output_stderr",
    "html.baseurl": "html_baseurl",
    "html.favicon": "html_favicon",
    "html.use_multitoc_numbering": "use_multitoc_numbering",
}
#: The same for options of the theme.
OPTIONS = {
    "repository.url": "repository_url",
    "repository.branch": "repository_branch",
    "repository.path_to_book": "path_to_docs",
    "launch_buttons": "launch_buttons",
    "html.home_page_in_navbar": "home_page_in_toc",
    "html.use_repository_button": "use_repository_button",
}
#: What only the command line of Jupyter Book reads: a key of the file, and its extension, which knows nothing else.
ITS_OWN = ("latex.use_jupyterbook_latex",)
ITS_EXTENSION = "jupyter_book"


def _keys(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of the file with their sections, and their values; ``sphinx`` is not among them."""
    for name, value in config.items():
        if name in SETTINGS or name in OPTIONS:
            yield name, value
        elif name != "sphinx":
            yield from ((f"{name}.{key}", one) for key, one in value.items())


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of Sphinx for what a file says.

    Raises:
        ValueError: a key is not translated; the message names it.
    """
    result, options = dict(ALWAYS), dict(THEME)
    for key, value in _keys(config):
        if key in SETTINGS:
            result[SETTINGS[key]] = value
        elif key in OPTIONS:
            options[OPTIONS[key]] = value
        elif key not in ITS_OWN:
            raise ValueError(f"_config.yml: {key} is not translated for Sphinx (tools/sphinx_settings.py)")
    result["html_theme_options"] = options
    result["exclude_patterns"] = sorted({*NEVER, *result.get("exclude_patterns", ())})
    result |= config["sphinx"]["config"]
    result["extensions"] = [name for name in result["extensions"] if name != ITS_EXTENSION]
    return result


def read(file: Path) -> dict[str, Any]:
    """The settings of Sphinx for a ``_config.yml``."""
    return settings(yaml.safe_load(file.read_text(encoding="utf-8")))
