"""Work in a copy of this process: a kernel that never ends, or a compiler that dies, costs the copy and not the command."""

import os
import pickle
import select
import signal
import sys
from collections.abc import Callable


class Overdue(Exception):  # noqa: N818
    """The work took longer than it may, and was ended."""


class Died(Exception):  # noqa: N818
    """The process of the work died of something; the message names the signal."""


def outlive(work: Callable[[], int], seconds: float) -> int:
    """`work()`, in a copy of this process where the system can make one. Whatever it opens is gone afterwards.

    Raises what the work raised; Overdue, Died.
    """
    if not hasattr(os, "fork"):
        return work()
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        try:
            if not select.select([answers], [], [], seconds)[0]:
                raise Overdue
            answer = answers.read()
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            _, status = os.waitpid(child, 0)
    if not answer:
        code = -os.waitstatus_to_exitcode(status)
        raise Died(signal.Signals(code).name if code > 0 else f"status {-code}")
    result = pickle.loads(answer)
    if isinstance(result, BaseException):
        raise result
    return result


def _answer(work: Callable[[], int], writing: int) -> None:
    """Work, tell what came of it, and end here: the rest of the program is the other's."""
    try:
        result = work()
    except BaseException as error:
        result = error
    sys.stdout.flush()
    with os.fdopen(writing, "wb") as answers:
        try:
            answer = pickle.dumps(result)
            pickle.loads(answer)
        except Exception:  # an error that cannot travel
            answer = pickle.dumps(RuntimeError(str(result)))
        answers.write(answer)
    os._exit(0)
