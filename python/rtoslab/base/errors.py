"""Every error a person may meet. One sentence each: what happened, where, and what to do next.

Raise one of these for anything the user or the world can cause. A bug raises an ordinary Python exception. Only `cli`
prints them. The exit codes are part of the command's interface:

| code | meaning |
|---|---|
| 0 | everything asked for was done |
| 1 | an error in the use or the environment (unknown name, missing compiler, full disk) |
| 2 | the command line could not be parsed |
| 3 | a point failed: its proof, a fault of the firmware, an unreadable record; of `gate`: a regression; of `rta`: a
      deadline can be missed, or what was observed contradicts the bounds |
| 130 | interrupted; what was finished is kept |
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

EXIT_OK = 0
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_POINT_FAILED = 3
EXIT_REGRESSION = 3
EXIT_INTERRUPTED = 130


class RtoslabError(Exception):
    """Base of every error that rtoslab raises on purpose. The message is one full sentence."""

    exit_code = EXIT_ERROR


class CatalogueError(RtoslabError):
    """Raised if a TOML file of the catalogue (a kernel, board, benchmark, paper) cannot be used."""


def most_similar_name(name: str, names: Sequence[str], likeness: float = 0.5) -> str | None:
    """Returns the name that was probably meant: the one most similar as a whole, else in its first word (`tt7` for
    `t7_synchronisation`).

    The only name that begins with `name` comes first. None if no name has the likeness, from 0 (no letter) to 1 (all
    letters).
    """
    longer = [item for item in names if item.startswith(name)] if name else []
    if len(longer) == 1:
        return longer[0]
    near = difflib.get_close_matches(name, names, n=1, cutoff=likeness)
    if near:
        return near[0]
    by_word = {item.replace("-", "_").partition("_")[0]: item for item in reversed(names)}
    words = difflib.get_close_matches(name, by_word, n=1, cutoff=0.6)
    return by_word[words[0]] if words else None


class UnknownNameError(RtoslabError):
    """Raised for a kernel, board or other name that does not exist. The message suggests the nearest known one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        self.nearest = most_similar_name(name, names)
        hint = f"did you mean {self.nearest!r}?" if self.nearest else f"known: {', '.join(names) or 'none'}."
        super().__init__(f"There is no {kind} named {name!r}; {hint}")


class PlanError(RtoslabError):
    """Raised if the options of a command cannot be combined into an experiment."""


class BuildError(RtoslabError):
    """Raised if an image could not be built."""

    exit_code = EXIT_POINT_FAILED


class RefusedError(BuildError):
    """Raised if the firmware's build files refuse this combination of options."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
        """The reason that the build files give, as a clause. It is the same on every machine."""


class ToolMissingError(RtoslabError):
    """Raised if a program or package that a command needs is not installed."""


class StaleSimulatorError(RtoslabError):
    """Raised if the simulator's binary was not built from the sources of the checkout in use."""


class RunError(RtoslabError):
    """Raised if a board did not do what a benchmark image does (never began, hung, locked up)."""

    exit_code = EXIT_POINT_FAILED


class ImageFileError(RtoslabError):
    """Raised if an image file cannot be read or loaded."""


class BoardSilentError(RunError):
    """Raised if a real board sent nothing over its serial port."""


class BoardResetError(RunError):
    """Raised if a real board was reset in the middle of a run."""


class LineNoiseError(RunError):
    """Raised if the records of a real board came damaged in each attempt."""


class FlashError(RtoslabError):
    """Raised if a program could not write an image to a real board."""


class DebuggerError(RtoslabError):
    """Raised if a board cannot be put under a debugger."""


class SerialPortError(RtoslabError):
    """Raised if the serial port cannot be used."""


class DecodeError(RtoslabError):
    """Raised if the record stream of a benchmark image is not in the wire format.
    `line` counts received lines from 1, 0 means the whole.
    """

    exit_code = EXIT_POINT_FAILED

    def __init__(self, line: int, problem: str) -> None:
        where = f"line {line} of the board's output" if line else "the board's output"
        super().__init__(f"In {where}: {problem}")
        self.line = line
        self.problem = problem


