"""The container's file and Binder's: they name what the driver needs. `make container-check` does all that the first says."""

import importlib.util
import re
import tomllib

from splatscope.machine import driver
from splatscope.paths import CHECKOUT

BINDER = CHECKOUT / ".binder"
TOOL = CHECKOUT / "tools" / "container.py"


def tool():
    spec = importlib.util.spec_from_file_location("container", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_container_file_is_read_as_engines_do():
    text = '# a comment\nFROM debian:trixie-slim\n\nRUN one \\\n    # in between\n    && two\ncmd ["serve"]\n'
    assert tool().read(text) == [("FROM", "debian:trixie-slim"), ("RUN", "one && two"), ("CMD", '["serve"]')]


def test_the_container_has_the_driver_and_is_no_root():
    file = tool().read((CHECKOUT / "tools" / "Containerfile").read_text())
    (install,) = [argument for name, argument in file if name == "RUN" and "apt-get install" in argument]
    packages = set(re.search(r"--no-install-recommends ([\w. -]+?) *&&", install)[1].split())
    assert packages == {*driver.PACKAGES, "python3-venv"}
    names = [name for name, _ in file]
    assert dict(file)["USER"] != "root"
    assert names.index("USER") > max(i for i, name in enumerate(names) if name in ("RUN", "COPY"))
    assert dict(file)["COPY"].startswith("dist/splatscope-*.whl ")


def test_binder_installs_the_driver_the_package_and_the_proxy():
    assert tuple((BINDER / "apt.txt").read_text().split()) == driver.PACKAGES
    first, second = (BINDER / "requirements.txt").read_text().split()
    assert first == ".[app]"
    assert second.startswith("jupyter-server-proxy")
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    least = tuple(int(part) for part in project["requires-python"].removeprefix(">=").split("."))
    assert tuple(int(part) for part in (BINDER / "runtime.txt").read_text().strip().removeprefix("python-").split(".")) >= least
