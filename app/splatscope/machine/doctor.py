"""Examine this machine: what it has, what is missing, and which command installs it."""

import platform
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from splatscope import __version__, extra
from splatscope.gpu import probe
from splatscope.machine import chromium, driver
from splatscope.machine.environment import Environment, detect_environment
from splatscope.paths import BUNDLE, CHECKOUT
from splatscope.workers.sandbox import platform_support

CORE, APP = ("slangpy", "numpy"), ("panel", "bokeh", "distributed")
PROXY_REMEDY = "pip install jupyter-server-proxy where Jupyter's server is installed, and restart the server"
CUDA_REMEDY = "set CUDA_PATH to a CUDA toolkit that has lib64/libnvrtc.so and include/cuda_runtime.h"


@dataclass(frozen=True)
class Missing:
    """Something that is missing and what does not work without it, and the command or sentence that helps."""

    what: str
    mend: str


@dataclass(frozen=True)
class DoctorReport:
    """The state of this machine.

    Attributes:
        environment: The environment that Splatscope runs in.
        versions: Versions by package name.
        trials: The outcome on each adapter.
        app: Whether `splatscope[app]` is installed.
        bundle: Whether the browser bundle is built.
        chromium: The path of a browser for the tests, None if there is none.
        sandbox: The sandbox mechanisms with their versions, or "none".
        missing: What is missing.
    """

    environment: Environment
    versions: dict[str, str]
    trials: list[probe.Trial]
    app: bool
    bundle: bool
    chromium: str | None
    sandbox: str
    missing: list[Missing]

    @property
    def ok(self) -> bool:
        """Whether kernels run on at least one adapter."""
        return any(trial.works for trial in self.trials)

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON types."""
        adapters = [asdict(trial) | {"works": trial.works} for trial in self.trials]
        here = self.environment
        return {
            "ok": self.ok,
            "surroundings": here.describe(),
            "container": here.container,
            "wsl": here.wsl,
            "notebook": here.notebook,
            "checkout": here.checkout is not None,
            "untried": here.untried(),
            "adapters": adapters,
            "versions": self.versions,
            "app": self.app,
            "bundle": self.bundle,
            "chromium": self.chromium,
            "sandbox": self.sandbox,
            "missing": [asdict(missing) for missing in self.missing],
        }


def examine() -> DoctorReport:
    """Run a kernel on every adapter, look for everything else, and return the report."""
    trials, silence = probe.try_all()
    here, browser = detect_environment(), chromium.find()
    missing = []
    if not any(trial.works for trial in trials):
        reason = probe.why_none(trials, silence)
        missing.append(Missing(f"a device that runs kernels ({reason})", driver.remedy(here.system, here.release)))
    elif any(trial.backend == "cuda" and not trial.works for trial in trials):
        missing.append(Missing("CUDA as a second backend", CUDA_REMEDY))
    if not BUNDLE.is_file():
        missing.append(Missing("the browser bundle, without which pages show no figures", _mend_bundle()))
    if why := platform_support.missing_support():
        missing.append(Missing(f"a sandbox for edited kernels ({why})", here.sandbox_remedy()))
    else:
        missing += [Missing(what, mend) for what, mend in platform_support.shortfalls()]
    if here.notebook and find_spec("jupyter_server_proxy") is None:
        missing.append(Missing("jupyter-server-proxy, which opens the app beside notebooks", PROXY_REMEDY))
    if here.checkout and browser is None:
        missing.append(Missing("Chromium, which only the tests need", chromium.remedy(here.release)))
    return DoctorReport(
        here, versions(), trials, extra.is_installed(), BUNDLE.is_file(), browser, platform_support.describe(), missing
    )


def versions() -> dict[str, str]:
    """Return the versions of Splatscope, Python, the system and the main dependencies by name, or "not installed".

    Those of the app are left out if it is not installed.
    """
    found = {"splatscope": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in CORE + (APP if extra.is_installed() else ()):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
        if name == "slangpy":
            found["slang"] = _slang_version()
    return found


def _slang_version() -> str:
    try:
        import slangpy
    except ImportError as error:
        return f"does not load: {error}"
    return slangpy.SLANG_BUILD_TAG


def _mend_bundle() -> str:
    return "make setup" if CHECKOUT else f"{sys.executable} -m pip install --force-reinstall splatscope"
