"""What is said when the device refuses a linked program."""

from types import SimpleNamespace

import pytest

from splatscope.gpu.kernel import CompileError
from splatscope.tracing.instrument.build import MAIN_ON_CUDA, NO_PIPELINE, pipeline_of

FAILED = "createComputePipeline failed with error: (SLANG_FAIL)\n\nRHI messages:\n{}\n/src/pipeline.cpp:58"
RENAMED = "slang: warning[E40100]: entry point 'main' has been renamed to 'main_0'\n\ndriver: cuModuleGetFunction(…) call failed"


@pytest.mark.parametrize(("messages", "words"), [(RENAMED, MAIN_ON_CUDA), ("driver: call failed", NO_PIPELINE)])
def test_a_refusal_says_what_to_do(messages, words):
    def refuse(linked):
        raise RuntimeError(FAILED.format(messages))

    with pytest.raises(CompileError) as refused:
        pipeline_of(SimpleNamespace(create_compute_pipeline=refuse), None)
    assert str(refused.value) == words
