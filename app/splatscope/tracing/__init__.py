"""Record Slang kernels: instrument the source, run it on a device, store what happened, find what is wrong."""
