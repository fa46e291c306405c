"""Why a worker did not run a job: what `Pool.run` and the sandbox raise, in words for a user."""

NO_WORKER = "The server's kernels are starting again. Try again in a moment, or reload the page."
DISCONNECTED = "The connection to the cluster was lost: try again when it is back."
BUSY = "The server is busy with what was asked of it before: try again in a few seconds."
RETRY_AFTER = 3  # seconds
INTERRUPTED = (
    "The process that ran this was lost twice: it was stopped from outside, or the driver crashed. Try again in a moment; "
    "a fresh worker is ready."
)


class WorkerError(RuntimeError):
    """The job could not be run. The message is one line for the user.

    `stage` is the last stage of `tracing.progress` that the job reported from the sandbox, None if it is not known.
    """

    stage: int | None = None


class NoWorker(WorkerError):  # noqa: N818
    """No worker is up, or the cluster cannot be reached: the same job may succeed later. The log says more to the operator."""


class WorkerLost(WorkerError):  # noqa: N818
    """The worker process died while it ran the job."""


class JobInterrupted(WorkerLost):
    """The worker process died while it ran a job that cannot have been the cause: the app's own kernels, or a sandboxed job."""


class ServerBusy(WorkerError):  # noqa: N818
    """Too many jobs are waiting; the same job may be accepted in `RETRY_AFTER` seconds."""

    def __init__(self) -> None:
        super().__init__(BUSY)


class JobTimeout(WorkerError):  # noqa: N818
    """The job ran past its limit, and its worker was killed."""


class JobNotStarted(Exception):  # noqa: N818
    """The worker was lost before the job reached it; the job can be assigned to another."""
