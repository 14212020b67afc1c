"""Which functions of an image take, give, send and wait, by its kernel's kernel.toml."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rtoslab.base import without_thumb_bit
from rtoslab.catalogue import Kernel

TAKES: Final = ("mutex_lock", "mutex_lock_for", "semaphore_take", "semaphore_take_for")
GIVES: Final = ("mutex_unlock", "semaphore_give", "semaphore_give_from_isr")
SENDS: Final = ("queue_send", "queue_send_from_isr", "mailbox_send", "pointer_send")
RECEIVES: Final = (
    "queue_receive", "queue_receive_from_isr", "mailbox_receive", "mailbox_receive_for", "pointer_receive",
)  # fmt: skip
SLEEP_UNTIL: Final = "sleep_until"
CONDITION_WAIT: Final = "condition_wait"
SUSPEND: Final = "suspend"
RESUMES: Final = ("resume", "resume_from_isr")
DELETE: Final = "task_delete"
_SLEEPS: Final = ("sleep_ticks", SLEEP_UNTIL, "suspend_self", SUSPEND, DELETE)
_EVENTS: Final = (
    "notify_take", CONDITION_WAIT, "event_wait_any", "event_wait_any_for", "event_wait_all",
)  # fmt: skip
BLOCKING: Final = frozenset({*TAKES, *SENDS, *RECEIVES, *_SLEEPS, *_EVENTS})
"""Services in which a task may wait. A call of another service ends without one."""
FOLLOWED: Final = frozenset({*BLOCKING, *GIVES, *RESUMES})


@dataclass(frozen=True, slots=True)
class ImageKernelServiceFunction:
    """A kernel function in the image, and the services of the port contract that it serves."""

    name: str
    address: int
    """Without the Thumb bit."""
    services: frozenset[str]
    forever: int | None
    """The argument with which it waits for ever. None where it has none, and always does."""
    has_third: bool
    """Whether that is its third argument, not its second."""
    success: int | None
    """What it returns where it did what was asked. None where it does not say."""

    def does_serve_any_kernel_service(self, *services: str) -> bool:
        """Whether the kernel function serves one of these services, such as `mutex_lock`."""
        return not self.services.isdisjoint(services)

    @property
    def may_block_task(self) -> bool:
        """Whether a task may have to wait in the kernel function."""
        return not self.services.isdisjoint(BLOCKING)


def kernel_services_in_image(
    kernel: Kernel, address_of: Callable[[str], int | None]
) -> dict[int, ImageKernelServiceFunction]:
    """Returns the kernel functions of an image to watch (those that take, give, send, wait), by a running number."""
    symbols = _symbols_of_version(kernel, address_of)
    by_name: dict[str, set[str]] = {}
    for service, names in symbols.items():
        for name in names if service in FOLLOWED else ():
            if not name.startswith("isr_"):
                by_name.setdefault(name, set()).add(service)
    result: dict[int, ImageKernelServiceFunction] = {}
    for name, services in sorted(by_name.items()):
        address = address_of(name)
        if address is not None:
            result[len(result)] = _kernel_service(kernel, name, without_thumb_bit(address), frozenset(services))
    return result


def _symbols_of_version(kernel: Kernel, address_of: Callable[[str], int | None]) -> Mapping[str, tuple[str, ...]]:
    """Returns the function names of each service, in that version of the kernel which the image contains."""
    symbols = dict(kernel.symbols)
    for earlier in kernel.earlier:
        for service, names in earlier.symbols.items():
            if not _has_firmware_any_named_function(
                symbols.get(service, ()), address_of
            ) and _has_firmware_any_named_function(names, address_of):
                symbols[service] = names
    return symbols


def _has_firmware_any_named_function(names: Iterable[str], address_of: Callable[[str], int | None]) -> bool:
    """Whether the image contains one of these functions. `address_of` returns None for a name that it lacks."""
    return any(address_of(name) is not None for name in names)


def _kernel_service(kernel: Kernel, name: str, address: int, services: frozenset[str]) -> ImageKernelServiceFunction:
    """Returns the description of a kernel function in the image with the services that it serves."""
    forever, has_third = None, False
    for service in sorted(services & {*TAKES, *_EVENTS}):
        words = kernel.arguments.get(service, ())
        if len(words) >= 2 and isinstance(words[-1], int) and not service.endswith("_for"):
            forever, has_third = words[-1], len(words) > 2
    results = {kernel.results[service] for service in services if service in kernel.results}
    return ImageKernelServiceFunction(
        name, address, services, forever, has_third, results.pop() if len(results) == 1 else None
    )


def sentences_on_missing_services(
    kernel: Kernel | None, services: Mapping[int, ImageKernelServiceFunction]
) -> list[str]:
    """Returns a sentence for each kind of finding that the diagnosis cannot look for, because the image lacks the
    calls."""
    if kernel is None:
        why = "no kernel was recognised by the image's functions; name it with --kernel."
        return [f"priority inversions, deadlocks, starvation, missed periods, queues, lost wake-ups: {why}"]
    served = {service for function in services.values() for service in function.services}
    kinds = (
        ("priority inversions and deadlocks", (*TAKES,), "takes a lock or a semaphore"),
        ("missed periods", (SLEEP_UNTIL,), "sleeps until a tick"),
        ("full queues", SENDS, "sends to a queue"),
    )
    return [
        f"{kind}: the image has no function of {kernel.title} that {what}."
        for kind, names, what in kinds
        if served.isdisjoint(names)
    ]
