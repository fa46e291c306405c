"""How the tests that run kernels are run: without the software driver's optimiser."""

import os

# As `prepare_for_recording` does, for all kernels: it takes longer than all that they run here, and changes no result.
os.environ.setdefault("GALLIVM_PERF", "nopt")
