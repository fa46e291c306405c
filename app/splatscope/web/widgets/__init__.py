"""Components that several pages use: forms, uploads, live pictures, the editor."""
