"""What is missing for a device and the commands that install it, from real files of apt, without changing this machine."""

import os

import pytest

from splatscope.machine import apt, driver

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

DEB822 = f"""\
# The release and its updates
Types: deb deb-src
# snapshot of some day
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: {KEYRING}

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: {KEYRING}

Enabled: no
Types: deb
URIs: http://mirror.example/switched-off
Suites: bookworm
Components: main

Types: deb-src
URIs: http://mirror.example/sources-only
Suites: bookworm
Components: main

Types: deb
URIs: https://elsewhere.example/tool
Suites: bookworm
Components: stable
"""

ONE_LINE = f"""\
# deb http://mirror.example/commented bookworm main
deb [arch=amd64,arm64 signed-by={KEYRING}] http://mirror.example/debian bookworm main contrib # the release
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/debian-security bookworm-security main
deb [ trusted=yes ] https://elsewhere.example/tool ./
"""


def test_deb822_keeps_mirror_key_and_what_is_enabled():
    sources = apt.parse_deb822(DEB822)
    assert [source.uris.rsplit("/", 1)[1] for source in sources] == ["debian", "debian-security", "tool"]
    assert sources[0].suites == ("bookworm", "bookworm-updates")
    assert sources[0].components == ("main", "contrib")
    assert sources[0].options == {"Signed-By": KEYRING}


def test_a_key_inside_the_file_survives():
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBFit2ioBEADhWpZ8\n -----END PGP PUBLIC KEY BLOCK-----"
    text = f"Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\nSigned-By:{key}\n"
    (source,) = apt.parse_deb822(text)
    assert source.options["Signed-By"] == key
    assert apt.parse_deb822(source.deb822()) == [source]


def test_one_line_format():
    release, security, tool = apt.parse_list(ONE_LINE)
    assert release.uris == "http://mirror.example/debian"
    assert release.suites == ("bookworm",)
    assert release.components == ("main", "contrib")
    assert release.options == {"Architectures": "amd64 arm64", "Signed-By": KEYRING}
    assert security.options == {}
    assert (tool.suites, tool.components, tool.options) == (("./",), (), {"Trusted": "yes"})


def test_both_formats_are_found_where_apt_keeps_them(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "old.sources.disabled").write_text(DEB822)
    assert apt.read_sources(tmp_path) == apt.parse_list(ONE_LINE) + apt.parse_deb822(DEB822)


@pytest.mark.parametrize("sources", [apt.parse_deb822(DEB822), apt.parse_list(ONE_LINE)], ids=["deb822", "one-line"])
def test_backports_come_from_the_same_mirror_with_the_same_key(sources):
    kept = apt.with_backports(sources, "bookworm")
    assert [source.uris for source in kept[:-1]] == ["http://mirror.example/debian", "http://mirror.example/debian-security"]
    backports = kept[-1]
    assert backports.uris == "http://mirror.example/debian"
    assert backports.suites == ("bookworm-backports",)
    assert backports.components == ("main",)
    assert backports.options["Signed-By"] == KEYRING


def test_no_mirror_is_an_error_that_says_so():
    with pytest.raises(apt.AptError, match="no mirror for bookworm"):
        apt.with_backports(apt.parse_deb822(DEB822.replace("bookworm", "trixie")), "bookworm")


def test_apt_reads_the_temporary_folder_alone(tmp_path):
    for command in apt.commands(["mesa-vulkan-drivers"], ["sudo", "-n"], tmp_path, "bookworm-backports"):
        assert command[:4] == ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"]
        options = [command[i + 1] for i, word in enumerate(command) if word == "-o"]
        assert f"Dir::Etc::sourceparts={tmp_path}/sources" in options
        assert f"Dir::State::lists={tmp_path}/lists" in options
        assert "Dir::Etc::sourcelist=/dev/null" in options
    assert command[-3:] == ["-t", "bookworm-backports", "mesa-vulkan-drivers"]


def test_without_backports_apt_is_called_plainly():
    update, install = apt.commands(["chromium"])
    assert update[-1] == "update"
    assert "-o" not in install
    assert "-t" not in install


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root is sure to need no password")
def test_root_needs_no_prefix():
    assert apt.privilege() == []


def test_os_release():
    text = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n# comment\nID=debian\n\nVERSION_CODENAME='bookworm'\n"
    release = apt.parse_os_release(text)
    assert release == {"PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)", "ID": "debian", "VERSION_CODENAME": "bookworm"}


@pytest.mark.parametrize(
    ("release", "suite"),
    [
        ({"ID": "debian", "VERSION_CODENAME": "bookworm"}, "bookworm"),
        ({"ID": "linuxmint", "ID_LIKE": "debian", "VERSION_CODENAME": "faye", "DEBIAN_CODENAME": "bookworm"}, "bookworm"),
        ({"ID": "debian", "VERSION_CODENAME": "trixie"}, ""),
        ({"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_CODENAME": "noble"}, ""),
        ({}, ""),
    ],
)
def test_only_a_release_that_is_too_old_takes_backports(release, suite):
    assert driver.backports_of(release) == suite


@pytest.mark.parametrize(
    ("system", "release", "part"),
    [
        ("Linux", {"ID": "debian", "VERSION_CODENAME": "bookworm"}, "-m splatscope.machine.driver"),
        ("Linux", {"ID": "ubuntu", "VERSION_CODENAME": "noble"}, "sudo apt-get"),
        ("Linux", {"ID": "fedora"}, "dnf install"),
        ("Linux", {"ID": "opensuse-tumbleweed", "ID_LIKE": "opensuse suse"}, "zypper"),
        ("Linux", {"ID": "endeavouros", "ID_LIKE": "arch"}, "pacman"),
        ("Linux", {}, "Vulkan"),
        ("Darwin", {}, "Metal"),
        ("Windows", {}, "driver"),
        ("Plan9", {}, "Vulkan"),
    ],
)
def test_every_system_is_told_in_one_line(system, release, part):
    assert part in driver.remedy(system, release)
    assert "\n" not in driver.remedy(system, release)
