"""Record Slang kernels: instrument the source, run it on a device, store the events, and check them for faults."""
