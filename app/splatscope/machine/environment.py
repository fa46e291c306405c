"""Describe where this process runs: the system, the container or notebook, the installation, and what is untested there."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from splatscope.machine import apt
from splatscope.paths import CHECKOUT

MARKERS = {"/.dockerenv": "Docker", "/run/.containerenv": "Podman"}  # files that container engines create
TRIED_ON = ("debian", "ubuntu")

# What SlangPy supports, by the result of platform.system(). Linux is tested.
UNTRIED = {
    "Windows": "Direct3D 12, whose software device is WARP, called Microsoft Basic Render Driver, and Vulkan and CUDA",
    "Darwin": "Metal, on macOS 26 or newer with Apple silicon, and no software device",
}


@dataclass(frozen=True)
class Environment:
    """What can be determined about a machine without running a kernel.

    Attributes:
        system: As returned by platform.system(): Linux, Windows, Darwin.
        processor: As returned by platform.machine(): x86_64, aarch64, AMD64, arm64.
        kernel: The release of the system's kernel.
        release: The fields of /etc/os-release; {} on systems other than Linux.
        variables: The environment variables.
        markers: The paths in `MARKERS` that exist.
        checkout: The checkout that is running; None for an installed package.
    """

    system: str
    processor: str = "x86_64"
    kernel: str = ""
    release: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    markers: frozenset[str] = frozenset()
    checkout: Path | None = None

    @property
    def container(self) -> str:
        """The kind of container: Docker, Podman, Kubernetes, or the value of $container; "" outside of a container."""
        if "KUBERNETES_SERVICE_HOST" in self.variables:
            return "Kubernetes"
        named = next((name for path, name in MARKERS.items() if path in self.markers), "")
        return named or self.variables.get("container", "")

    @property
    def wsl(self) -> int | None:
        """The version of the Windows Subsystem for Linux, None elsewhere."""
        if "microsoft" not in self.kernel.lower():
            return None
        return 2 if "WSL2" in self.kernel else 1

    @property
    def notebook(self) -> str:
        """The notebook server whose terminal or notebook this process runs in: Binder, JupyterHub, Jupyter; "" elsewhere."""
        if "BINDER_LAUNCH_HOST" in self.variables or "BINDER_SERVICE_HOST" in self.variables:
            return "Binder"
        if "JUPYTERHUB_USER" in self.variables:
            return "JupyterHub"
        return "Jupyter" if {"JPY_PARENT_PID", "JUPYTER_SERVER_URL"} & self.variables.keys() else ""

    def describe(self) -> str:
        """Return the environment in one line."""
        parts = [self.release.get("PRETTY_NAME") or {"Darwin": "macOS"}.get(self.system, self.system), f"on {self.processor}"]
        if self.wsl:
            parts.append(f"under WSL {self.wsl}")
        if self.container:
            parts.append(f"in a container ({self.container})")
        if self.notebook:
            parts.append(f"in {self.notebook}")
        return " ".join(parts) + (", from a checkout" if self.checkout else ", from an installed package")

    def untried(self) -> list[str]:
        """Return sentences that say what in this environment was never tested."""
        if self.system in UNTRIED:
            name = {"Darwin": "macOS"}.get(self.system, self.system)
            return [
                f"Splatscope was never run on {name}. SlangPy offers {UNTRIED[self.system]}; whether kernels record is unknown.",
                f"Edited kernels have no sandbox on {name}.",
            ]
        found = []
        if self.release.get("ID") not in TRIED_ON:
            found.append(self.release.get("PRETTY_NAME") or self.system)
        if self.processor.lower() not in ("x86_64", "amd64"):
            found.append(f"{self.processor} processors")
        if self.wsl:
            found.append(f"WSL {self.wsl}")
        if self.container == "Kubernetes":
            found.append("Kubernetes")
        if self.notebook == "Binder":
            found.append("Binder")
        return [f"Splatscope was never run on {name}." for name in found]

    def sandbox_remedy(self) -> str:
        """Return how to get a sandbox for edited kernels, or what to do without one."""
        if self.system == "Linux" and self.container:
            return (
                "let the container call landlock_create_ruleset, landlock_add_rule and landlock_restrict_self, as current engines "
                "do by default, or run it with --security-opt seccomp=unconfined, on a host with Linux 5.13 or newer and Landlock"
            )
        return "serve a class from Linux 5.13 or newer; elsewhere with --address localhost, or others can run shipped kernels only"


def detect_environment() -> Environment:
    """Return the environment of this process."""
    return Environment(
        system=platform.system(),
        processor=platform.machine(),
        kernel=platform.release(),
        release=apt.os_release(),
        variables=os.environ,
        markers=frozenset(path for path in MARKERS if Path(path).exists()),
        checkout=CHECKOUT,
    )
