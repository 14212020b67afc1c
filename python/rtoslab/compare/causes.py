"""Why the cycles of a point differ between two sides.

The cause `placement` excuses a regression. So it is only named if the executed code is the same, its addresses differ,
and everything else that is known of both points is equal. Memory settings, contexts of the FPU and the pieces of a heap
change cycles of code that is byte for byte the same. They are in `Measured.state`. A point without that mapping gives
`unknown`, unless both points were made from the same sources with the same settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rtoslab.compare.brief_manifest import COMPILER, VIRTUAL_BOARD
from rtoslab.compare.executions import ExecutedFunction
from rtoslab.compare.sides import MeasuredPointValues

MOST_NAMES: Final = 3
_SETTINGS: Final = (COMPILER, "newlib", VIRTUAL_BOARD, "board", "configuration", "timing rules")
"""The settings of a brief manifest: what changes cycles of the same code."""
_BUILT_FROM: Final = ("firmware sources", "kernel", "kernel package", "flags", "compiler calls")
"""Sources and flags of the code outside the window, which sets up the state."""
_LEAST_WORK: Final = 0.5
"""Instructions or calls per count or sample."""
_ONE_PERCENT: Final = 0.01


class DifferenceCause(StrEnum):
    """The kinds of causes for a difference in cycles, such as changed code."""

    CODE = "code"
    """The executed functions differ."""
    SETTINGS = "settings"
    """The configuration, the compiler, the board or the virtual board."""
    STATE = "state"
    """The board's registers or the kernel's data at the window's opening."""
    WORK = "other work"
    """The same code executed another number of instructions, because its data or calls differ."""
    PLACEMENT = "placement"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CycleDifferenceExplanation:
    """The cause of a difference in cycles between two sides of a comparison, with an explanation."""

    cause: DifferenceCause
    text: str
    """A clause."""


def find_cycle_difference_reason(before: MeasuredPointValues, after: MeasuredPointValues) -> CycleDifferenceExplanation:
    """Returns why the cycles of a point differ on two sides of a comparison. Both were measured without noise, in one
    placement of the code, and have brief manifests."""
    if not before.code or not after.code:
        return CycleDifferenceExplanation(
            DifferenceCause.UNKNOWN, "unknown: some executed code has no symbol, so the functions cannot be compared"
        )
    if before.code != after.code:
        return CycleDifferenceExplanation(
            DifferenceCause.CODE, function_changes_text(before.functions, after.functions)
        )
    settings = _differing_manifest_keys(before.manifest, after.manifest, _SETTINGS)
    if settings:
        return CycleDifferenceExplanation(
            DifferenceCause.SETTINGS, f"{_names_followed_by_verb_differ(settings)}, the executed code is the same"
        )
    state = _board_setting_difference_texts(before.state, after.state)
    if state:
        return CycleDifferenceExplanation(
            DifferenceCause.STATE,
            f"the board's state differs at the beginning of the window: {_first_three_names_text(state)}; the executed "
            "code is the same",
        )
    work = _functions_with_other_instruction_count(before.functions, after.functions)
    if work:
        return CycleDifferenceExplanation(
            DifferenceCause.WORK, f"the same code was executed more or less often: {_first_three_names_text(work)}"
        )
    return _reason_cycles_differ_with_same_code(before, after)


def _reason_cycles_differ_with_same_code(
    before: MeasuredPointValues, after: MeasuredPointValues
) -> CycleDifferenceExplanation:
    """Returns why cycles differ on two sides although all executed code is the same."""
    built_from = _differing_manifest_keys(before.manifest, after.manifest, _BUILT_FROM)
    is_state_known = bool(before.state and after.state)
    unknown = "unknown: the executed code is the same"
    if not before.places or not after.places:
        unknown += ", and its addresses are not recorded"
    elif before.places == after.places:
        unknown += ", at the same addresses"
    elif is_state_known or not built_from:
        return CycleDifferenceExplanation(
            DifferenceCause.PLACEMENT, "placement: the executed code is the same, but at other addresses"
        )
    if built_from and not is_state_known:
        unknown += (
            f", but {_names_followed_by_verb_differ(built_from)}, and the board's state at the beginning of the window "
            "is not recorded"
        )
    return CycleDifferenceExplanation(
        DifferenceCause.UNKNOWN, unknown + _wait_difference_text(before.waits, after.waits)
    )


def functions_differing_between_builds(
    before: Mapping[str, ExecutedFunction], after: Mapping[str, ExecutedFunction]
) -> list[str]:
    """Returns the names of functions whose code differs between two sides, or that only one side executed, the largest
    change first."""
    names = [
        name
        for name in {*before, *after}
        if _code_digest_of_function(before, name) != _code_digest_of_function(after, name)
    ]
    return sorted(
        names,
        key=lambda name: (-abs(_instructions_of_function(after, name) - _instructions_of_function(before, name)), name),
    )


