"""Training on the reader's own GPU, which needs no server once the page is there."""

from collections.abc import Callable
from typing import Any

import param

from splatscope.paths import ASSETS, TRAINING_KERNELS
from splatscope.services import pictures
from splatscope.splat.files.images import MAX_BYTES
from splatscope.splat.progress_report import HEAT
from splatscope.splat.settings import Settings
from splatscope.web.assets import address
from splatscope.web.runtime.component import Component, Typed
from splatscope.web.runtime.receivers import receives
from splatscope.web.widgets.controls import Group, action, choice, group, menu, number, slider, switch, upload
from splatscope.web.widgets.upload import Inbox, Upload

SAMPLES = sorted(
    path.name for path in ASSETS.iterdir() if path.suffix in (".jpg", ".png") and not path.name.startswith("screenshot")
)
FIRST = "chelsea.jpg"
KEYS = [
    *(("Space", "Start or pause"), ("→", "One iteration"), ("R", "Reset")),
    *(("E", "Picture or error"), ("G", "Show or hide the Gaussians")),
]
MOST_BLOBS = 16_384
MOST_SIZE = 1024
SHOWN = (
    "size", "blobs", "seed", "growth", "kernels", "iterations", "rate_position", "rate_shape", "rate_colour", "rate_opacity",
)  # fmt: skip


class BrowserTraining(Component):
    """A run in the browser. Its settings are those of the trainer, with narrower bounds."""

    kernels = param.String(doc="Where the kernels are: an address, or the name of a file in a published book")
    samples = Typed(dict[str, str], default={}, doc="The addresses of the sample pictures, by name")
    groups = Typed(list[Group], default=[], doc="The settings, in order of importance")
    values = Typed(dict[str, Any], default={}, doc="The settings at first, by name")
    server = param.String(doc='The name of the device on the server that pictures train on otherwise; "" for none')
    heat = Typed(list[list[float]], default=HEAT.tolist(), doc="The colours of the error map, from no error to the largest")
    home = param.Boolean(default=False, doc="Whether there is only a field for a photograph until one was dropped there")
    most_sent = param.Integer(default=pictures.LARGEST, constant=True, doc="The most bytes of a picture that the book can follow")

    def __init__(self, on_device: Callable[[bool], None] = lambda here: None, **params: Any):
        """Tell `on_device` whether the reader has chosen the browser's GPU."""
        defaults: dict[str, Any] = {
            "kernels": address(TRAINING_KERNELS.name),
            "samples": {name: address(name) for name in SAMPLES},
            "groups": _groups(),
            "values": _values(),
        }
        super().__init__(**defaults | params)
        self._on_device = on_device
        self._inbox = Inbox(self._hold, self._refuse, pictures.LARGEST)

    @receives("device")
    def _choose(self, here: bool) -> None:
        self._on_device(here)

    @receives("chunk")
    def _receive(self, message: dict[str, Any]) -> None:
        self._inbox.take(message)

    def _hold(self, file: Upload) -> None:
        """Hold a picture that was trained in the browser, for the reader to follow it through the book."""
        try:
            self.send({"type": "held", "name": pictures.hold(pictures.read(file.data))})
        except ValueError as error:
            self._refuse(str(error))

    def _refuse(self, reason: str) -> None:
        self.send({"type": "refused", "reason": reason})


class _BrowserSettings(Settings):
    """The settings of a run in the browser."""

    size = param.Integer(256, bounds=(16, MOST_SIZE), label=Settings.param.size.label, doc=Settings.param.size.doc)
    blobs = param.Integer(2048, bounds=(1, MOST_BLOBS), label=Settings.param.blobs.label, doc=Settings.param.blobs.doc)
    kernels = param.Selector(
        default="binned",
        objects=["tiled", "binned"],
        label="Kernels",
        doc="tiled: the sample's, a sorted list per tile. binned: the fast kernels, for GPUs whose waves the browser shows.",
    )


def _values() -> dict[str, Any]:
    settings = _BrowserSettings()
    return {name: getattr(settings, name) for name in SHOWN} | {"sample": FIRST}


def _groups() -> list[Group]:
    p = _BrowserSettings.param
    return [
        group(
            "Picture",
            menu("sample", "Sample picture", [(name, name.rpartition(".")[0].capitalize()) for name in SAMPLES]),
            upload("picture", "Choose a photograph", "image/*", MAX_BYTES, "browser-upload"),
            number(p.size),
            action("save-picture", "Save picture"),
            action("save-gaussians", "Save Gaussians (.ply)"),
        ),
        group("Gaussians", slider(p.blobs, low=16, high=MOST_BLOBS, log=True), number(p.seed), switch(p.growth)),
        group("Kernels", choice(p.kernels)),
        rates(p, folded=True),
        group("Iterations", number(p.iterations)),
    ]


def rates(p: Any, *, folded: bool = False) -> Group:
    """Return the step sizes of a run; `p` has the parameters of `Settings`."""
    return group(
        "Rates",
        slider(p.rate_position, low=0.01, high=2, log=True),
        slider(p.rate_shape, low=0.002, high=0.4, log=True),
        slider(p.rate_colour, low=0.001, high=0.2, log=True),
        slider(p.rate_opacity, low=0.001, high=0.2, log=True),
        folded=folded,
    )
