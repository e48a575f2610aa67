"""An EngineCore, the milestone of Part III, behind the protocol of OpenAI's API, until Ctrl+C.

python -m demos own_engine --code labs --port 8000
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import demo, show, verdict
from demos.serving import asked_for, served


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options, asked = asked_for(__doc__, argv)
    table, right = served(options, asked, core=True)
    show(asked, table)
    return verdict(right, "every request was answered, and none holds a block")


if __name__ == "__main__":
    sys.exit(main())
