"""The state of a window as concepts of the lint: settings of the board that were read as the window opened.

Firmware may turn a cache off by itself. Its manifest does not show this, so its figures would be compared with those of
a board whose cache is on.
"""

from collections.abc import Mapping
from typing import Final

from rtoslab.parity.concepts import OFF_ON, FairnessCondition

STATE_PREFIX: Final = "state."
"""Before the key of a setting, in the id of its concept."""
_URGENCY: Final = "urgency."
_NOT_ENABLED: Final = "not enabled"
_KERNEL_SPECIFIC: Final = (_URGENCY, "isr_urgency", "heap.")
"""Keys that ports choose for their kernel. They are only compared between points of one kernel."""
_WAITS: Final = "code in flash waits longer"
_KNOWN_SETTINGS: Final[Mapping[str, tuple[str, str, tuple[str, str] | None]]] = {
    "clock_hz": ("clock", "memories and buses are slower or faster relative to the core", None),
    "wait_states": ("flash wait states (FLASH_ACR, LATENCY)", _WAITS, None),
    "feature.icache": ("instruction cache (FLASH_ACR, ICEN; M7: CCR, IC)", _WAITS, OFF_ON),
    "feature.dcache": ("data cache (FLASH_ACR, DCEN; M7: CCR, DC)", "constants and data wait", OFF_ON),
    "feature.prefetch": ("prefetch (FLASH_ACR, PRFTEN)", "sequential code in flash waits", OFF_ON),
    "feature.pre_read": ("reading ahead of data (FLASH_ACR, PRE_READ)", "constants in flash wait", OFF_ON),
    "feature.art": ("flash accelerator (FLASH_ACR, ARTEN)", _WAITS, OFF_ON),
    "xip.cache": ("flash cache (XIP CTRL, EN)", _WAITS, OFF_ON),
    "xip.divider": ("divider of the flash's clock (SSI BAUDR)", _WAITS, None),
    "mpu": ("memory protection (MPU_CTRL, ENABLE)", "accesses are checked, context switches load regions", OFF_ON),
    "fpu": ("floating-point unit (CPACR, CP10 and CP11)", "only an enabled unit has contexts to keep", OFF_ON),
    "fpu.lazy": (
        "frames of the floating-point unit (FPCCR, ASPEN and LSPEN)",
        "exceptions save them immediately",
        None,
    ),
    "float_contexts": (
        "tasks that used the floating-point unit",
        "every switch of such a task saves more registers",
        ("no", "yes"),
    ),
    "isr_urgency": ("most urgent interrupt that may call the kernel", "other interrupts are held off", None),
    "heap.free_pieces": ("fragments of free memory in the heap", "an allocation searches longer", None),
}
_UNKNOWN_SETTING: Final = ("the same code may take more or less time", None)


def board_settings_by_condition(state: Mapping[str, str | int], *, one_kernel: bool) -> dict[str, str]:
    """Returns the board settings to compare, by the id of the condition each is. `state`: as read when the measurement
    window opened.

    `one_kernel`: whether all compared points have the same kernel.
    """
    return {
        STATE_PREFIX + key: str(value)
        for key, value in state.items()
        if one_kernel or not _key_without_core_prefix(key).startswith(_KERNEL_SPECIFIC)
    }


def default_of_unread_board_setting(concept_id: str) -> str | None:
    """Returns the value that a board setting has where it was not read. None if this says nothing."""
    return (
        _NOT_ENABLED
        if _key_without_core_prefix(concept_id.removeprefix(STATE_PREFIX)).startswith(f"{_URGENCY}irq")
        else None
    )


def fairness_condition_of_board_setting(concept_id: str) -> FairnessCondition:
    """Returns the condition of a fair comparison that a board setting stands for. Its title names the register."""
    key = concept_id.removeprefix(STATE_PREFIX)
    setting = _key_without_core_prefix(key)
    title, why, off_on = _KNOWN_SETTINGS.get(setting) or (_title_of_unlisted_board_setting(setting), *_UNKNOWN_SETTING)
    core = "" if setting == key else f" of {key.partition('.')[0].replace('core', 'core ')}"
    return FairnessCondition(
        concept_id, f"{title}{core} at the beginning of the window", why, off_on, is_board_setting=True
    )


def manifest_fairness_condition_id(concept_id: str) -> str:
    """Returns the id of the condition that describes the same setting in manifests."""
    return _key_without_core_prefix(concept_id.removeprefix(STATE_PREFIX))


def _key_without_core_prefix(key: str) -> str:
    """Returns a key without its prefix `coreN.`."""
    core, _, rest = key.partition(".")
    return rest if core.startswith("core") and core[4:].isdigit() else key


def _title_of_unlisted_board_setting(key: str) -> str:
    """Returns the title of a board setting that is not among the known ones."""
    if not key.startswith(_URGENCY):
        return key
    exception = key.removeprefix(_URGENCY)
    line = exception.removeprefix("irq")
    return f"urgency of interrupt {line} (NVIC)" if line != exception else f"urgency of {exception} (SHPR)"
