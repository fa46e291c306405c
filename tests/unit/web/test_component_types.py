"""What Python declares of a component is what TypeScript gets."""

from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import param
import pytest

from splatscope.web.runtime.component import Base64, Child, Children, Component, Maybe, Typed
from splatscope.web.runtime.receivers import receives
from tools.component_types import Types, declarations


class Step(NamedTuple):
    """A step."""

    name: str
    ms: float


class Run(TypedDict):
    """A run of several steps.

    Attributes:
        first, last: Counted from 1.
        kind: How it began, which may take
            more than a line.
    """

    first: int
    last: int
    kind: Literal["cold", "warm"]
    steps: list[Step]
    note: NotRequired[str | None]


class Lap(Component):
    """A lap."""

    running = param.Boolean(default=False, doc="Whether it goes on")
    picture = param.Bytes(default=b"")
    view = param.Selector(default="", objects=["", "wide"])
    names = param.List(default=[], item_type=str)
    run = Maybe(Run, doc="The last one")
    times = Typed(dict[str, float], default={}, doc="In ms")
    pixel = Typed(tuple[int, int], default=[], doc="x, y")
    one = Child(doc="The first")
    other = Child(optional=True, doc="The second")
    more = Children(default=[])

    @receives("go", "stop")
    def _go(self, kind: str, place: str, step: int = 0) -> None: ...

    @receives("chunk")
    def _take(self, name: str, message: dict[str, Any]) -> None: ...


def test_a_component_and_its_shapes():
    text = declarations([Lap])
    assert (
        text[text.index("/** A run of") :] == """/** A run of several steps. */
export interface Run {
  /** Counted from 1. */
  first: number
  /** Counted from 1. */
  last: number
  /** How it began, which may take more than a line. */
  kind: "cold" | "warm"
  steps: Step[]
  note?: string | null
}

/** A step. */
export type Step = [name: string, ms: number]

/** A lap. */
export interface LapParameters {
  /** Whether it goes on */
  running: boolean
  picture: Bytes
  view: "" | "wide"
  names: string[]
  /** The last one */
  run: Run | Nothing<Run>
  /** In ms */
  times: Record<string, number>
  /** x, y */
  pixel: [number, number] | []
}

export interface LapChildren {
  /** The first */
  one: HTMLElement
  /** The second */
  other: HTMLElement | null
  more: HTMLElement[]
}

export type LapMessages = {type: "go"; place: string; step?: number | null} | {type: "stop"; place: string; step?: number | null}"""
        """ | {type: "chunk"; name: string; [field: string]: unknown}

/** What both sides know of each class. */
export interface Components {
  Lap: {parameters: LapParameters; children: LapChildren; messages: LapMessages}
}
"""
    )


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (list[str | None], "(string | null)[]"),
        (tuple[float, ...], "number[]"),
        (tuple[()], "[]"),
        (tuple[str, tuple[int, Any]], "[string, [number, unknown]]"),
        (dict[str, list[Base64]], "Record<string, Base64[]>"),
        (Annotated[dict[str, Any], Run], "Run"),
    ],
)
def test_a_type(hint, text):
    assert Types().of(hint) == text


def test_what_has_no_declared_type_is_an_error():
    with pytest.raises(TypeError, match="TypeScript has no type for"):
        Types().of(complex)
    for parameter in (param.Dict(default={}), param.List(default=[])):
        with pytest.raises(TypeError, match="needs a type"):
            Types().of_parameter(parameter)


def test_two_shapes_of_one_name_are_an_error():
    types = Types()
    types.of(Run)
    with pytest.raises(TypeError, match="two shapes have the name Run"):
        types.of(TypedDict("Run", {"other": int}))


def test_a_value_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="times must be of the type"):
        Lap(times=[1])
    with pytest.raises(ValueError, match="run must be of the type"):
        Lap(run="none")
