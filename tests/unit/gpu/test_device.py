"""Which adapter a name stands for, told from lists of adapters."""

from types import SimpleNamespace

import pytest

from splatscope.gpu.device import DeviceError, Wanted, in_turn, numbered, open_device


def machine(*names: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(name=name, number=number) for number, name in enumerate(names)]


TWO_EQUAL = machine("llvmpipe (LLVM 15)", "NVIDIA H100", "NVIDIA H100", "Intel UHD")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Wanted("")),
        ("vulkan", Wanted("vulkan")),
        ("H100#1", Wanted("h100", number=1)),
        ("llvmpipe:4", Wanted("llvmpipe", lanes=4)),
        ("llvmpipe:4:serial", Wanted("llvmpipe", lanes=4, serial=True)),
        ("llvmpipe:serial", Wanted("llvmpipe", serial=True)),
        ("llvmpipe#0:8", Wanted("llvmpipe", number=0, lanes=8)),
        ("RX 7900 #", Wanted("rx 7900 #")),
        ("H100#", Wanted("h100#")),
    ],
)
def test_a_name_may_carry_a_number_and_lanes(text: str, wanted: Wanted):
    assert Wanted.parse(text) == wanted


@pytest.mark.parametrize(("turn", "order"), [(0, [1, 2, 3, 0]), (1, [2, 1, 3, 0]), (2, [1, 2, 3, 0]), (5, [2, 1, 3, 0])])
def test_workers_take_turns_with_equal_adapters_and_software_comes_last(turn: int, order: list[int]):
    assert [adapter.number for adapter in in_turn(TWO_EQUAL, Wanted(""), turn)] == order


def test_a_slow_adapter_is_nobody_s_turn():
    assert [adapter.name for adapter in in_turn(machine("NVIDIA H100", "Intel UHD"), Wanted(""), 1)] == ["NVIDIA H100", "Intel UHD"]


@pytest.mark.parametrize("turn", [0, 1])
def test_a_number_names_one_adapter_whoever_asks(turn: int):
    assert [adapter.number for adapter in in_turn(TWO_EQUAL, Wanted.parse("h100#1"), turn)] == [2]
    assert in_turn(TWO_EQUAL, Wanted.parse("h100#2"), turn) == []


def test_equal_names_are_numbered():
    assert numbered(["H100", "llvmpipe", "H100"]) == ["H100#0", "llvmpipe", "H100#1"]


def test_nothing_matches_nothing():
    assert in_turn([], Wanted(""), 3) == []


@pytest.mark.parametrize("lanes", [0, 2, 32, 64])
def test_waves_that_the_software_driver_cannot_have_are_refused_in_a_line(lanes: int):
    with pytest.raises(DeviceError) as refused:
        open_device(f"llvmpipe:{lanes}")
    assert str(refused.value) == f"The software driver has waves of 4, 8 or 16 lanes, not of {lanes}: ask for one of these."
