"""Kinds of the virtual board's events, and the identities of our probes."""

from typing import Final

KIND_EXEC: Final = 1
KIND_WRITE: Final = 2
KIND_EXCEPTION_ENTER: Final = 3
KIND_EXCEPTION_EXIT: Final = 4
KIND_PIN: Final = 5
KIND_CALL: Final = 6
KIND_RETURN: Final = 7
KIND_THREAD: Final = 8
KIND_LOCK_BUSY: Final = 9
KIND_LOCK_TAKEN: Final = 10
KIND_LOCK_FREE: Final = 11

IDENT_WINDOW: Final = 1
IDENT_CURRENT: Final = 16
"""Plus the core whose current task the word names."""
IDENT_NESTING: Final = 32
"""Plus the core whose nesting of critical sections the word counts. See `observe`."""
IDENT_TOP: Final = 48
"""Write of the word that holds the most urgent ready priority. See `handlings`."""
IDENT_SELECT: Final = 49
IDENT_SELECTED: Final = 50
"""The function that chooses the next task: its first instruction, and the one after its call."""
IDENT_IDLE: Final = 51
IDENT_IDLE_OVER: Final = 52
"""The kernel begins to idle outside a task, and continues. See `current_task`."""
IDENT_KEEP: Final = 53
"""The runner stores a sample: its series and its raw value. See `intervals`."""
IDENT_FILL: Final = 64
"""Plus the index of a heap block's last word. See `steps`."""
IDENT_SETTING: Final = 96
"""Plus the index of a register that changes the speed of code. See `board_state`."""
IDENT_CALL: Final = 256
"""Plus the index of the service in `Probe.services`."""
MOST_FUNCTIONS: Final = 512
"""Kernel functions whose further arguments are recorded, at most."""
IDENT_FURTHER: Final = 2048
"""Plus the index of a kernel function: the third and the fourth argument of a call. See `call_arguments`."""
IDENT_STACKED: Final = IDENT_FURTHER + MOST_FUNCTIONS
"""Plus the index of a kernel function: the fifth and the sixth argument of a call, from the stack."""
IDENT_SECOND: Final = IDENT_STACKED + MOST_FUNCTIONS
"""Plus the index of a kernel function: the second argument of a call whose own event has the third in its place."""
IDENT_MARK: Final = 4096
"""Plus the tag of a mark. See `marks`."""
IDENT_SYMBOL: Final = 0x4000
"""Plus the index of a kernel function that some service ends in. See `steps`."""
IDENT_BEHIND: Final = 0x8000
"""Plus the index of an address at which the caller of such a function continues."""
