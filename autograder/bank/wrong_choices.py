"""Wrong versions of ``choose_layout``. Each is complete in itself, and right in everything else."""

# They carry no types: they are code as learners write it.
# mypy: disable-error-code="var-annotated"

from __future__ import annotations
