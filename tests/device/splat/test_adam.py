"""adam.slang against its NumPy twin, with the correction of the paper and with the sample's."""

import dataclasses

import numpy as np
import pytest

import reference
from helpers.scenes import scene_of
from splatscope.gpu.buffers import download, zeros
from splatscope.gpu.kernel import compile_kernel, submit

N = 20
RATES = (0.2, 0.04, 0.02, 0.01)
RATE_OF_FIELD = np.array([0.2, 0.2, 0.04, 0.04, 0.04, 0.02, 0.02, 0.02, 0.01])[:, None]


@dataclasses.dataclass
class Optimiser:
    device: object
    sample: bool

    def __post_init__(self):
        self.gradient, self.raw, self.first, self.second = (zeros(self.device, 9 * N) for _ in range(4))
        self.update = compile_kernel(self.device, "adam", "updateBlobsMain").bind(
            (9 * N, 1, 1),
            scene=scene_of(8, 8, N),
            derivBuffer=self.gradient,
            blobsBuffer=self.raw,
            firstMoment=self.first,
            secondMoment=self.second,
        )

    def step(self, t, gradient):
        self.gradient.copy_from_numpy(gradient.astype(np.float32).reshape(-1))
        self.update.set(
            adam=dict(rates=list(RATES), beta1=0.9, beta2=0.999, epsilon=1e-8, step=t, sampleCorrection=int(self.sample))
        )
        submit(self.device, [self.update])
        return download(self.raw, np.float32, (9, N))


@pytest.mark.parametrize("sample", [False, True])
def test_twelve_steps(device, sample):
    rng = np.random.default_rng(4)
    optimiser = Optimiser(device, sample)
    raw, first, second = (np.zeros((9, N)) for _ in range(3))
    for t in range(1, 13):
        gradient = rng.normal(size=(9, N)) * 10.0 ** rng.integers(-6, 2, (9, 1))
        got = optimiser.step(t, gradient)
        raw, first, second = reference.adam(raw, first, second, gradient.astype(np.float32), t, RATE_OF_FIELD, sample=sample)
        np.testing.assert_allclose(got, raw, rtol=2e-4, atol=5e-5 * RATE_OF_FIELD.max())


def step_sizes(device, sample, steps):
    """The step of a position under a constant gradient, in units of its rate."""
    optimiser, last, sizes = Optimiser(device, sample), 0.0, []
    for t in range(1, steps + 1):
        now = float(optimiser.step(t, np.full((9, N), 0.01))[0, 0])
        sizes.append((last - now) / RATES[0])
        last = now
    return np.array(sizes)


def test_a_constant_gradient_steps_by_the_rate(device):
    np.testing.assert_allclose(step_sizes(device, False, 40), 1.0, atol=2e-3)


def test_the_shipped_correction_is_right_at_the_first_step_only(device):
    """Claim 3: 1.00 η at t = 1, 2.08 η at t = 12."""
    sizes = step_sizes(device, True, 12)
    assert sizes[0] == pytest.approx(1.0, abs=1e-3)
    assert sizes[11] == pytest.approx(2.08, abs=5e-3)
