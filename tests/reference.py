"""The kernels' functions in NumPy, float64, as a reference for tests. No page and no training uses them.

Arrays broadcast: `pixel`, `state` and `layer` are (…, 4), raw values (…, 9, N). Formulas: alpha blending after Porter and Duff
(1984), the splat of a Gaussian after Kerbl et al. (2023), Adam after Kingma and Ba (2015).
"""

from dataclasses import dataclass

import numpy as np

PADDING = 0xFFFFFFFF  # of a list that is sorted
OPAQUE = 1.0 / 255.0
BOX_SIGMAS = 4.0
MIN_SIZE = 0.3


def pre_mult(straight: np.ndarray) -> np.ndarray:
    return np.concatenate([straight[..., :3] * straight[..., 3:], straight[..., 3:]], axis=-1)


def alpha_blend(pixel: np.ndarray, gval: np.ndarray) -> np.ndarray:
    layer = pre_mult(gval)
    color = pixel[..., :3] + pixel[..., 3:] * layer[..., :3]
    return np.concatenate([color, pixel[..., 3:] * (1 - layer[..., 3:])], axis=-1)


def undo_alpha_blend(pixel: np.ndarray, gval: np.ndarray) -> np.ndarray:
    layer = pre_mult(gval)
    before = pixel[..., 3:] / (1 - layer[..., 3:])
    return np.concatenate([pixel[..., :3] - before * layer[..., :3], before], axis=-1)


