"""Structured buffers made from NumPy arrays and read back into them."""

import numpy as np
import slangpy as spy

USAGE = (
    spy.BufferUsage.unordered_access
    | spy.BufferUsage.shader_resource
    | spy.BufferUsage.copy_destination
    | spy.BufferUsage.copy_source
)


def upload(device: spy.Device, array: np.ndarray) -> spy.Buffer:
    """A buffer holding `array`, whose last axis is one element when it has more than one axis."""
    array = np.ascontiguousarray(array)
    stride = array.itemsize * (array.shape[-1] if array.ndim > 1 else 1)
    buffer = device.create_buffer(element_count=array.nbytes // stride, struct_size=stride, usage=USAGE)
    buffer.copy_from_numpy(array.reshape(-1))
    return buffer


def zeros(device: spy.Device, shape: int | tuple[int, ...], dtype: type = np.float32) -> spy.Buffer:
    """A buffer of zeros, shaped as `upload` would shape it."""
    return upload(device, np.zeros(shape, dtype))


def download(buffer: spy.Buffer, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Wait for the device and copy a buffer's contents out."""
    return buffer.to_numpy().view(dtype)[: int(np.prod(shape))].reshape(shape).copy()
