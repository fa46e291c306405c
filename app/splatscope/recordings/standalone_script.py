"""Write a dispatch as a Python script that contains the kernel, its imports and its inputs, and needs only slangpy and NumPy."""

import base64
import zlib

import numpy as np

from splatscope.gpu.asserts import without_asserts
from splatscope.gpu.reflection import Interface
from splatscope.gpu.slang_types import SCALARS
from splatscope.tracing.job import KernelJob

MOST_SHOWN = 64  # numbers in an array that is written out; longer arrays are compressed

_HEAD = '''"""Dispatch {entry} once over {groups} workgroups, as in Splatscope's debugger. Needs only slangpy and NumPy.

python {file} prints every buffer afterwards; python {file} OUT.npz also saves them.
"""

import base64
import sys
import zlib

import numpy as np
import slangpy as spy

SOURCES = {{  # by module, each after those it imports; the last is the kernel's own
{sources}}}
ENTRY = {entry!r}
GROUPS = {groups_tuple}


def packed(text):
    """Return the bytes that `text` encodes."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)


BUFFERS = {{  # name: (bytes per element, contents)
{buffers}}}
UNIFORMS = {{
{uniforms}}}
'''

_BODY = '''

def main():
    device = spy.Device(type=spy.DeviceType.{backend})
    print(device.info.adapter_name)
    session = device.create_slang_session()
    modules = [session.load_module_from_source(name, text) for name, text in SOURCES.items()]
    program = session.link_program(modules, [modules[-1].entry_point(ENTRY)])
    pipeline = device.create_compute_pipeline(program)
    root = device.create_root_shader_object(program)

    usage = spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access
    buffers = {{}}
    for name, (stride, data) in BUFFERS.items():
        data = np.frombuffer(data.tobytes() + bytes(-data.nbytes % 4), np.uint32).copy()
        buffers[name] = device.create_buffer(size=data.nbytes, struct_size=stride, usage=usage)
        buffers[name].copy_from_numpy(data)
        cursor_of(root, name).write(buffers[name])
    for name, value in UNIFORMS.items():
        cursor_of(root, name).write(value)

    encoder = device.create_command_encoder()
    with encoder.begin_compute_pass() as compute_pass:
        compute_pass.bind_pipeline(pipeline, root)
        compute_pass.dispatch_compute(spy.uint3(*GROUPS))
    device.submit_command_buffer(encoder.finish())
    device.wait()

    outputs = {{name: buffer.to_numpy().view(BUFFERS[name][1].dtype) for name, buffer in buffers.items()}}
    for name, values in outputs.items():
        print(name, values)
    if len(sys.argv) > 1:
        np.savez(sys.argv[1], **outputs)


def cursor_of(root, name):
    """Return the cursor of a global or of an entry point's parameter; dots separate members of structs."""
    cursor, first, *rest = spy.ShaderCursor(root), *name.split(".")
    cursor = cursor[first] if cursor.has_field(first) else cursor.find_entry_point(0)[first]
    for member in rest:
        cursor = cursor[member] if cursor.has_field(member) else cursor.dereference()[member]
    return cursor


if __name__ == "__main__":
    main()
'''


def standalone(job: KernelJob, interface: Interface, backend: str = "vulkan", file: str = "kernel.py") -> str:
    """Return the script. It compiles the job's kernel without the recorder and binds the same bytes.

    Args:
        job: The dispatch.
        interface: The kernel's interface.
        backend: The backend of the device, one of `device.BACKENDS`.
        file: The script's name.

    Raises:
        KeyError: The job has no input for a parameter of the kernel.
    """
    modules = [module for module in job.program().modules if not module.included]
    texts = {module.name or "kernel": without_asserts(module.original) for module in modules}
    sources = "".join(f"    {name!r}: {_text(text)},\n" for name, text in texts.items())
    strides = {name: layout.stride if layout.shape == "structured_buffer" else 0 for name, layout in interface.buffers.items()}
    arrays = {name: _array(job.inputs[name], layout.parts) for name, layout in interface.buffers.items()}
    buffers = "".join(f"    {name!r}: ({strides[name]}, {arrays[name]}),\n" for name in arrays)
    uniforms = "".join(f"    {name!r}: {_uniform(job.inputs[name], kind)},\n" for name, kind in interface.uniforms.items())
    entry = job.entry or interface.entries[0]
    words = " × ".join(map(str, job.groups))
    head = _HEAD.format(
        entry=entry, groups=words, groups_tuple=job.groups, file=file, sources=sources, buffers=buffers, uniforms=uniforms
    )
    return head + _BODY.format(backend=backend)


def _text(source: str) -> str:
    """Return a source as a Python literal, a raw string if possible."""
    plain = '"""' not in source and not source.endswith(('"', "\\")) and source.replace("\n", "").replace("\t", "").isprintable()
    return f'r"""{source}"""' if plain else repr(source)


def _array(data: np.ndarray, parts: tuple[tuple[str, str, int], ...]) -> str:
    raw = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
    scalars = {scalar for _, scalar, _ in parts}
    scalar = SCALARS.get(scalars.pop()) if len(scalars) == 1 else None
    dtype = scalar.dtype.name if scalar else "uint32"
    if raw.nbytes % np.dtype(dtype).itemsize:
        dtype = "uint8"
    values = raw.view(dtype)
    if not raw.any():
        return f"np.zeros({len(values)}, np.{dtype})"
    numbers = values.tolist()
    if len(numbers) <= MOST_SHOWN and all(
        np.array([n], dtype).tobytes() == values[i : i + 1].tobytes() for i, n in enumerate(numbers)
    ):
        return f"np.array([{', '.join(_number(n) for n in numbers)}], np.{dtype})"
    return f'packed("{base64.b85encode(zlib.compress(raw.tobytes(), 9)).decode()}").view(np.{dtype})'


def _number(value: float) -> str:
    text = repr(value)
    return (
        text
        if text.strip("-").replace(".", "").replace("e", "").replace("+", "").replace("-", "").isdigit()
        else f'float("{text}")'
    )


def _uniform(value: np.ndarray, kind: str) -> str:
    if kind.startswith("bool"):
        value = value.astype(bool)
    numbers = value.tolist()
    return f"[{', '.join(map(_plain, numbers))}]" if len(numbers) > 1 else _plain(numbers[0])


def _plain(value: float | bool) -> str:
    return str(value) if isinstance(value, bool) else _number(value)
