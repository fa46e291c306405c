"""Drafts: what a reader of the debugger has written and chosen, as plain data, and how it becomes a job inside the sandbox."""
