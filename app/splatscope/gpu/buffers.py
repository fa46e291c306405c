"""Copy NumPy arrays to structured buffers and back."""

import numpy as np
import slangpy as spy

USAGE = (
    spy.BufferUsage.unordered_access
    | spy.BufferUsage.shader_resource
    | spy.BufferUsage.copy_destination
    | spy.BufferUsage.copy_source
)


def upload(device: spy.Device, array: np.ndarray) -> spy.Buffer:
    """Return a buffer that holds `array`. The last axis of an array with two or more axes becomes one element."""
    array = np.ascontiguousarray(array)
    stride = array.itemsize * (array.shape[-1] if array.ndim > 1 else 1)
    buffer = device.create_buffer(element_count=array.nbytes // stride, struct_size=stride, usage=USAGE)
    buffer.copy_from_numpy(array.reshape(-1))
    return buffer


def zeros(device: spy.Device, shape: int | tuple[int, ...], dtype: type = np.float32) -> spy.Buffer:
    """Return a buffer that `upload` would make of an array of zeros."""
    return upload(device, np.zeros(shape, dtype))


def download(buffer: spy.Buffer, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Wait for the device and return the start of a buffer's contents, as an array of this dtype and shape."""
    return buffer.to_numpy().view(dtype)[: int(np.prod(shape))].reshape(shape).copy()
