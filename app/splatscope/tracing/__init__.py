"""Recording Slang kernels: instrument the source, run it on the device, keep what happened, find what is wrong."""
