"""A class's grades as one HTML file: a table of students and tasks, then every submission with its verdict."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from splatscope.exercises.grade import Row
from splatscope.exercises.submissions import Submission
from splatscope.exercises.task import Task

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; padding: 0 1rem; max-width: 70rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.7rem; border: 1px solid #8886; text-align: left; }
td { text-align: right; font-variant-numeric: tabular-nums; }
td.passed { background: #0072b22e; }
td.passed::after { content: " ✓"; }
td.failed { background: #d550002e; }
article { margin: 1.5rem 0; padding-top: 0.5rem; border-top: 1px solid #8886; break-inside: avoid; }
article:target h3 { outline: 2px solid; outline-offset: 4px; }
pre { margin: 0.5rem 0; padding: 0.5rem; border: 1px solid #8886; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; }
pre b { background: #d5500040; font-weight: inherit; }
pre i { display: inline-block; width: 3ch; margin-right: 1ch; text-align: right; font-style: normal; opacity: 0.6; }
@media print { pre { white-space: pre-wrap; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
PAGE = Markup("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{title}</title><style>{style}</style>
<h1>{title}</h1>
<p>Points are the share of a task\u2019s cases that pass. A number leads to the submission.</p>
<div class="table"><table><thead><tr><th>Student</th>{heads}<th>Sum</th></tr></thead><tbody>{rows}</tbody></table></div>
{articles}
</html>
""")


def html_of(rows: Sequence[Row], submissions: Sequence[Submission], tasks: Sequence[Task]) -> str:
    """Return the page of a class's grades. Sources and names are shown as text; the page runs nothing and loads nothing.

    Args:
        rows: The table of grades, as `grade` returns it.
        submissions: What was marked, as `submissions_in` returns it.
        tasks: All tasks, which name and order the columns.
    """
    handed_in = {row.task for row in rows}
    titles = {task.name: task.title for task in tasks if task.name in handed_in}
    columns = [*titles, *sorted(handed_in - titles.keys())]
    marks = {(row.student, row.task): (number, row) for number, row in enumerate(rows)}
    sources = {(submission.student, submission.task): submission.source for submission in submissions}
    students = list(dict.fromkeys(row.student for row in rows))
    page = PAGE.format(
        policy=POLICY,
        style=Markup(STYLE),
        title=f"Grades of {len(students)} student{'s' * (len(students) != 1)}",
        heads=_joined(Markup("<th>{}</th>").format(titles.get(column, column)) for column in columns),
        rows=_joined(_line(student, [marks.get((student, column)) for column in columns]) for student in students),
        articles=_joined(
            _article(number, row, titles.get(row.task, row.task), sources.get((row.student, row.task), ""))
            for number, row in enumerate(rows)
        ),
    )
    return str(page)


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)


def _line(student: str, marks: Sequence[tuple[int, Row] | None]) -> Markup:
    cell = Markup('<td class="{}"><a href="#s{}">{:.2f}</a></td>')
    cells = [cell.format("passed" if mark[1].passed else "failed", *(mark[0], mark[1].points)) if mark else "–" for mark in marks]
    cells = [part if isinstance(part, Markup) else Markup("<td>{}</td>").format(part) for part in cells]
    total = sum(mark[1].points for mark in marks if mark)
    return Markup("<tr><th>{}</th>{}<td>{:.2f}</td></tr>").format(student, _joined(cells), total)


def _article(number: int, row: Row, title: str, source: str) -> Markup:
    verdict = "passed" if row.passed else f"{row.cause}{f', line {row.line}' if row.line else ''}"
    alike = Markup("<p>Like another student\u2019s: {}.</p>").format(row.alike) if row.alike else ""
    lines = [
        Markup("<b><i>{}</i>{}</b>" if place == row.line else "<i>{}</i>{}").format(place, line)
        for place, line in enumerate(source.splitlines(), 1)
    ]
    return Markup('<article id="s{}"><h3>{}: {}</h3><p>{:.2f} points, {}. {}</p>{}<pre>{}</pre></article>').format(
        number, row.student, title, row.points, verdict, row.words, alike, Markup("\n").join(lines)
    )