def count_instructions_of(functions: Mapping[str, ExecutedFunction], names: list[str]) -> float | None:
    """Returns how many instructions these functions executed per count (or sample). None if they were not counted."""
    counts = [functions[name].instructions for name in names if name in functions]
    return None if None in counts else sum(count for count in counts if count is not None)


def function_changes_text(before: Mapping[str, ExecutedFunction], after: Mapping[str, ExecutedFunction]) -> str:
    """Returns a clause that names the functions whose code differs between two sides."""
    names = [
        _code_change_text(name, before.get(name), after.get(name))
        for name in functions_differing_between_builds(before, after)
    ]
    return f"changed code: {_first_three_names_text(names)}" if names else "the executed code differs"


def _code_change_text(name: str, before: ExecutedFunction | None, after: ExecutedFunction | None) -> str:
    """Returns a function's name with how its code changed, as text. None means that a side lacks the function."""
    if before is None or after is None:
        return f"{name} ({'new' if before is None else 'gone'})"
    counted = before.instructions is not None and after.instructions is not None
    return f"{name} ({_instruction_count_difference_text(before, after)})" if counted else name


def _code_digest_of_function(functions: Mapping[str, ExecutedFunction], name: str) -> str:
    """Returns the digest of a function's code. Empty if the side did not execute it."""
    return functions[name].code if name in functions else ""


def _instructions_of_function(functions: Mapping[str, ExecutedFunction], name: str) -> float:
    """Returns the executed instructions of a function per count (or sample), 0 if there are none."""
    return (functions[name].instructions or 0.0) if name in functions else 0.0


def _differing_manifest_keys(before: Mapping[str, str], after: Mapping[str, str], keys: tuple[str, ...]) -> list[str]:
    """Returns those of the keys that have different values in the manifests of two sides. An empty manifest differs
    from every other one."""
    if not before or not after:
        return ["the manifest"]
    return [key for key in keys if before.get(key) != after.get(key)]


def _board_setting_difference_texts(before: Mapping[str, str | int], after: Mapping[str, str | int]) -> list[str]:
    """Returns the board settings with different values on two sides, as texts. Empty if a side did not record them."""
    if not before or not after:
        return []
    keys = sorted({*before, *after})
    return [
        f"{key}: {before.get(key, 'not recorded')} to {after.get(key, 'not recorded')}"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _functions_with_other_instruction_count(
    before: Mapping[str, ExecutedFunction], after: Mapping[str, ExecutedFunction]
) -> list[str]:
    """Returns the functions with the same code that executed clearly more or fewer instructions on the second side, as
    texts."""
    both = [(name, first, after[name]) for name, first in before.items() if name in after]
    return [
        f"{name} ({_instruction_count_difference_text(first, second)})"
        for name, first, second in both
        if _does_function_execution_count_differ(first, second)
    ]


def _does_function_execution_count_differ(first: ExecutedFunction, second: ExecutedFunction) -> bool:
    """Whether a function clearly executed more or fewer instructions (or calls) on the second side."""
    if first.instructions is not None and second.instructions is not None:
        return _is_difference_beyond_tick_effect(first.instructions, second.instructions)
    return _is_difference_beyond_tick_effect(first.calls, second.calls)


def _is_difference_beyond_tick_effect(first: float, second: float) -> bool:
    """Whether two numbers per count differ by more than ticks may add, which is 1 %."""
    return abs(second - first) > max(_LEAST_WORK, _ONE_PERCENT * first)


def _instruction_count_difference_text(first: ExecutedFunction, second: ExecutedFunction) -> str:
    """Returns how a function's number of instructions differs, as text."""
    calls = f"{first.calls:.4g} to {second.calls:.4g} calls"
    if first.instructions is None or second.instructions is None:
        return calls
    if min(first.calls, second.calls) < _LEAST_WORK:
        return f"{first.instructions:.4g} to {second.instructions:.4g} instructions per count or sample"
    one, other = first.instructions / first.calls, second.instructions / second.calls
    return f"{one:.4g} to {other:.4g} instructions a call" if f"{one:.4g}" != f"{other:.4g}" else calls


def _wait_difference_text(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """Returns how the waiting cycles per count differ on two sides, as text in brackets, which may be empty."""
    changes = [(name, after[name] - before[name]) for name in before if name in after]
    parts = [f"{name} {change:+.2f}" for name, change in changes if abs(change) >= 1]
    return f" ({', '.join(parts)} cycles per count)" if parts else ""


def _names_followed_by_verb_differ(names: list[str]) -> str:
    """Returns names with the verb "differ" or "differs"."""
    are_several = len(names) > 1 or names[0].endswith("s")
    return f"{_first_three_names_text(names)} {'differ' if are_several else 'differs'}"


def _first_three_names_text(names: list[str]) -> str:
    """Returns the first three names and the number of further ones, as text."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
