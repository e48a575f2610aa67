"""What pip installs, and whether this kernel has what a page needs, in one sentence if it has not.

Standard library only.
"""

from __future__ import annotations

from importlib.util import find_spec

import rankzero

#: What every page needs: the modules of ``dependencies`` in ``pyproject.toml``.
CORE = ("torch", "cloudpickle", "ipywidgets", "jinja2", "matplotlib", "numpy", "platformdirs")

#: What a release's workflow hands out (``.github/workflows/release.yml``).
WHEEL = "{url}/releases/download/v{version}/rankzero-{version}-py3-none-any.whl"


def source(url: str, version: str = rankzero.__version__) -> str:
    """What pip installs from the repository at ``url``: the wheel of a release, between releases the repository."""
    return f"git+{url}" if ".dev" in version else WHEEL.format(url=url, version=version)


class Missing(RuntimeError):
    """This Python lacks packages of the course. A notebook shows the sentence without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def require(*modules: str) -> None:
    """Raise an error if the core or ``modules`` cannot be imported here, or if torch is too old.

    Raises:
        Missing: there is no such module; the message names all that are missing and says what to do.
        RuntimeError: the installed torch is too old.
    """
    if missing := [name for name in (*CORE, *modules) if find_spec(name) is None]:
        raise Missing(
            f"this kernel has no {' and no '.join(missing)}: choose the kernel Rank Zero, "
            "which README.md of the course says how to make"
        )
    from rankzero.world import torch_version

    torch_version.require()
