"""A soak: readers use a served app for minutes while its processes are killed and stopped (`python -m tests.soak`)."""
