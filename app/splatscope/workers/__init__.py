"""Worker processes, so that pages never wait for a device: `await worker_pool.run(function, …, key=…, limit=…)`."""

from splatscope.workers.pool import Pool

worker_pool = Pool()
"""The pool that all pages of this server share."""
