"""The list of keys for a page with a stepper, as `?` shows it; `keys.js` acts on them."""

KEYS = [
    ("→ ←", "One event forward or back"),
    ("Shift+→ Shift+←", "To the next or the previous barrier"),
    ("S Shift+S", "One statement forward or back, for all threads that execute it together"),
    ("N P", "The chosen thread's next or previous statement"),
    ("Home End", "To the start or the end"),
    ("Space", "Play or pause"),
    ("T Shift+T", "Choose the next or the previous thread"),
    ("M", "Follow the cell or variable that this event touches"),
    ("W", "Who wrote this? To the previous write of the followed cell or variable; Shift: the next"),
    ("B", "Set or clear a breakpoint on the current line; Shift: with a condition"),
    ("] [", "To the next or the previous breakpoint"),
    ("F", "To the next finding; Shift: the previous"),
    ("O", "In the device's order or in lockstep"),
    ("A", "Watch an expression: keys[lid.x] + 1"),
    ("C", "Where did NaN or infinity come from?"),
    ("/", "Find: T < 1/255, blobs[3] == 7, NaN"),
]
