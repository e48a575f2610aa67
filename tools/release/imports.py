"""Import every module of some packages: ``python imports.py rankzero solutions``; standard library only.

It runs in an environment of a release. A module that needs torch where there is none is passed over, any other that
fails is named.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys


def attempt(name: str) -> str | None:
    """Import a module; what went wrong, or None."""
    try:
        importlib.import_module(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(packages: list[str]) -> int:
    """Import all, and say how many there are; exit status 1 if one failed for any reason but torch."""
    names = [*packages]
    for package in packages:
        found = pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}.", onerror=lambda name: None
        )
        names += [module.name for module in found if not module.name.endswith("__main__")]
    wrong = {name: said for name in names if (said := attempt(name))}
    bare = [name for name, said in wrong.items() if "this environment has no torch" in said]
    failed = [f"{name}: {said}" for name, said in wrong.items() if name not in bare]
    print("\n".join(failed), file=sys.stderr)
    print(f"{len(names) - len(wrong)} modules imported, {len(bare)} need torch")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
