"""Links from a section of the book to its exercises."""

from html import escape

from splatscope.exercises.task import tasks


def practise(section: str) -> str:
    """Return the end of a section's page: links to its exercises; "" if there are none."""
    links = [
        f'<li><a href="?page=exercises&task={task.name}">{escape(task.title)}</a></li>'
        for task in tasks()
        if task.section == section
    ]
    return f'<section class="prose"><h2>Exercises</h2><ul>{"".join(links)}</ul></section>' if links else ""
