"""The strict form of `firmware/kernels/<id>/tasks.toml`: where a debugger finds a kernel's tasks and registers."""

from pydantic import Field

from rtoslab.base import StrictFileSchemaModel


class CircularTaskLists(StrictFileSchemaModel):
    """Circular lists of a kernel's tasks. The last entry of each list leads back to the list's head."""

    heads: dict[str, str]
    """Variable that is a head, or an array of them -> the state of the tasks in it. May be empty."""
    head: str
    """The structure of a head."""
    first: str
    """Its member that points at the first node."""
    end: str | None = None
    """Its member that the last node points at. Without one it is the head itself."""
    node: str
    """The structure of a node."""
    next: str
    """Its member that points at the next one."""
    owner: str | None = None
    """Its member that points at the task."""
    inside: str | None = None
    """The member of a task's control block that is the node. This or `owner`."""


class TaskChain(StrictFileSchemaModel):
    """A linked list of a kernel's tasks that ends with zero, or comes back to its first one."""

    first: dict[str, str]
    """Word that points at the first task (`symbol`, or `symbol:structure.member`) -> the state of the tasks."""
    next: str
    """The member of the control block that points at the next one."""


class TaskTable(StrictFileSchemaModel):
    """A kernel's array of pointers to task control blocks, with holes."""

    table: str
    """Variable that points at it. Without `count` it is the array itself."""
    count: str | None = None
    """Variable with the number of its places."""


class KernelTasks(StrictFileSchemaModel):
    """The content of `firmware/kernels/<id>/tasks.toml`: where a debugger finds the kernel's tasks.
    Names of structures and members are those of its sources.

    It is a file apart because no image is made of it.
    """

    names: tuple[str, ...] = ()
    """Members with the task's name, the first one that the image has. Else that of `[memory.task_block]`."""
    rings: tuple[CircularTaskLists, ...] = ()
    chains: tuple[TaskChain, ...] = ()
    tables: tuple[TaskTable, ...] = ()
    frames: tuple[str, ...] = ()
    """What a task's stack holds from its stack pointer up while it does not run, below the core's own frame. Words:
    registers (`r4-r11`, `s16-s31`), `exc` (EXC_RETURN), `flag` (1 if there is floating-point state), `float` (S16 to
    S31 where there is), `float-all` (S0 to S31 and FPSCR, always), `skip` (a word), `return` (the address at which the
    task continues, for kernels that switch in thread mode: it ends the layout, and no frame of the core follows). The
    first one that fits the stack counts."""
    frames_v6m: tuple[str, ...] = ()
    """The same on ARMv6-M, where that differs."""
    frame_pointer: str | None = None
    """The member that points at the frame, where it is not `stack_pointer` of `[memory.task_block]`."""
    in_block: dict[str, str] = Field(default_factory=dict)
    """Register -> member of the control block that holds it."""
    exc_return: str | None = None
    """The member with the low byte of EXC_RETURN."""
