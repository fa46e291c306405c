"""The stepper, in which the browser steps through one recording, forward and back."""
