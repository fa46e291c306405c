"""What holds for the recording of every section, wherever it was made: what is said at its stops, and its questions."""

import inspect
import re

from splatscope.services.lessons import LessonRecording
from splatscope.textbook.lesson import FigureSpec, Lesson
from splatscope.textbook.results import Answer
from splatscope.tracing.trace import Trace

SHORTEST, LONGEST = 10, 170  # characters of a sentence: two lines under the drawing
SHORTEST_CONCLUSION = 40
SHORTEST_REASON = 16  # characters of why an option is wrong


def quizzes_of(lesson: type[Lesson]) -> tuple[str, ...]:
    """Return the methods that answer a quiz."""
    methods = ((name, method) for name, method in vars(lesson).items() if inspect.isfunction(method))
    return tuple(name for name, method in methods if method.__annotations__.get("return") is Answer)


def check_stops(recording: LessonRecording) -> None:
    """Check that each stop has a sentence, and that the figure opens at a stop."""
    assert recording.stops, "stops() is empty"
    assert recording.opening in recording.stops, f"opening() is {recording.opening}, which is not among stops()"
    assert len(recording.sentences) == len(recording.stops), "sentences() has not one sentence for each of stops()"
    for sentence in recording.sentences:
        assert SHORTEST <= len(sentence) <= LONGEST, sentence
        assert sentence[0].isupper() or sentence[0] in "`0123456789∂αΣ", sentence
        assert sentence.rstrip("`)”")[-1] in ".!?", sentence
        assert not re.search(r"None|np\.|\bnan\b|  |\{|\}|array\(", sentence), sentence
        assert sentence.count("`") % 2 == 0, sentence


def check_threads(figure: FigureSpec, recording: LessonRecording, trace: Trace) -> None:
    """Check that the line shown at a stop is of a thread that its sentence names."""
    strangers = [
        (step, shown, sentence)
        for step, sentence in zip(recording.stops, recording.sentences, strict=True)
        for shown in [figure.thread if figure.thread >= 0 else int(trace.thread[trace.order[step - 1]])]
        if (named := _threads_named(sentence)) and shown not in named
    ]
    assert strangers == []


def check_answers(recording: LessonRecording) -> None:
    """Check that there is a question, and that each wrong option of a question says why it is wrong."""
    assert recording.answers, "lesson.py has no method that returns an Answer: write a quiz"
    for name, answer in recording.answers.items():
        assert answer.value in answer.options, name
        assert len(set(answer.options)) == len(answer.options) >= 2, (name, answer.options)
        assert set(answer.wrong) == set(answer.options) - {answer.value}, (name, answer.options, list(answer.wrong))
        assert all(len(why) >= SHORTEST_REASON for why in answer.wrong.values()), name


def check_conclusion(says: str) -> None:
    """Check the form of what a figure says at its end."""
    assert SHORTEST_CONCLUSION <= len(says) <= LONGEST, says
    assert says.endswith(".")
    assert not re.search(r"\bleaves\b|\bnan\b|\{", says), says


def _threads_named(sentence: str) -> set[int]:
    """Return the threads that a sentence is about: “Threads 8 to 15”, “Threads 1, 4 and 5”, “thread 0”."""
    spans = re.findall(r"[Tt]hreads (\d+) to (\d+)", sentence)
    lists = re.findall(r"[Tt]hreads (\d+(?:, \d+)* and \d+)", sentence)
    single = re.findall(r"[Tt]hread (\d+)", sentence)
    return (
        {thread for first, last in spans for thread in range(int(first), int(last) + 1)}
        | {int(number) for some in lists for number in re.findall(r"\d+", some)}
        | set(map(int, single))
    )
