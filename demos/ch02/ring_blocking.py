"""A ring of blocking calls, simulated and on real ranks: how many rounds it takes, or which ranks are stuck.

python -m demos ring_blocking --ranks 5 --policy parity
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02.blocking_rings import POLICIES, play, ring_programs

BLOCKING = POLICIES[:3]  # the fourth does not block


def _call(call: tuple[str, int] | None) -> str:
    if call is None:
        return "finishes"
    return f"waits in {call[0]} {'to' if call[0] == 'send' else 'from'} {call[1]}"


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(2, 8), default=5)
    options.add_argument("--policy", choices=(*BLOCKING, "all"), default="all", help="the order of the two calls")
    arguments = options.parse_args(argv)
    simulate = part(arguments.code, "ch02.deadlock", "simulate")
    rows, agree = [], True
    for policy in BLOCKING if arguments.policy == "all" else (arguments.policy,):
        programs = ring_programs(policy, arguments.ranks)
        rounds, predicted = simulate(programs)
        observed = play(programs, timeout=0.7 if arguments.quick else 2.0)
        agree &= predicted == observed
        print(f"{policy}: {rounds} round{'s' * (rounds != 1)}, {len(predicted)} of {arguments.ranks} ranks stuck")
        rows += [(policy, r, _call(predicted.get(r)), _call(observed.get(r))) for r in range(arguments.ranks)]
    show(arguments, Table(("policy", "rank", "simulated", "on real ranks"), rows))
    return verdict(agree, "real ranks are stuck in the calls that the simulator names and in no others")


if __name__ == "__main__":
    sys.exit(main())
