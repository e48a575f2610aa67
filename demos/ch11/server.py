"""The small model behind the protocol of OpenAI's API, until Ctrl+C; a second Ctrl+C does not wait for answers.

python -m demos server --port 8000 --slots 4 --model tiny --trace events.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import demo, show, verdict
from demos.serving import asked_for, served


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options, asked = asked_for(__doc__, argv)
    table, right = served(options, asked)
    show(asked, table)
    return verdict(right, "every request was answered, and every block is free")


if __name__ == "__main__":
    sys.exit(main())
