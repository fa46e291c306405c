"""The keys of pages with a stepper, for the list that `?` opens. `keys.ts` implements them; a unit test compares the two."""

KEYS = [
    ("→ ←", "One event forward or back"),
    ("Shift+→ Shift+←", "To the next or the previous barrier"),
    ("S Shift+S", "One statement forward or back, for all threads that execute it together"),
    ("N P", "The chosen thread's next or previous statement, into calls; Shift: over calls"),
    ("U", "Out of the chosen thread's function, to its caller"),
    ("Home End", "To the start or the end"),
    ("Space", "Play or pause"),
    ("T Shift+T", "Choose the next or the previous thread"),
    ("M", "Follow the cell or variable that this event touches"),
    ("W", "Who wrote this? To the previous write of the followed cell or variable; Shift: the next"),
    ("B", "Set or clear a breakpoint on the current line, or on the one just chosen; Shift: with a condition"),
    ("] [", "To the next or the previous breakpoint"),
    ("F", "To the next finding; Shift: the previous"),
    ("O", "Switch between the device's order and lockstep"),
    ("A", "Watch an expression: keys[lid.x] + 1"),
    ("C", "Where did NaN or infinity come from?"),
    ("/", "Find: T < 1/255, blobs[3] == 7, line == 21, thread 1,3, write keys, barrier, NaN"),
]

# The keys of other debuggers, which the debugger's page has in addition.
DEBUGGER_KEYS = [
    ("F5 Shift+F5", "Run to the next breakpoint or the end; back to the previous breakpoint"),
    ("F9", "Set or clear a breakpoint on the current line, or on the one just chosen"),
    ("F10 Shift+F10", "The chosen thread's next or previous statement, over calls"),
    ("F11", "Its next statement, into calls"),
    ("Shift+F11", "Out of the function, to its caller"),
    ("Ctrl+F10", "Run to the chosen line; a double click does the same"),
    ("↑ ↓", "In the source: choose a line, as a click does; Enter runs to it"),
]
