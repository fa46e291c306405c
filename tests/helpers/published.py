"""A published book for tests: written with few inputs per section, served by a plain file server, and read as readers do.

`python tests/helpers/published.py FOLDER` reads an existing book, from the disk and from a file server.
"""

import functools
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

FEW = 2  # inputs from a section's grid, and inputs that links name
SECTION = "workgroups"  # the section that has all inputs of its grid
EXAMPLE = "missing-barrier"  # the debugger's example besides the first
TASK = "turn-a-row"  # the exercise besides the first of each course
WRITE = """
import sys
from splatscope.cli.main import main
from splatscope.textbook.contents import find_lesson
from splatscope.web.publish import book, exercises, tools

whole, linked, tasks = book.input_grid, book.linked_inputs, exercises.tasks()
firsts = [next(task for task in tasks if task.course == course) for course in {{task.course for task in tasks}}]
book.input_grid = lambda kind: whole(kind)[: None if kind is find_lesson({section!r}) else {few}]
book.linked_inputs = lambda name: linked(name)[:{few}]
tools.EXAMPLES = [one for one in tools.EXAMPLES if one is tools.EXAMPLES[0] or one.name == {example!r}]
exercises.tasks = lambda: [task for task in tasks if task in firsts or task.name == {task!r}]
if __name__ == "__main__":
    sys.argv = ["splatscope", "publish", *{arguments!r}]
    main()
"""


class Host(http.server.SimpleHTTPRequestHandler):
    """A plain file server."""

    def log_message(self, *args):
        """Print nothing."""


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Serve a folder and yield the address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Host, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def opener(where: str, folder: Path, host: str, closed: Callable[..., Page]) -> Callable[..., Page]:
    """Return a function that opens a page of a book from the "disk" or the "host" that serves it: `opened("?page=glossary")`."""
    base = f"{folder.as_uri()}/" if where == "disk" else host

    def opened(query: str = "", **options) -> Page:
        page = closed(f"{base}index.html{query}", base, **options)
        page.locator("[data-page]").wait_for()
        return page

    return opened


def write_book(folder: Path, *pages: str) -> None:
    """Write a book with these pages, by default all, and with few exercises and examples.

    Each section except SECTION has at most FEW inputs from its grid and FEW that links name.
    """
    script = folder.with_suffix(".py")
    arguments = [str(folder), *(word for page in pages for word in ("--page", page))]
    script.write_text(WRITE.format(few=FEW, section=SECTION, example=EXAMPLE, task=TASK, arguments=arguments), encoding="utf-8")
    made = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=580, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


def stepper_of(page: Page) -> Locator:
    """Return the page's figure once its recording has arrived and is painted."""
    stepper = page.get_by_test_id("stepper").first
    expect(stepper).to_have_attribute("data-steps", re.compile(r"[1-9]\d*"))
    return painted(stepper)


def painted(stepper: Locator) -> Locator:
    """Return a figure once it has painted its current step, and what was pressed that changes no step."""
    stepper.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    stepper.page.wait_for_function("el => el.dataset.painted === el.dataset.step", arg=stepper.element_handle())
    return stepper


def read_section(page: Page) -> dict[str, int]:
    """Read a whole section: step its figure, answer all questions, bet on all claims, move all controls. Return their numbers."""
    stepper = stepper_of(page)
    page.keyboard.press("Home")
    expect(stepper).to_have_attribute("data-step", "0")
    steps = 0
    while stepper.get_attribute("data-step") != stepper.get_attribute("data-steps") and steps < 200:
        page.keyboard.press("ArrowRight")
        steps += 1
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    painted(stepper)
    return {"steps": steps, "questions": answer(page), "claims": bet(page), "controls": move_controls(page)}


# Announcements are left out, since they are transient.
SHOWN = """root => {
  const own = new Map()  // ids count what a document has drawn before: here they count from each figure's own first
  const id = (text) => text.replace(/\\w+-\\d+|\\bcm-\\S+/g, (one) => own.get(one) ?? own.set(one, `#${own.size}`).get(one))
  const IDS = ["id", "for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant", "aria-owns", "href"]
  const PASSED_OVER = ["data-adapter"]
  const text = (node) => {
    if (node.nodeType === 3) return node.data.trim()
    if (node.nodeType !== 1 || node.localName === "style" || node.dataset.testid === "announcer") return ""
    const attributes = [...node.attributes]
      .filter(({name}) => !PASSED_OVER.includes(name))
      .map(({name, value}) => `${name}="${IDS.includes(name) || value.includes("url(#") ? id(value) : value}"`)
    const drawn = node.localName === "canvas" ? [node.toDataURL()] : []
    const inside = [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(text).filter(Boolean)
    return [`<${[node.localName, ...attributes.sort()].join(" ")}>`, ...drawn, ...inside].join("\\n")
  }
  return text(root)
}"""


