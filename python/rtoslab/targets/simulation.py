"""Runs any image on a virtual board: `rtoslab sim`. The image must boot, and need not know rtoslab.

Watches (until, between) are outside the image and cost it no cycle."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rtoslab.base import ImageFileError, PlanError, SymbolError
from rtoslab.catalogue import Board
from rtoslab.intake import read_program_image
from rtoslab.targets.attachments import BusDeviceRequest
from rtoslab.targets.board import (
    MOST_CYCLES,
    apply_timing_settings_to_virtual_board,
    convert_simulator_errors,
    find_symbol_address,
    first_symbol_per_address,
    load_image_into_board,
    make_board_at_reset,
    parse_cycle_count,
)
from rtoslab.targets.faults import Fault
from rtoslab.targets.logs import CHANNEL, DefmtLogLine, find_defmt_log
from rtoslab.targets.machine import VirtualBoardMachine
from rtoslab.targets.unhandled import cores_in_default_handlers
from rtoslab.targets.watched_run import (
    EXIT,
    FAILED,
    PASSED,
    TIMEOUT,
    DrivenPinLevel,
    MonitoredImageRun,
    OnOutput,
    WatchedRunEndReason,
)

DEFAULT_SECONDS = 10
ITM_CLOSED: Final = "The firmware uses the ITM, which is disabled. --itm enables its ports at reset, like a debugger."

_VTOR: Final = 0xE000_ED08


@dataclass(frozen=True, slots=True)
class AddressIntervalCycleCount:
    """The number of times that execution went from address `start` to address `end`, and the cycles in between."""

    start: str
    end: str
    count: int
    min_cycles: int | None
    max_cycles: int | None
    total_cycles: int


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a run of `rtoslab sim`. `cycles` and `instructions` have one entry per core."""

    stop: str
    detail: str
    cycle: int
    clock_hz: int
    cycles: list[int]
    instructions: list[int]
    uart: bytes
    between: list[AddressIntervalCycleCount]
    warnings: list[str]
    reached: bool
    """Whether the run came to the requested end, without a fault."""
    rtt: Mapping[str, bytes] = field(default_factory=dict)
    """Output over RTT, by channel (`rtt0`)."""
    rtt_names: Mapping[str, str] = field(default_factory=dict)
    """The image's names of these channels."""
    debug: Mapping[str, bytes] = field(default_factory=dict)
    """What came by semihosting and ITM, by channel (`semihosting`, `semihosting-stderr`, `itm0`)."""
    logs: Sequence[DefmtLogLine] = ()
    """What came by defmt."""
    exit_code: int | None = None
    """The code with which the firmware ended by semihosting."""
    notes: Sequence[str] = ()
    """Notes on the run for the user, which are not warnings."""
    fault: Fault | None = None
    """The fault that the run ended with."""
    handled: Sequence[Fault] = ()
    """Faults whose handler returned."""
    symbols: Sequence[tuple[int, int, str]] = ()
    """Address, bytes and name of the image's functions and objects, where there was a fault."""

    def as_json(self) -> dict[str, Any]:
        """Returns the result as the object that `rtoslab sim --json` prints."""
        return {
            "stop": self.stop,
            "detail": self.detail,
            "cycle": self.cycle,
            "clock_hz": self.clock_hz,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "uart": self.uart.decode("utf-8", errors="replace"),
            "rtt": _firmware_output_texts_by_channel(self.rtt),
            "debug": _firmware_output_texts_by_channel(self.debug),
            "defmt": [line.as_json() for line in self.logs],
            "exit_code": self.exit_code,
            "notes": list(self.notes),
            "between": [
                {
                    "from": between.start,
                    "to": between.end,
                    "count": between.count,
                    "min_cycles": between.min_cycles,
                    "max_cycles": between.max_cycles,
                    "total_cycles": between.total_cycles,
                }
                for between in self.between
            ],
            "warnings": self.warnings,
        }


@dataclass(frozen=True, kw_only=True)
class SimulationRunOptions:
    """The options of a run of `rtoslab sim`. `until`: a symbol, a 0x address or a decimal number of cycles."""

    until: str | None = None
    between: Sequence[tuple[str, str]] = ()
    typed: bytes = b""
    script: Sequence[tuple[bytes, bytes]] = ()
    settings: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False
    load_address: int | None = None
    """The address at which a plain binary is loaded. None for files that contain it."""
    max_cycles: int | None = None
    expect: str | None = None
    """A pattern: the run ends and has passed when the output matches it."""
    fail: str | None = None
    """A pattern: the run ends and has failed when the output matches it."""
    timeout_s: float | None = None
    """Virtual seconds after which the run ends."""
    rtt_typed: bytes = b""
    """Input for the first RTT buffer down."""
    drives: Sequence[DrivenPinLevel] = ()
    """Levels of pins from outside."""
    voltages: Sequence[tuple[int, float]] = ()
    """Pins that an ADC converts, and the volts there."""
    itm: bool = False
    """A debugger opens the ITM's ports at reset."""
    semihosting_typed: bytes = b""
    """What the firmware can read from semihosting's standard input."""
    devices: Sequence[BusDeviceRequest] = ()
    """Devices on buses, ports and pins."""


