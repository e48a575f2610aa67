"""Words of each claim, and what its correction must show, worked out here in plain arithmetic."""

from __future__ import annotations

import math

SHOWN = {
    "3.36.": [f"{(1 - 0.8**6) / 0.2:.5f}", f"{(1 - 0.8**5) / 0.2:.5f} belongs to k = 4"],
    "one draft pass": ["Five passes", "make 4 tokens", "or EAGLE's head", "Medusa's heads guess several"],
    "70 %": [f"{(1 - 0.7**6) / 0.3 - 1:.2f} on average", f"{(1 - 0.7**6) / 0.3:.2f} tokens", f"{70 * 0.7**4:.1f} %"],
    "3.4 times": [f"{(1 - 0.8**6) / 0.2 / 1.25:.2f} times", "5 %"],
    "10 to 50": [f"{6 / 51:.2f}"],
    "one draft call": [f"{(1 - 0.8**6) / 0.2 / 1.5:.2f} times", f"not {(1 - 0.8**6) / 0.2 / 1.1:.2f}"],
    "perfect draft": [f"{9 * 50 / 130:.2f}, not {8 * 50 / 130:.2f}"],
    "Below 50 %": [f"{1.5 / 1.2:.2f} times", "best length is 2", f"{1.24 / 1.04:.2f} times"],
    "compute-bound": [f"c = 0.05 give {(1 - 0.8**5) / 0.2 / (0.2 + 256 * 5 * 3.35 / 989.4):.2f} times", "length is 0"],
    "at random": ["(0.40, 0.34, 0.26, 0.00)", "off by 0.10"],
    "additional token": ["off by 0", f"{(1 - 0.8**5) / 0.2:.2f} of a pass", f"place of {(1 - 0.8**6) / 0.2:.2f}"],
    "Mask logits": [f"{0 * -math.inf}: every allowed token"],
    "guarantees valid JSON": ["with the budget 0.0%"],
    "balanced brackets": ["json.loads rejects"],
    "keeps the model's distribution": [f"valid texts {0.9 * 0.01 / (0.9 * 0.01 + 0.1 * 0.9):.1%}"],
}
