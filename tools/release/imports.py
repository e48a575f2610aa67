"""Import every module of some packages: ``python imports.py rankzero solutions --without gymnasium openai``.

Standard library only: it runs in an environment of a release. A module is passed over that needs torch where there is
none, or one of the packages which only some pages install; any other that fails is named.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys


def attempt(name: str) -> Exception | None:
    """Import a module; what went wrong, or None."""
    try:
        importlib.import_module(name)
    except Exception as error:
        return error
    return None


def main(packages: list[str], without: list[str]) -> int:
    """Import all, and say how many there are; exit status 1 if one failed for any other reason."""
    names = [*packages]
    for package in packages:
        path = importlib.import_module(package).__path__
        found = pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)
        names += [module.name for module in found if not module.name.endswith("__main__")]
    wrong = {name: error for name in names if (error := attempt(name))}
    torch = [name for name, error in wrong.items() if "this environment has no torch" in str(error)]
    extra = [name for name, error in wrong.items() if getattr(error, "name", None) in without]
    failed = [name for name in wrong if name not in (*torch, *extra)]
    print("\n".join(f"{name}: {type(wrong[name]).__name__}: {wrong[name]}" for name in failed), file=sys.stderr)
    print(f"{len(names) - len(wrong)} modules imported, {len(torch)} need torch, {len(extra)} an extra")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    sys.exit(main(options.packages, options.without))
