"""The page of a class's grades: nothing is missing, and nothing of a student's becomes markup."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from splatscope.exercises.grade import Row
from splatscope.exercises.report import html_of
from splatscope.exercises.submissions import Submission

TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
ALLOWED = {
    "html",
    "meta",
    "title",
    "style",
    "h1",
    "p",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "article",
    "h3",
    "pre",
}


class Reader(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@given(
    st.dictionaries(st.tuples(TEXT, TEXT), TEXT, min_size=1, max_size=6), st.sampled_from(["<script>", "</pre>", "<img onerror=x>"])
)
def test_every_submission_is_on_it_as_text(sources, markup):
    submissions = [Submission(student, task, source + markup) for (student, task), source in sources.items()]
    rows = [Row(each.student, each.task, 0, 0.25, "race", 1, f"why {markup}", 0.1, each.key) for each in submissions]
    reader = Reader()
    reader.feed(html_of(rows, submissions, []))
    assert set(reader.tags) <= ALLOWED | {"b", "i"}
    assert reader.tags.count("article") == len(rows) == reader.tags.count("a")
    assert all(each.source in reader.text and each.student in reader.text for each in submissions)
    assert reader.text.count("0.25 points, race, line 1.") == len(rows)
