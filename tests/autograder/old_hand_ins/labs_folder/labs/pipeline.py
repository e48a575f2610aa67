from __future__ import annotations

def bubble_fraction(stages, microbatches, virtual_stages=1):
    for name, value in (("stages", stages), ("microbatches", microbatches), ("virtual_stages", virtual_stages)):
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    return (stages - 1) / (virtual_stages * microbatches)
