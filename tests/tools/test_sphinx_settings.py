"""The book's settings are those of Jupyter Book for the same file."""

from __future__ import annotations

import pytest
import yaml

from tools import sphinx_settings
from tools.common import ROOT

#: What Jupyter Book sets beyond: for its own extension, for extensions that the book does not use, for LaTeX, and
#: values that are Sphinx's own.
BEYOND = {
    *("use_jupyterbook_latex", "comments_config", "latex_engine"),
    *("nb_execution_cache_path", "nb_execution_excludepatterns"),
}


def test_the_same_settings_as_jupyter_book():
    """Kills a translation that drifts from the form of the file: ``jupyter-book build`` makes the same book."""
    config = pytest.importorskip("jupyter_book.config")
    theirs, _ = config.get_final_config(
        user_yaml=ROOT / "_config.yml", cli_config={"latex_individualpages": False}, sourcedir=ROOT
    )
    ours = sphinx_settings.read(ROOT / "_config.yml")
    assert theirs["extensions"].pop(theirs["extensions"].index("jupyter_book"))
    options, own = theirs.pop("html_theme_options"), ours.pop("html_theme_options")
    assert ours == {name: value for name, value in theirs.items() if name not in BEYOND}
    buttons = options.pop("launch_buttons")
    assert own.pop("launch_buttons").items() <= buttons.items()
    assert own.items() <= options.items()
    beyond = [value for name, value in options.items() if name not in own and name != "analytics"]
    assert not any(beyond), "an option that Jupyter Book turns on"


def test_a_key_that_is_not_translated_is_named():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["html"]["announcement"] = "New."
    with pytest.raises(ValueError, match=r"html\.announcement is not translated"):
        sphinx_settings.settings(config)
