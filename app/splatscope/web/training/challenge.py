"""Challenges with a score: paint a fish with ten Gaussians, and fit a photograph with as few as possible."""

import base64
import logging
from typing import Any, TypedDict

import param

from splatscope.gpu.device import DeviceError
from splatscope.paths import TRAINING_KERNELS
from splatscope.services.challenges import MOST_BLOBS, MOST_ITERATIONS, PHOTOGRAPH, TEN, Round, gaussians_of, play
from splatscope.splat.scenes import FISH_SIZE, fish
from splatscope.splat.settings import Settings
from splatscope.web.assets import address
from splatscope.web.background import BackgroundTask
from splatscope.web.runtime.component import Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.workers import worker_pool
from splatscope.workers.errors import WorkerError

log = logging.getLogger(__name__)
RATES = ("rate_position", "rate_shape", "rate_colour", "rate_opacity")


class PublicChallenge(TypedDict):
    """A challenge.

    Attributes:
        name: The name by which addresses have it.
        about: What it is about, in a few words.
        unit: The unit of its score.
        digits: How many digits of a score are shown after the point.
    """

    name: str
    title: str
    about: str
    unit: str
    digits: int


CHALLENGES: list[PublicChallenge] = [
    {
        "name": "ten-gaussians",
        "title": "Paint a fish with ten Gaussians",
        "about": "Against gradient descent",
        "unit": "dB",
        "digits": 1,
    },
    {
        "name": "thirty-decibels",
        "title": "As few Gaussians as you can, for 30 dB",
        "about": "A photograph, and the settings of its training",
        "unit": "Gaussians",
        "digits": 0,
    },
]


class PlayedRound(TypedDict):
    """What came of a round that the server has played.

    Attributes:
        number: The number that the browser has given the round.
        picture: A PNG file, in base 64.
        psnr: dB.
        raw: The raw values, one field after the other.
    """

    number: int
    picture: str
    psnr: float
    raw: list[float]


class Challenge(Component):
    """The challenge that the page's address names, played on the browser's own GPU, or by the server where it offers none."""

    challenges = Typed(list[PublicChallenge], default=CHALLENGES, doc="The challenges in order")
    kernels = param.String(doc="Where the kernels are: an address, or the name of a file in a published book")
    samples = Typed(dict[str, str], default={}, doc="The address of the photograph, by name")
    server = param.String(doc="Who plays where the browser offers no GPU; empty for nobody")
    fish = Typed(list[float], default=fish(TEN).ravel().tolist(), doc="The raw values of the fish, one field after the other")
    fish_size = Typed(tuple[int, int], default=FISH_SIZE, doc="Width and height of the fish's picture in pixels")
    played = Maybe(PlayedRound, doc="The last round that the server has played")
    rates = Typed(
        tuple[float, float, float, float],
        default=tuple(Settings.param[name].default for name in RATES),
        doc="The usual step sizes of position, shape, colour and opacity",
    )
    error = param.String(default="", doc="Why a round failed, in one line")

    def __init__(self, **params: Any):
        defaults = {
            "kernels": address(TRAINING_KERNELS.name),
            "samples": {PHOTOGRAPH: address(PHOTOGRAPH)},
            "server": "the server’s device",
        }
        super().__init__(**defaults | params)
        self._work = BackgroundTask()

    def close(self) -> None:
        """Stop waiting for workers."""
        self._work.cancel()

    @receives("play")
    def _play(
        self, number: int, target: str, raw: list[float], blobs: int, seed: int, growth: bool, rate: float, iterations: int
    ) -> None:
        self.error = ""  # so that a second failure with the same words is a change, too
        settings: dict[str, Any] = {"blobs": min(max(1, blobs), MOST_BLOBS), "seed": abs(seed) % 2**31, "growth": growth}
        settings |= {name: min(2.0, max(0.5, rate)) * Settings.param[name].default for name in RATES}
        self._work.start(self._answer(number, target, raw, settings, min(max(0, iterations), MOST_ITERATIONS)))

    async def _answer(self, number: int, target: str, raw: list[float], settings: dict[str, Any], iterations: int) -> None:
        try:
            gaussians = gaussians_of([float(value) for value in raw])
            if gaussians is not None:
                settings["blobs"] = TEN
            result = await play(worker_pool, "fish" if target == "fish" else "photograph", gaussians, settings, iterations)
            self.played = _public(number, result)
        except (WorkerError, DeviceError, ValueError, TypeError) as error:
            self.error = str(error)
        except Exception as error:
            log.exception("A round of a challenge failed")
            self.error = str(error).partition("\n")[0] or type(error).__name__


def _public(number: int, result: Round) -> PlayedRound:
    picture = base64.b64encode(result.picture).decode()
    return {"number": number, "picture": picture, "psnr": round(result.psnr, 3), "raw": result.raw.ravel().tolist()}
