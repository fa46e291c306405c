"""Chrome's accessibility tree of a page, which is what a screen reader uses."""

from dataclasses import dataclass, field

from playwright.sync_api import Page

UNSAID = ("none", "generic", "InlineTextBox")


@dataclass
class Node:
    """A node of the tree that is not ignored, with its children."""

    role: str
    name: str
    description: str = ""
    properties: dict[str, object] = field(default_factory=dict)
    children: list["Node"] = field(default_factory=list)

    def all(self, role: str = "") -> list["Node"]:
        """Return the node and its descendants in reading order; with `role`, only those with that role."""
        nodes = [self, *(one for child in self.children for one in child.all())]
        return [one for one in nodes if role in ("", one.role)]

    def text(self) -> str:
        """Return all text in the node, in reading order."""
        return "".join(one.name for one in self.all("StaticText"))

    def one(self, role: str, name: str = "") -> "Node":
        """Return the only node with this role whose name begins with `name`."""
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
