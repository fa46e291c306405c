"""The app's style sheet."""

from splatscope.web.theme.style_sheet import style_sheet


def test_the_page_of_one_recording_keeps_its_style_to_itself():
    assert ".single .summary" not in style_sheet()
    assert "table.facts" in style_sheet()
