"""The stepper: one recording, stepped forward and back in the browser."""
