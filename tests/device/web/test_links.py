"""Each section's kernel opens in the debugger with the inputs that it has there."""

import base64
import json
import zlib

import numpy as np
import pytest

from splatscope.gpu.device import open_device
from splatscope.gpu.kernel import declaration
from splatscope.services.drafts.inputs import inputs_of
from splatscope.textbook.contents import find_lesson, lesson_names
from splatscope.tracing.interface import read_interface
from splatscope.tracing.job import KernelJob
from splatscope.web.debugger.link import debugger_link


@pytest.mark.parametrize("name", lesson_names())
def test_a_sections_kernel_opens_in_the_debugger_with_its_inputs(name):
    job = find_lesson(name)().job()
    source = "".join(declaration(name, value) for name, value in job.constants.items()) + job.source
    try:
        address = debugger_link(source, job.entry, job.groups, job.inputs, job.group)
    except ValueError:
        return  # too long for an address: the page then has no such button
    packed = address.partition("#kernel=")[2]
    draft = json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS))
    found = inputs_of(read_interface(open_device(), KernelJob(draft["source"], job.file, draft["entry"])), draft["inputs"])
    for parameter in job.inputs.keys() & found.keys():
        raw, own = (
            np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8) for array in (found[parameter], job.inputs[parameter])
        )
        assert np.array_equal(raw[: len(own)], own), parameter
        assert not raw[len(own) :].any(), parameter
    assert job.inputs.keys() & found.keys()
