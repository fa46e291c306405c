"""How long tests wait for what has to happen, and how much longer that takes on a machine that others use."""

import os

PATIENCE = 240  # seconds; a test may take 600


def slowdown() -> float:
    """Return how many times longer work takes than on an idle machine: how many processes each processor has."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