def transform_pixel_state(value: np.ndarray, count: np.ndarray, gval: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    opaque = value[..., 3] < OPAQUE
    return np.where(opaque[..., None], value, alpha_blend(value, gval)), np.where(opaque, count, count + 1)


def undo_pixel_state(value: np.ndarray, count: np.ndarray, index: np.ndarray, gval: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    skipped = index > count
    return np.where(skipped[..., None], value, undo_alpha_blend(value, gval)), np.where(skipped, count, count - 1)


@dataclass
class Gaussians:
    """centre (…, N, 2) pixels, conic (…, N, 3) 1/pixels², colour (…, N, 3), opacity (…, N)."""

    center: np.ndarray
    conic: np.ndarray
    color: np.ndarray
    opacity: np.ndarray


def ease(x: np.ndarray) -> np.ndarray:
    t = np.clip(x, 0.0, 1.0)
    return t * t * (3 - 2 * t)


def load_direct(raw: np.ndarray) -> Gaussians:
    r = np.moveaxis(raw, -2, 0)
    precision_x, precision_y = ((MIN_SIZE + np.exp(log_size)) ** -2.0 for log_size in (r[2], r[3]))
    c, s = np.cos(r[4]), np.sin(r[4])
    conic = np.stack(
        [c * c * precision_x + s * s * precision_y, c * s * (precision_x - precision_y), s * s * precision_x + c * c * precision_y],
        axis=-1,
    )
    return Gaussians(np.stack([r[0], r[1]], -1), conic, np.stack([r[5], r[6], r[7]], -1), 1 / (1 + np.exp(-r[8])))


def load_sample(raw: np.ndarray, width: int, height: int, scale: float) -> Gaussians:
    r = np.moveaxis(raw, -2, 0)
    xx, yy = ease(0.8 * r[2]) + 0.005, ease(0.8 * r[3]) + 0.005
    xy = 1.65 * (ease(0.6 * r[4]) - 0.5) * np.sqrt(xx * yy)
    covariance = np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1)
    size = np.array([width, height], np.float64)
    inverse = np.linalg.inv(scale * covariance * np.outer(size, size))
    conic = np.stack([inverse[..., 0, 0], inverse[..., 0, 1], inverse[..., 1, 1]], -1)
    color = np.stack([ease(0.8 * r[f]) for f in (5, 6, 7)], -1)
    return Gaussians(size * np.stack([ease(r[0]), ease(r[1])], -1), conic, color, ease(0.9 * r[8] + 0.1))


def evaluate(g: Gaussians, blob: int, pixels: np.ndarray, max_weight: float = 0.99) -> np.ndarray:
    """Straight colour and alpha (…, P, 4) of Gaussian `blob` at `pixels` (P, 2)."""
    d = pixels - g.center[..., blob, None, :]
    xx, xy, yy = (g.conic[..., blob, None, k] for k in range(3))
    distance2 = xx * d[..., 0] ** 2 + 2 * xy * d[..., 0] * d[..., 1] + yy * d[..., 1] ** 2
    weight = np.minimum(max_weight, g.opacity[..., blob, None] * np.exp(-0.5 * distance2))
    color = np.broadcast_to(g.color[..., blob, None, :], (*weight.shape, 3))
    return np.concatenate([color, weight[..., None]], axis=-1)


@dataclass
class Boxes:
    """center (…, 2), axis (…, 2), half_size (…, 2)."""

    center: np.ndarray
    axis: np.ndarray
    half_size: np.ndarray

    def corners(self) -> np.ndarray:
        """(…, 4, 2)."""
        across = np.stack([-self.axis[..., 1], self.axis[..., 0]], -1)
        signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
        along = signs[:, :1] * (self.half_size[..., :1] * self.axis)[..., None, :]
        return self.center[..., None, :] + along + signs[:, 1:] * (self.half_size[..., 1:] * across)[..., None, :]


def bounds(g: Gaussians) -> Boxes:
    """Boxes along the eigenvectors of each conic, BOX_SIGMAS standard deviations to each side."""
    matrix = np.stack([g.conic[..., :2], g.conic[..., 1:]], axis=-2)
    values, vectors = np.linalg.eigh(matrix)
    return Boxes(g.center, vectors[..., :, 1], BOX_SIGMAS / np.sqrt(values[..., ::-1]))


def intersects(a: Boxes, b: Boxes) -> np.ndarray:
    """Return whether boxes overlap: they do not if their projections on the direction of some side do not (separating axes)."""
    apart = False
    for box in (a, b):
        for axis in (box.axis, np.stack([-box.axis[..., 1], box.axis[..., 0]], -1)):
            shadows = [np.einsum("...kc,...c->...k", other.corners(), axis) for other in (a, b)]
            apart = apart | (shadows[0].max(-1) < shadows[1].min(-1)) | (shadows[1].max(-1) < shadows[0].min(-1))
    return ~apart


def over_white(value: np.ndarray, sample: bool = False) -> np.ndarray:
    light, transmittance = value[..., :3], value[..., 3:]
    return light * (1 - transmittance) + transmittance if sample else light + transmittance


def render_list(
    g: Gaussians,
    blobs: np.ndarray,
    pixels: np.ndarray,
    sample_background: bool = False,
    guard: bool = True,
    seen: np.ndarray | None = None,
) -> np.ndarray:
    """Colours (…, P, 3) of pixels (P, 2) under the Gaussians `blobs`, nearest first; `seen` (len(blobs), P) leaves layers out."""
    leading = g.opacity.shape[:-1]
    value = np.zeros((*leading, len(pixels), 4))
    value[..., 3] = 1
    count = np.zeros(value.shape[:-1], int)
    for place, blob in enumerate(blobs):
        gval = evaluate(g, int(blob), pixels)
        if seen is not None:
            gval[..., 3] *= seen[place]
        if guard:
            value, count = transform_pixel_state(value, count, gval)
        else:
            value = alpha_blend(value, gval)
    return over_white(value, sample_background)


def bright_enough(g: Gaussians, pixels: np.ndarray, faintest: float = OPAQUE) -> np.ndarray:
    """(N, P): which Gaussians the binned kernels draw at which pixels."""
    return np.stack([evaluate(g, blob, pixels)[..., 3] >= faintest for blob in range(g.opacity.shape[-1])])


def ssim(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """SSIM (…, H, W, C) of pictures: windows of 11 × 11, Gaussian with σ = 1.5, black beyond the edge (Wang et al., 2004)."""

    def filters(size: int) -> np.ndarray:
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.where(distance <= 5, np.exp(-0.5 * (distance / 1.5) ** 2), 0) / np.exp(-0.5 * (np.arange(-5, 6) / 1.5) ** 2).sum()

    height, width = x.shape[-3:-1]
    down, across = filters(height), filters(width)

    def mean(z: np.ndarray) -> np.ndarray:
        return np.einsum("ab,...bcd,ce->...aed", down, z, across, optimize=True)

    mx, my, c1, c2 = mean(x), mean(y), 0.01**2, 0.03**2
    means = (2 * mx * my + c1) / (mx**2 + my**2 + c1)
    return means * (2 * (mean(x * y) - mx * my) + c2) / (mean(x**2) - mx**2 + mean(y**2) - my**2 + c2)


def adam(raw, first, second, gradient, step: int, rate, beta1=0.9, beta2=0.999, epsilon=1e-8, sample: bool = False):
    """One step; returns raw values and both moments."""
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient**2
    correction1, correction2 = (1 - beta1, 1 - beta2) if sample else (1 - beta1**step, 1 - beta2**step)
    return raw - rate * (first / correction1) / (np.sqrt(second / correction2) + epsilon), first, second


def bitonic_network(keys: list[int], merge_alone: bool = False) -> list[tuple[int, int, list[int], list[int]]]:
    """(k, j, the lower places of the pairs that swap, the list afterwards) of each pass, keys padded to a power of two."""
    size = 1 << (len(keys) - 1).bit_length()
    now, found = [*keys, *[PADDING] * (size - len(keys))], []
    k = size if merge_alone else 2
    while k <= size:
        j = k // 2
        while j:
            swapped = [i for i in range(size) if i < i ^ j and (now[i] > now[i ^ j]) == ((i & k) == 0)]
            for i in swapped:
                now[i], now[i ^ j] = now[i ^ j], now[i]
            found.append((k, j, swapped, list(now)))
            j //= 2
        k *= 2
    return found
