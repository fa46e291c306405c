"""Panel components: the stepper, a section's figure, a training and its Gaussians, for your own app or notebook.

Import them from here. They need Panel, which `pip install "splatscope[app]"` installs.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splatscope.api.components.section import Section
    from splatscope.api.components.splats import Splats
    from splatscope.api.components.stepper import Stepper
    from splatscope.api.components.training import Training

_HOMES = {"Section": "section", "Splats": "splats", "Stepper": "stepper", "Training": "training"}
__all__ = ["Section", "Splats", "Stepper", "Training"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from splatscope import extra

    try:
        return getattr(importlib.import_module(f"splatscope.api.components.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        raise extra.explain(error) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
