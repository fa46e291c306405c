"""What a screen reader finds on a page: Chrome's own accessibility tree."""

from dataclasses import dataclass, field

from playwright.sync_api import Page

UNSAID = ("none", "generic", "InlineTextBox")


@dataclass
class Node:
    """A node that is not ignored, with what is below it."""

    role: str
    name: str
    description: str = ""
    properties: dict[str, object] = field(default_factory=dict)
    children: list["Node"] = field(default_factory=list)

    def all(self, role: str = "") -> list["Node"]:
        """Return the node and all below it in the order in which they are read; with `role`, those of it."""
        nodes = [self, *(one for child in self.children for one in child.all())]
        return [one for one in nodes if role in ("", one.role)]

    def text(self) -> str:
        """Return the text in it, as it is read from the first to the last word."""
        return "".join(one.name for one in self.all("StaticText"))

    def one(self, role: str, name: str = "") -> "Node":
        """Return the only node of a role whose name begins with `name`."""
        found = [one for one in self.all(role) if one.name.startswith(name)]
        assert len(found) == 1, [one.name for one in self.all(role)]
        return found[0]


def spoken(page: Page) -> Node:
    """Return the page's accessibility tree."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    by_id = {node["nodeId"]: node for node in nodes}

    def below(node: dict) -> list[Node]:
        children = [one for child in node.get("childIds", []) if child in by_id for one in below(by_id[child])]
        role = node.get("role", {}).get("value", "")
        if node["ignored"] or role in UNSAID:
            return children
        properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
        name, description = (node.get(key, {}).get("value", "") for key in ("name", "description"))
        return [Node(role, name, description, properties, children)]

    (root,) = below(nodes[0])
    return root
