"""The five variables by which processes find each other, as each process sees them: spawned or under torchrun.

python -m demos launch_environment --launcher torchrun
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch01.launching import LAUNCHERS, VARIABLES, launched


def reading(rendezvous: Callable[[Mapping[str, str]], object], seen: Mapping[str, str | None]) -> str:
    """What ``rendezvous`` makes of the variables: ``accepted``, or the reason for refusing them."""
    try:
        rendezvous({name: value for name, value in seen.items() if value is not None})
    except ValueError as error:
        return f"refused: {str(error).rpartition('; ')[2]}"
    return "accepted"


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--launcher", choices=(*LAUNCHERS, "both"), default="both", help="--quick leaves torchrun out")
    options.add_argument("--ranks", type=whole(1, 8), default=2)
    arguments = options.parse_args(argv)
    rendezvous = part(arguments.code, "ch01.ranks", "rendezvous")
    launchers = LAUNCHERS if arguments.launcher == "both" else (arguments.launcher,)
    rows, right = [], True
    for launcher in launchers[:1] if arguments.quick else launchers:
        for number, seen in enumerate(launched(launcher, arguments.ranks)):
            read = reading(rendezvous, seen)
            rows.append((launcher, str(number), *(seen[name] or "not set" for name in VARIABLES), read))
            right &= read == "accepted" if launcher == "torchrun" else not any(seen.values()) and read != "accepted"
    show(arguments, Table(("launcher", "process", *VARIABLES, "rendezvous"), rows))
    return verdict(right, "spawned processes see none of the five variables, and those under torchrun see all of them")


if __name__ == "__main__":
    sys.exit(main())
