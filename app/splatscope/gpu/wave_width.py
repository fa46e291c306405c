"""Run kernels on waves of other widths in the same process, as the software driver can.

Mesa's driver reads the width from an environment variable whenever it compiles a kernel. The number that it then tells the kernel
is the one that it read for the kernel before. So after each change two probes run: the first makes the driver read the variable,
and the second shows whether waves are as wide as requested and as they say. A driver that does otherwise has one width.
"""

import contextlib
import itertools
import os
from collections.abc import Generator

import numpy as np
import slangpy as spy

from splatscope.gpu.buffers import USAGE

LANES = (4, 8, 16)  # lanes per wave that the software driver supports; with more it crashes
WIDTH = "LP_NATIVE_VECTOR_WIDTH"  # the variable from which it reads its width in bits, of which a lane has 32

_THREADS = 64
# The driver keeps compiled code by its text, and not by its width: a number makes each probe's text new.
_PROBE = """RWStructuredBuffer<uint> lanes;
[shader("compute")] [numthreads(64, 1, 1)]
void main(uint thread : SV_GroupIndex)
{
    lanes[thread] = WaveGetLaneCount() ^ NUMBERu;
    lanes[64 + thread] = WaveActiveCountBits(true);
}
"""
_numbers = itertools.count(int.from_bytes(os.urandom(3)))
_changed: dict[spy.Device, int] = {}  # the lanes of devices that have another width at present


def lanes_of(device: spy.Device) -> int:
    """Return how many lanes the waves have of a kernel that the device compiles now; the smallest if it has several sizes."""
    return _changed.get(device) or device.info.limits.min_wave_size


@contextlib.contextmanager
def waves_of(device: spy.Device, lanes: int) -> Generator[bool]:
    """Give the waves of a software device so many lanes, one of `LANES`, and yield whether the driver has done so.

    A kernel keeps the width for which it was first dispatched. The driver keeps code on disk that is equal but for the width, so
    such a kernel must make use of its number of lanes. It must not use textures or texel buffers: the driver compiles what accesses
    these once, for one width.

    Raises:
        RuntimeError: The device did not return to its own width.
    """
    own, setting = lanes_of(device), os.environ.get(WIDTH)
    _changed[device] = lanes
    try:
        os.environ[WIDTH] = str(32 * lanes)
        yield _has_settled(device, lanes)
    finally:
        os.environ.pop(WIDTH)
        if setting is not None:
            os.environ[WIDTH] = setting
        del _changed[device]
        if not _has_settled(device, own):
            raise RuntimeError(f"The driver did not return to waves of {own} lanes: end this process.")


def _has_settled(device: spy.Device, lanes: int) -> bool:
    """Let the driver read the variable, and return whether waves have so many lanes."""
    return [_probe(device), _probe(device)][1] == {lanes}


def _probe(device: spy.Device) -> set[int]:
    """Return the widths that waves say they have, and those that they have."""
    number = next(_numbers) % 2**24
    session = device.create_slang_session()  # so that the probe's module is forgotten
    module = session.load_module_from_source("wave_width", _PROBE.replace("NUMBER", str(number)))
    kernel = device.create_compute_kernel(session.link_program([module], [module.entry_point("main")]))
    lanes = device.create_buffer(size=8 * _THREADS, struct_size=4, usage=USAGE)
    kernel.dispatch(spy.uint3(_THREADS, 1, 1), {"lanes": lanes})
    told, counted = lanes.to_numpy().view(np.uint32).reshape(2, _THREADS)
    return {*(told ^ number).tolist(), *counted.tolist()}
