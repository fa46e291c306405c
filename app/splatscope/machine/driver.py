"""Make sure that kernels run on some device.

`python -m splatscope.machine.driver` installs Mesa's software Vulkan driver on Debian and Ubuntu if no device works, and names the
command to run on other systems.
"""

import platform
import shlex
import shutil
import sys
from collections.abc import Mapping

from splatscope.gpu import probe
from splatscope.machine import apt

PACKAGES = ("libatomic1", "libvulkan1", "mesa-vulkan-drivers")  # a minimal system lacks libatomic, which slangpy loads

# Mesa 22.3 lacks VK_KHR_shader_non_semantic_info, which is required to create a device.
TOO_OLD = ("bookworm",)

# By the ID or ID_LIKE of /etc/os-release. None of these has been tested.
COMMANDS = {
    "fedora": "sudo dnf install vulkan-loader mesa-vulkan-drivers",
    "rhel": "sudo dnf install vulkan-loader mesa-vulkan-drivers",
    "arch": "sudo pacman -S vulkan-icd-loader vulkan-swrast",
    "suse": "sudo zypper install libvulkan1 libvulkan_lvp",
    "alpine": "sudo apk add vulkan-loader mesa-vulkan-swrast",
}


def backports_of(release: Mapping[str, str]) -> str:
    """Return the codename of the release whose backports suite holds the driver; "" if its own packages are new enough."""
    codename = release.get("DEBIAN_CODENAME") or release.get("VERSION_CODENAME", "")
    return codename if codename in TOO_OLD else ""


def remedy(system: str, release: Mapping[str, str]) -> str:
    """Return the command or sentence that helps to get a working device.

    Args:
        system: As returned by platform.system().
        release: The fields of /etc/os-release.
    """
    if system == "Linux":
        names = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
        if {"debian", "ubuntu"} & set(names):
            if backports_of(release):  # the temporary sources take more than one call of apt-get
                return f"sudo {shlex.quote(sys.executable)} -B -m splatscope.machine.driver"
            return f"sudo apt-get update && sudo apt-get install -y --no-install-recommends {' '.join(PACKAGES)}"
        known = next((COMMANDS[key] for name in names for key in COMMANDS if key in name), "")
        return known or "install the Vulkan loader and Mesa's software driver (lavapipe), version 23 or newer"
    if system == "Darwin":
        return "update macOS: Metal comes with it"
    if system == "Windows":
        return "install the graphics card's current driver: Direct3D 12 and Vulkan come with it"
    return "install a Vulkan driver"


def mend() -> str:
    """Install a driver unless kernels run, and return one line about the device.

    Raises:
        apt.AptError: No device works; the message names the command to run.
    """
    if trial := probe.first_working():
        return _line(trial)
    release = apt.os_release()
    command = remedy(platform.system(), release)
    why = probe.why_none(*probe.try_all())
    if not shutil.which("apt-get"):
        raise apt.AptError(f"No device runs kernels here ({why}). To get one: {command}")
    print(f"No device runs kernels here yet ({why}).", flush=True)
    apt.install(PACKAGES, suggestion=command, backports_of=backports_of(release))
    if trial := probe.first_working():
        return _line(trial)
    raise apt.AptError(f"The driver is installed, but kernels still do not run ({probe.why_none(*probe.try_all())})")


def _line(trial: probe.Trial) -> str:
    return f"Kernels run on {trial.name} ({trial.backend}, waves of {trial.wave_size})."


def main() -> None:
    """Print the device that kernels run on, after installing a driver if need be."""
    try:
        print(mend())
    except apt.AptError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
