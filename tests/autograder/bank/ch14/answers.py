"""The answers of the chapter's questions, worked out by hand, and to what part they are exact."""

from __future__ import annotations

EXACT = 1e-5

ANSWERS = {
    "14-assignment": (33.554432, 16.777216),
    "14-mode-switch": (52.5,),
    "14-hybrid-saving": (2.5,),
    "14-bandwidth": (14, 1),
    "14-disk": (40,),
    "14-chain": (3.10625,),
    "14-bucket": (2.80444,),
    "14-iteration": (52.8, 5.30303),
}
