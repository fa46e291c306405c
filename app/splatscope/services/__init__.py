"""The jobs that pages send to the workers."""
