"""The messages for a process that died, was stopped or gave no valid answer: what failed, at which stage, and what to try."""

import re

from splatscope.tracing.progress import COMPARING, COMPILING, INSTRUMENTING, RUNNING

_SIGNALS = {
    "Segmentation fault": "it touched memory that is not its own",
    "Bus error": "it touched memory that is not there",
    "Aborted": "it gave up, as it does when memory runs out",
    "Illegal instruction": "it gave up, or executed an invalid instruction",
    "Floating-point exception": "it divided by zero",
}
_DIED = {
    None: "The process in which this kernel was compiled and run died{how}; at which step is not known. Record fewer functions.",
    COMPILING: "The compiler or the driver died on this kernel as it is written{how}. Nothing has run: the fault is theirs, "
    "whatever the source says. Undo what was written last, or take parts away until it compiles.",
    INSTRUMENTING: "This kernel compiles, but the compiler or the driver died on its recorded form{how}, "
    "which is several times longer. Record fewer functions.",
    RUNNING: "The process died when the driver compiled the recorded kernel or ran it{how}: which of the two is not known. "
    "Record fewer functions; if it still dies, the kernel may reach outside of an array where nothing is recorded.",
    COMPARING: "The kernel was recorded to its end; the process died when it ran as it is written{how}. "
    "What differs is the order of its threads, and that the recorder keeps accesses inside of their memory.",
}
_SLOW = {
    None: "The kernel took longer than {limit:g} s to compile and run, and was stopped. Give it less to do.",
    COMPILING: "After {limit:g} s the compiler was still busy with this kernel as it is written, and was stopped. "
    "Look for loops that are unrolled, and for macros or generics that grow without end.",
    INSTRUMENTING: "After {limit:g} s the compiler was still busy with the recorded form of this kernel, and was stopped. "
    "Record fewer functions.",
    RUNNING: "After {limit:g} s the driver was still compiling the recorded kernel, or the kernel was still running. "
    "Record fewer functions or dispatch fewer groups; and look for threads that wait for each other without a barrier.",
    COMPARING: "The recorded kernel ended, but the kernel as it is written did not within {limit:g} s, and was stopped. "
    "Look for threads that wait for each other without a barrier.",
}
_CHECK_DIED = (
    "The compiler died on this source{how}. That is its own fault, whatever the source says. "
    "Undo what was written last, or nest it less deeply."
)
_ENDED = (
    "The process ended while {doing}, without an error of its own, as when the system stops it because memory runs out. "
    "Try again; if it ends again, {less}."
)
_DOING = {
    None: "this kernel was compiled and run",
    COMPILING: "this kernel was compiled as it is written",
    INSTRUMENTING: "the recorded form of this kernel was compiled",
    RUNNING: "the recorded kernel was compiled by the driver, or ran",
    COMPARING: "the kernel ran as it is written, after it had been recorded",
}
_FILE_DIED = "The process died while it was {work}{how}. Save the file again, or choose another."
_FILE_SLOW = "The process was stopped after {limit:g} s, while it was {work}. Take a smaller one."
_CHECK_SLOW = (
    "The compiler took longer than {limit:g} s and was stopped. Look for macros, generics or constants that grow without end."
)

FILE_WORK = {
    "open": "opening this recording",
    "array": "reading this file",
    "perfetto": "exporting this recording",
    "standalone": "writing the Python file",
}
"""What a job is doing, for jobs that neither compile nor run a kernel."""

NO_ANSWER = (
    "The process in which this kernel ran has not died, but its answer is malformed. "
    "The kernel may have written over its memory: look for an access outside of an array where nothing is recorded."
)


def answer_too_large_message(most: int) -> str:
    """Return the message for an answer of more than `most` bytes, which is refused."""
    return (
        f"The result of this kernel is larger than {most >> 20} MiB, and was refused. Give it smaller buffers or fewer workgroups."
    )


def died_message(records: bool, stage: int | None, fault: bytes = b"", file_work: str = "") -> str:
    """Return the message for a process that died.

    Args:
        records: Whether it recorded a kernel, rather than only compiling a source.
        stage: The last stage of `tracing.progress` that it reported, None if it is not known.
        fault: The output of `faulthandler` as it died. It is not trusted. A process that crashes leaves some, one that is
            killed leaves none.
        file_work: What it was doing instead, see `FILE_WORK`; "" if it compiled a source.
    """
    if not fault:
        if file_work:
            return _ENDED.format(doing=f"it was {file_work}", less="take a smaller file")
        doing = _DOING.get(stage, _DOING[None]) if records else "this source was compiled"
        return _ENDED.format(doing=doing, less="give the kernel less to do, or record fewer functions")
    match = re.match(rb"Fatal Python error: ([\w -]{1,40})", fault)
    how = _SIGNALS.get(match[1].decode(), "") if match else ""
    words = _DIED.get(stage, _DIED[None]) if records else _FILE_DIED if file_work else _CHECK_DIED
    return words.format(how=f" ({how})" if how else "", work=file_work)


def gave_way_message(seconds: float) -> str:
    """Return the message for a process that was stopped after this many seconds because others were waiting."""
    return (
        f"After {seconds:.0f} s this kernel was stopped, since others wait for this machine. Give it less to do, or run it later."
    )


def timed_out_message(records: bool, stage: int | None, limit: float, file_work: str = "") -> str:
    """Return the message for a process that was stopped after `limit` seconds. For the other arguments, see `died_message`."""
    words = _SLOW.get(stage, _SLOW[None]) if records else _FILE_SLOW if file_work else _CHECK_SLOW
    return words.format(limit=limit, work=file_work)