def simulate_image(
    image: Path,
    board: Board,
    request: SimulationRunOptions,
    *,
    cores: int | None = None,
    on_output: OnOutput = lambda *_: None,
    machine: VirtualBoardMachine | None = None,
) -> SimulationResult:
    """Runs `image` on a virtual board until its end, the limit or Ctrl-C, and returns the result.

    `on_output` gets the channel and the bytes of each output at once. Raises PlanError for a pattern that is no regular
    expression.
    """
    count = cores or board.cores
    machine = machine or make_board_at_reset(board, cores=count, strict=request.strict)
    apply_timing_settings_to_virtual_board(machine, request.settings)
    content = read_program_image(image, request.load_address)
    machine.serve_semihosting(True)
    if request.itm:
        machine.open_itm()
    if request.semihosting_typed:
        machine.type_semihosting(request.semihosting_typed)
    load_image_into_board(machine, content, image.name)
    notes = _missing_boot_loader_sentence(machine, board)
    for device in request.devices:
        device.attach_device(machine, board)
    with convert_simulator_errors(PlanError):
        for pin, volts in request.voltages:
            machine.set_analog(pin, round(volts * 1000))
    by_symbol = request.until is not None and parse_cycle_count(request.until) is None
    with convert_simulator_errors(SymbolError):
        if by_symbol and request.until is not None:
            machine.until(find_symbol_address(machine, request.until))
        pairs = [
            (start, end, machine.between(find_symbol_address(machine, start), find_symbol_address(machine, end)))
            for start, end in request.between
        ]
    if request.script:
        machine.script_uart([(prompt, text) for prompt, text in request.script])
    if request.typed:
        machine.type_uart(request.typed)
    watched = MonitoredImageRun(
        machine,
        _cycle_limit_of_simulation(request, board),
        on_output,
        _compile_pattern(request.expect),
        _compile_pattern(request.fail),
        request.timeout_s,
        request.rtt_typed,
        request.drives,
        find_defmt_log(content),
    )
    ended = watched.run_image_to_end()
    between = [_read_cycles_between_addresses(machine, start, end, index) for start, end, index in pairs]
    return _make_simulation_result(machine, count, request, watched, ended, between, notes)


def _missing_boot_loader_sentence(machine: VirtualBoardMachine, board: Board) -> list[str]:
    """Returns a sentence about an image for a boot loader, whose vector table is not where the chip boots. Empty for
    others."""
    memory = board.memory
    table = machine.read_registers(0, [_VTOR])[0] or 0
    starts = [start for start in (memory.flash_start, memory.flash_itcm_start) if start is not None]
    if not board.chip.startswith("stm32") or not any(start < table < start + memory.flash_bytes for start in starts):
        return []
    sentence = (
        f"The image leaves the start of the flash empty. It was started by its vector table at {table:#010x}, as its "
        "boot loader would start it."
    )
    return [sentence]


def _cycle_limit_of_simulation(request: SimulationRunOptions, board: Board) -> int:
    """Returns the cycles since reset after which the run ends at the latest, by the user's options."""
    cycle = None if request.until is None else parse_cycle_count(request.until)
    if cycle is not None:
        return min(cycle, MOST_CYCLES)
    if request.max_cycles is not None:
        return min(request.max_cycles, MOST_CYCLES)
    return MOST_CYCLES if request.timeout_s is not None else DEFAULT_SECONDS * board.clock.sys_hz


