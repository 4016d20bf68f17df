"""Random choices that hypothesis can shrink, and how many examples a test gets.

Without INTERLACE_PROPERTY_EXAMPLES the examples are the same in each run and few (fewer still under sanitizers), and a
failure is reported as found. With it each test does that many, others in each run, and shrinks what fails.
"""

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

SANITIZED = os.environ.get("INTERLACE_SANITIZED") == "1"
WANTED = int(os.environ.get("INTERLACE_PROPERTY_EXAMPLES", "0"))


def examples(count, scale=1.0):
    """Settings of a test that does `count` examples; `scale` is its share of INTERLACE_PROPERTY_EXAMPLES."""
    usual = max(1, count // 4) if SANITIZED else count
    return settings(
        max_examples=max(1, int(WANTED * scale)) if WANTED else usual,
        derandomize=not WANTED,
        database=None,
        deadline=None,
        print_blob=True,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if WANTED else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


class Chance:
    """What is drawn is small and simple first, so that a shrunk example is."""

    def __init__(self, data):
        self.data = data

    def number(self, low, high):
        return self.data.draw(st.integers(low, high))

    def one_in(self, count):
        return self.number(0, count - 1) == count - 1

    def one(self, choices):
        choices = list(choices)
        return choices[self.number(0, len(choices) - 1)]

    def some(self, choices, low=0, high=None):
        """A part of the choices in their order."""
        choices = list(choices)
        high = len(choices) if high is None else min(high, len(choices))
        wanted = self.number(low, max(low, high))
        left = list(range(len(choices)))
        taken = [left.pop(self.number(0, len(left) - 1)) for _ in range(min(wanted, len(left)))]
        return [choices[i] for i in sorted(taken)]

    def seed(self):
        return self.number(0, 2**32 - 1)
