"""The device: adapters, compiled programs, buffers."""