def _make_simulation_result(
    machine: VirtualBoardMachine,
    cores: int,
    request: SimulationRunOptions,
    watched: MonitoredImageRun,
    ended: WatchedRunEndReason,
    between: list[AddressIntervalCycleCount],
    notes: Sequence[str],
) -> SimulationResult:
    """Returns the result of a run of `rtoslab sim` that has ended."""
    reason, detail = ended.reason, ended.detail
    if request.expect is not None and reason in {"cycles", TIMEOUT, EXIT}:
        detail += f" The output never matched {request.expect!r}."
    stats = machine.stats()["cores"][:cores]
    unhandled = [] if reason in {"until", PASSED, FAILED, EXIT} else cores_in_default_handlers(machine, cores)
    exit_code = machine.exit_code() if reason == EXIT else None
    failed = bool(unhandled) or _is_failure_stop_reason(reason, detail) or watched.fault is not None or bool(exit_code)
    logs = watched.logs.lines if watched.logs is not None else ()
    watched.output.pop(CHANNEL, None)
    return SimulationResult(
        stop=reason,
        detail=detail,
        cycle=machine.cycle(),
        clock_hz=machine.clock_hz(),
        cycles=[core["cycles"] for core in stats],
        instructions=[core["instructions"] for core in stats],
        uart=bytes(watched.output.get("uart", b"")),
        rtt={name: bytes(text) for name, text in watched.output.items() if name in watched.rtt_names},
        rtt_names=watched.rtt_names,
        debug={name: bytes(text) for name, text in watched.output.items() if name not in {*watched.rtt_names, "uart"}},
        logs=logs,
        exit_code=exit_code,
        notes=[*notes, *([ITM_CLOSED] if machine.asks_for_itm() else [])],
        between=between,
        warnings=[*machine.warnings(), *unhandled],
        fault=watched.fault,
        handled=watched.handled,
        symbols=first_symbol_per_address(machine.symbols()) if watched.fault or watched.handled else (),
        reached=_has_run_ended_as_requested(request, reason) and not failed,
    )


def _has_run_ended_as_requested(request: SimulationRunOptions, reason: str) -> bool:
    """Whether the run ended as the user asked (`until`, an expected pattern, exit code 0)."""
    if request.expect is not None:
        return reason == PASSED
    if reason == EXIT:
        return request.until is None or parse_cycle_count(request.until) is not None
    by_cycles = request.until is not None and parse_cycle_count(request.until) is not None
    return request.until is None or reason == "until" or (by_cycles and reason == "cycles")


def _firmware_output_texts_by_channel(channels: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the output of each channel as text, with invalid UTF-8 replaced."""
    return {name: text.decode("utf-8", errors="replace") for name, text in channels.items()}


def _compile_pattern(text: str | None) -> re.Pattern[str] | None:
    """Returns a compiled regular expression, or None for no text. Raises PlanError for an invalid one."""
    if text is None:
        return None
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as cause:
        raise PlanError(
            f"{text!r} is not a regular expression ({cause}); write a backslash before special characters."
        ) from None


def _is_failure_stop_reason(reason: str, detail: str) -> bool:
    """Whether a run's reason to stop is a failure: a forbidden access, the failing pattern, or a lock-up without
    BKPT."""
    return reason in {"strict", FAILED} or (reason == "lockup" and "BKPT" not in detail)


def _read_cycles_between_addresses(
    machine: VirtualBoardMachine, start: str, end: str, index: int
) -> AddressIntervalCycleCount:
    """Returns the cycles that the board measured between two addresses, under the index of `between`."""
    result = machine.between_result(index)
    return AddressIntervalCycleCount(
        start, end, result["count"], result["min_cycles"], result["max_cycles"], result["total_cycles"]
    )


def parse_serial_input_script(text: str, enter: bytes = b"\r") -> list[tuple[bytes, bytes]]:
    r"""Returns the steps of a typing script, which has one `prompt => text` per line.

    Each text is typed, followed by Enter, once its prompt has appeared in the output since the step before. An empty
    prompt types at once. Empty lines and lines that begin with `#` are skipped. `\n \r \t \\ \xHH` are understood on
    both sides. A text that ends in `\c` is typed without Enter. Raises ImageFileError naming the line.
    """
    steps: list[tuple[bytes, bytes]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        prompt, arrow, typed = line.partition("=>")
        if not arrow:
            raise ImageFileError(f"Line {number} of the script has no `=>`; write `prompt => text`.")
        typed = typed.strip()
        end = b"" if typed.endswith(r"\c") else enter
        steps.append((unescape_text(prompt.strip()), unescape_text(typed.removesuffix(r"\c")) + end))
    return steps


def unescape_text(text: str) -> bytes:
    r"""Returns the bytes of a text with the escapes `\n \r \t \\ \xHH` replaced. Anything else stands for itself."""
    out = bytearray()
    index = 0
    while index < len(text):
        code = text[index + 1 : index + 2] if text[index] == "\\" else ""
        if code in _ESCAPES and code:
            out += _ESCAPES[code]
            index += 2
        elif code == "x" and _are_two_hex_digits(text[index + 2 : index + 4]):
            out.append(int(text[index + 2 : index + 4], 16))
            index += 4
        else:
            out += text[index].encode()
            index += 1
    return bytes(out)


_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}


def _are_two_hex_digits(digits: str) -> bool:
    """Whether a text consists of two hexadecimal digits."""
    return len(digits) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
