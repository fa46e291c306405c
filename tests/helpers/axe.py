"""Check accessibility with axe-core, which also checks open shadow trees."""

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
# Wait until colours have faded in, in shadow trees too.
FADED_IN = """() => {
  const trees = (tree) => [tree, ...[...tree.querySelectorAll("*")].flatMap((el) => (el.shadowRoot ? trees(el.shadowRoot) : []))]
  return Promise.allSettled(trees(document).flatMap((tree) => tree.getAnimations())
    .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished))
}"""


def wrongs_of(page: Page) -> list[dict]:
    """Return the violations, each with its rule, the reason, and up to three elements."""
    page.evaluate(FADED_IN)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}, resultTypes: ['violations'], preload: false})",
        list(RULES),
    )
    return [
        {
            "rule": one["id"],
            "help": one["help"],
            "where": [
                f"{node['target']}: {node['html'][:200]} {node.get('failureSummary', '')[-200:]}" for node in one["nodes"][:3]
            ],
        }
        for one in found["violations"]
    ]
