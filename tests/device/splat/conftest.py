"""A device for the whole run, and a way to call any function of shaders/ on arrays."""

import numpy as np
import pytest

from splatscope.gpu.buffers import download, upload, zeros
from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import compile_kernel, submit


@pytest.fixture(scope="session")
def device():
    return open_device()


@pytest.fixture(scope="session")
def launch(device):
    """`launch(source, threads, outputs, constants, **inputs)`: run entry point `test` and return its output arrays.

    `outputs` maps names to (shape, dtype); arrays among the inputs become buffers, all else is a uniform.
    """

    def run(source, threads, outputs, constants=None, **inputs):
        kernel = compile_kernel(device, "test", "test", constants, source)
        made = {name: zeros(device, shape, dtype) for name, (shape, dtype) in outputs.items()}
        given = {name: upload(device, v) if isinstance(v, np.ndarray) else v for name, v in inputs.items()}
        threads = (*np.atleast_1d(threads), 1, 1)[:3]
        bound = kernel.bind(tuple(int(t) for t in threads), **given, **made)
        submit(device, [bound])
        results = []
        for name, (shape, dtype) in outputs.items():
            results.append(download(made[name], dtype, tuple(np.atleast_1d(shape))))
        return results[0] if len(results) == 1 else tuple(results)

    return run
