"""The names to which a server answers: none that a page elsewhere could have resolved to this machine."""

import socket

import pytest

from splatscope.web.serving import hosts
from splatscope.web.serving.hosts import answers_to, is_loopback, name_of


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost:5006", "localhost"),
        ("EXAMPLE.org", "example.org"),
        ("example.org.:80", "example.org"),
        ("ai.:80", "ai."),
        ("[::1]:5006", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
        ("a b", ""),
        ("a,b", ""),
        ("user@localhost", ""),
        ("localhost:5006:7", ""),
        ("localhost/evil", ""),
        ("<x-probe>", ""),
    ],
)
def test_a_name_is_read_from_a_host_header_or_refused(host, name):
    assert name_of(host) == name


@pytest.mark.parametrize("name", ["localhost", "app.localhost", "127.0.0.1", "127.3.2.1", "::1"])
def test_a_server_on_loopback_answers_to_loopback_names(name):
    assert answers_to(name, set(), loopback=True)


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "192.168.1.5", "lab7", "printer.local", ""])
def test_a_server_on_loopback_answers_to_no_other(name):
    assert not answers_to(name, set(), loopback=True)


@pytest.mark.parametrize(
    "name", ["localhost", "192.168.1.5", "fe80::1", "lab7", "lab7.local", "lab7.lan", "desk.internal", "a.home.arpa"]
)
def test_a_server_for_others_answers_to_names_that_public_name_servers_cannot_have(name):
    assert answers_to(name, set(), loopback=False)


@pytest.mark.parametrize("name", ["evil.example", "192.168.1.5.evil.example", "local.example", ""])
def test_a_server_for_others_refuses_public_names_unless_they_are_its_own(name):
    assert not answers_to(name, {"books.example.org"}, loopback=False)
    assert answers_to("books.example.org", {"books.example.org"}, loopback=False)
    assert answers_to(name, {"*"}, loopback=False)


def test_this_machine_s_own_name_is_among_them(monkeypatch):
    monkeypatch.setattr(socket, "getfqdn", lambda: "Lab7.uni.example")
    hosts._machine_names.cache_clear()
    try:
        assert answers_to("lab7.uni.example", set(), loopback=False)
        assert not answers_to("lab7.uni.example", set(), loopback=True)
    finally:
        hosts._machine_names.cache_clear()


def test_a_server_is_on_loopback_if_all_its_sockets_are(tmp_path):
    with socket.socket() as here, socket.socket() as all_addresses, socket.socket(socket.AF_UNIX) as file:
        here.bind(("127.0.0.1", 0))
        all_addresses.bind(("0.0.0.0", 0))
        file.bind(str(tmp_path / "socket"))
        assert is_loopback([here])
        assert not is_loopback([here, all_addresses])
        assert not is_loopback([file])
        assert not is_loopback([])


def test_a_name_without_a_dot_is_of_the_local_network_unless_a_dot_at_its_end_says_otherwise():
    assert answers_to(name_of("lab7"), set(), loopback=False)
    assert not answers_to(name_of("ai."), set(), loopback=False)
