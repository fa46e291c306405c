"""Jobs on worker processes, so that no page ever waits for a device: `await pool.run(function, …, key=…, limit=…)`."""

from splatscope.engine.cluster import Pool
from splatscope.engine.link import EngineError, JobTimeout, WorkerLost

__all__ = ["EngineError", "JobTimeout", "Pool", "WorkerLost", "pool"]

pool = Pool()
