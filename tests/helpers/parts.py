"""The app's shell with additional pages for components under test, served beside the app as /parts."""

import sys
from pathlib import Path

from splatscope.textbook.contents import lesson_names
from splatscope.web.serving.session import serve
from splatscope.web.shell.pages import BY_NAME, Entry

tests = str(Path(__file__).parents[1])
if tests not in sys.path:
    sys.path.append(tests)
BY_NAME["parts"] = Entry("parts", "Parts", "Tools", "Components under test", "helpers.shown_parts:parts")
BY_NAME["compared"] = Entry("compared", "Compared", "Tools", "A broken kernel beside its fix", "helpers.shown_parts:compared")
BY_NAME["stepping"] = Entry("stepping", "Stepping", "Tools", "The stepper alone, on an example", "helpers.shown_parts:stepping")
BY_NAME["nowhere"] = Entry("nowhere", "Nowhere", "Tools", "An empty page, between two tests", "helpers.shown_parts:nowhere")
for name in lesson_names():
    BY_NAME[f"carried-{name}"] = Entry(f"carried-{name}", name, "Tools", "A section in a session", "helpers.shown_parts:carried")

serve()