REFUSALS: Final[Mapping[str, str]] = {
    "1": "a record does not fit the wire format",
    "2": "the kernel did not create a task",
    "3": "a task runs on a core it was not pinned to",
    "4": "a benchmark's set-up failed",
    "5": "a task did not reach the next synchronisation point in time",
    "6": "the kernel's start function returned, which it must not do",
    "7": "the kernel's heap is used up",
    "8": "a task function returned",
    "9": "the second core did not start",
    "10": "an interrupt's vector does not lead to its handler",
    "11": "a series did not collect its samples within the time limit",
}
"""The codes of an `error` record in the words of `firmware/include/bench/errors.h`."""
_REMEDIES: Final[Mapping[str, str]] = {
    "2": "give the kernel room for more tasks (--config)",
    "5": "run `rtoslab trace` to see what ran instead",
    "7": "give it a larger heap (--config)",
    "11": "use a longer --window or fewer --samples",
}
"""Keyed by code: what the user can do about it."""


class VoidRunError(DecodeError):
    """Raised if the firmware itself reported that its run is void, by a record of a fault, assert, overflow or error.

    Such a record overrides the figures of the run. Results store the name of this class.
    """

    def __init__(self, line: int, kind: str, fields: dict[str, str]) -> None:
        facts = " ".join(f"{key}={value}" for key, value in fields.items() if key != "run")
        what = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
        why = f": {REFUSALS[fields['code']]}" if kind == "error" and fields.get("code") in REFUSALS else ""
        remedy = f"; {_REMEDIES[fields['code']]}" if why and fields["code"] in _REMEDIES else ""
        super().__init__(
            line, f"the firmware reported {what}{why} ({facts}), so no figure of this run is valid{remedy}"
        )
        self.kind = kind
        self.fields = fields


class ProofError(RtoslabError):
    """Raised if a benchmark did not do what its name says."""

    exit_code = EXIT_POINT_FAILED


class ConformanceError(RtoslabError):
    """Raised if a kernel's port does not behave as the port contract requires."""

    exit_code = EXIT_POINT_FAILED


class StoreError(RtoslabError):
    """Raised if a run directory cannot be read or written."""


class AlteredFileError(StoreError):
    """Raised if a stored file was changed after it was stored."""


class AlteredPointWarning(UserWarning):
    """Warns that a point of a run directory was changed. It counts as failed, and the other points stay readable."""


class UnmodelledFeatureWarning(UserWarning):
    """An image used something that its virtual board does not model, so what was observed may differ from silicon."""


class ReportError(RtoslabError):
    """Raised if a report cannot be made from these runs."""


class SettingError(RtoslabError):
    """Raised for a setting of the virtual board that does not exist or is out of range."""


class SymbolError(RtoslabError):
    """Raised for a symbol or an address that the image does not have."""


class CaptureError(RtoslabError):
    """Raised if a logic analyzer's capture cannot be read, or lacks the requested channel or pulses."""


class TaskSetError(RtoslabError):
    """Raised if a task set cannot be read or analysed."""


class OverheadsFileError(RtoslabError):
    """Raised if a file of kernel overheads cannot be read, or lacks what the analysis needs."""


class TaskSetCheckError(RtoslabError):
    """Raised if a task set cannot be run on a board to check its bounds, or the run did not do what it should."""


def make_disk_error(action: str, path: Path, cause: OSError) -> StoreError:
    """Returns the error for a failed file operation, with the reason and a remedy. `action`: begins the message, such
    as `store the point in`."""
    reason = (cause.strerror or str(cause)).lower()
    advice = (
        "free some space and run the same command again; finished points are not measured again"
        if cause.errno in _FULL
        else ("check the path and its permissions")
    )
    return StoreError(f"Cannot {action} {path} ({reason}); {advice}.")


_FULL = frozenset({28, 122})  # ENOSPC, EDQUOT
