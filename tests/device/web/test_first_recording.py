"""The recording with which the debugger opens is of the example as the page runs it now."""

import numpy as np

from splatscope.gpu.device import open_device
from splatscope.recordings.untrusted import open_file
from splatscope.tracing.interface import read_interface
from splatscope.web.debugger.first_recording import FILE, first_job, first_kernel


def test_it_is_current():
    job = first_job(read_interface(open_device(), first_kernel()))
    shipped = open_file(FILE.name, FILE.read_bytes())
    anew = "changed since: make it anew with tools/make_shipped_recordings.py"
    assert shipped.job.source == job.source, anew
    assert (shipped.job.entry, shipped.job.groups, shipped.job.group) == (job.entry, job.groups, job.group), anew
    assert shipped.job.inputs.keys() == job.inputs.keys(), anew
    for name, given in job.inputs.items():
        np.testing.assert_array_equal(shipped.job.inputs[name], given.view(shipped.job.inputs[name].dtype), anew)
    assert shipped.recording.same
    assert not shipped.findings()