def shown_by(page: Page) -> list[str]:
    """Return everything that a figure shows, as lines: the elements of drawing, sentence and panes, and the canvases."""
    shown = painted(page.get_by_test_id("stepper").first).evaluate(SHOWN)
    return re.sub(r"--room: \d+px", "--room: …", shown).split("\n")  # it depends on the figure's position on the page


def answer(page: Page) -> int:
    """Answer all questions correctly, and return their number."""
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    quizzes = page.locator("[data-testid=quiz][data-answer]").all()
    assert len(quizzes) == page.get_by_test_id("quiz").count()
    for quiz in quizzes:
        # By keyboard: the page still scrolls to the figure of the previous answer, and a click could miss.
        quiz.get_by_role("button", name=quiz.get_attribute("data-answer"), exact=True).press("Enter")
        quiz.get_by_role("button", name="Reveal").press("Enter")
        expect(quiz.locator(".said")).to_contain_text("Yes")
    return len(quizzes)


def bet(page: Page) -> int:
    """Bet on all claims, wait for their verdicts, and return their number."""
    claims = page.get_by_test_id("claim").all()
    for claim in claims:
        claim.get_by_role("button", name="Holds", exact=True).click()
        expect(claim).to_have_attribute("data-verdict", re.compile("hold|decided"))
    return len(claims)


MOVE = """(el, to) => {
  el.value = to
  for (const type of ["input", "change"]) el.dispatchEvent(new Event(type, {bubbles: true, composed: true}))
}"""


def move_controls(page: Page) -> int:
    """Move each control, also those in the drawing, to its ends or to each of its choices, and return their number."""
    moved = 0
    for kind, act in (("[role=radio], [role=switch]", press), ("select", choose), ("input[type=range], input[type=number]", slide)):
        within = ", ".join(f"{place} :is({kind})" for place in ("[data-testid=controls]", ".drawing"))
        for number in range(page.locator(within).count()):
            control = page.locator(within).nth(number)
            if control.count() and control.is_visible() and control.is_enabled():
                act(control)
                stepper_of(page)
                assert not page.locator(".error:visible, [role=alert]:visible").count()
                moved += 1
    return moved


def press(control: Locator) -> None:
    """Choose one of several options, or toggle a switch."""
    control.click()


def choose(menu: Locator) -> None:
    """Choose each entry of a menu."""
    for value in menu.locator("option").evaluate_all("all => all.map((one) => one.value)"):
        menu.select_option(value)


def slide(control: Locator) -> None:
    """Move a number to its ends."""
    for end in ("max", "min"):
        value = control.get_attribute(end)
        if value is not None and control.count():
            control.evaluate(MOVE, value)


def _walk(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    from helpers.chromium import FLAGS
    from splatscope.textbook.contents import lesson_names

    wrong: list[str] = []
    with sync_playwright() as playwright, hosted(folder) as host:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        for base in (f"{folder.resolve().as_uri()}/", host):
            for name in lesson_names():
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.set_default_timeout(15_000)
                page.on("pageerror", lambda error, at=name: wrong.append(f"{at}: {error}"))
                page.on("console", lambda line, at=name: wrong.append(f"{at}: {line.text}") if line.type == "error" else None)
                page.on("request", lambda one, at=base: one.url.startswith((at, "data:", "blob:")) or wrong.append(one.url))
                page.goto(f"{base}index.html?page={name}")
                try:
                    print(base.partition(":")[0], name, read_section(page), flush=True)
                except Exception as error:
                    wrong.append(f"{base.partition(':')[0]} {name}: {error}")
                    print(wrong[-1], flush=True)
                page.close()
    print("\n".join(wrong) or "Nothing was wrong.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    expect.set_options(timeout=15_000)
    _walk(Path(sys.argv[1]))
