"""Files that a learner hands in, as tests write them: a notebook of cells, and an archive."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping


def cells(*sources: str) -> bytes:
    """A notebook with a cell for each source."""
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]}).encode()


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of files by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
