"""What the doctor says of where it runs, from facts of machines that are not here."""

from pathlib import Path

import pytest

from splatscope.machine.environment import Environment, detect_environment

DEBIAN = {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}


def linux(**facts) -> Environment:
    return Environment("Linux", **({"release": DEBIAN} | facts))


@pytest.mark.parametrize(
    ("here", "container"),
    [
        (linux(), ""),
        (linux(markers=frozenset({"/.dockerenv"})), "Docker"),
        (linux(markers=frozenset({"/run/.containerenv"}), variables={"container": "oci"}), "Podman"),
        (linux(variables={"container": "systemd-nspawn"}), "systemd-nspawn"),
        (linux(variables={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, markers=frozenset({"/.dockerenv"})), "Kubernetes"),
    ],
)
def test_containers(here, container):
    assert here.container == container
    assert (f"in a container ({container})" in here.describe()) == bool(container)


@pytest.mark.parametrize(
    ("kernel", "version"),
    [("6.12.41-amd64", None), ("4.4.0-19041-Microsoft", 1), ("6.6.87.2-microsoft-standard-WSL2", 2)],
)
def test_wsl(kernel, version):
    here = linux(kernel=kernel)
    assert here.wsl == version
    assert here.untried() == ([f"Splatscope was never run on WSL {version}."] if version else [])


@pytest.mark.parametrize(
    ("variables", "notebook"),
    [
        ({}, ""),
        ({"JPY_PARENT_PID": "12"}, "Jupyter"),
        ({"JUPYTER_SERVER_URL": "http://localhost:8888/"}, "Jupyter"),
        ({"JPY_PARENT_PID": "12", "JUPYTERHUB_USER": "ann"}, "JupyterHub"),
        ({"JUPYTERHUB_USER": "ann", "BINDER_LAUNCH_HOST": "https://binder.example/"}, "Binder"),
    ],
)
def test_notebooks(variables, notebook):
    assert linux(variables=variables).notebook == notebook


def test_one_line_says_it_all():
    here = linux(markers=frozenset({"/.dockerenv"}), variables={"JUPYTERHUB_USER": "ann"})
    start = "Debian GNU/Linux 13 (trixie) on x86_64"
    assert here.describe() == f"{start} in a container (Docker) in JupyterHub, from an installed package"
    assert linux(checkout=Path("/code")).describe() == f"{start}, from a checkout"
    assert Environment("Darwin", "arm64").describe() == "macOS on arm64, from an installed package"


@pytest.mark.parametrize(("system", "device"), [("Windows", "WARP"), ("Darwin", "Metal")])
def test_systems_that_were_never_tried(system, device):
    first, second = Environment(system).untried()
    assert "never run" in first
    assert device in first
    assert "no sandbox" in second


def test_what_was_tried_is_not_called_untried():
    assert linux().untried() == []
    assert linux(release={"ID": "ubuntu", "PRETTY_NAME": "Ubuntu 24.04 LTS"}).untried() == []
    assert linux(release={"ID": "fedora", "PRETTY_NAME": "Fedora Linux 44"}).untried() == [
        "Splatscope was never run on Fedora Linux 44."
    ]
    assert linux(processor="aarch64").untried() == ["Splatscope was never run on aarch64 processors."]


def test_a_container_is_told_which_option_gives_it_a_sandbox():
    assert "--security-opt" in linux(markers=frozenset({"/.dockerenv"})).sandbox_remedy()
    assert "--address localhost" in linux().sandbox_remedy()
    assert "--address localhost" in Environment("Windows", markers=frozenset()).sandbox_remedy()


def test_this_machine_is_described():
    here = detect_environment()
    assert here.checkout is not None
    assert here.describe().endswith("from a checkout")
