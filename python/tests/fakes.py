"""Test code only: record streams, evidence and verified points made by hand, and a machine that plays a script."""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rtoslab import results
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.catalogue.schemas import Board
from rtoslab.proofs import BenchmarkProofEvidence
from rtoslab.proofs.rules import benchmark_proof_rule_modules, parameters_class_of_proof_rule
from rtoslab.records.decoder import ExpectedImageIdentity, decode_records
from rtoslab.records.samples import DecodedRun
from rtoslab.records.wire import WireFormatConstants
from rtoslab.results.finding import BenchmarkProofFinding, ProofVerdict
from rtoslab.targets.events import EVENT
from rtoslab.targets.observe import MeasurementWindowObservations, TaskSwitch

WIRE = WireFormatConstants(wire_version=2, line_max_chars=240)
EXPECTED = ExpectedImageIdentity(run="0123456789abcdef", manifest=0x01234567)
Fields = dict[str, str | int]


STEADY: dict[str, Any] = {
    "build": {"cores": 1, "code": "sram", "clock": {}}, "board": {"core": "cortex-m0plus"}, "target": {"kind": "virtual"},
}  # fmt: skip
"""A manifest of a point whose code takes the same time wherever it lies."""


def record(seq: int, name: str, fields: Fields) -> bytes:
    """One line with its check sum, as the firmware writes it."""
    body = f"@{seq} {name}" + "".join(f" {key}={value}" for key, value in fields.items())
    return f"{body} *{zlib.crc32(body.encode()):08x}\n".encode()


def begin(**changes: str | int) -> tuple[str, Fields]:
    fields: Fields = {
        "run": EXPECTED.run, "wire": 2, "bench": "t2", "kernel": "k", "board": "b", "cores": 1, "clock_hz": 125_000_000,
        "window_us": 250_000, "timer_hz": 1_000_000, "manifest": "0x01234567",
    }  # fmt: skip
    return "begin", {**fields, **changes}


def count(index: int, value: int, core: int = 0) -> tuple[str, Fields]:
    return "count", {"n": 0, "core": core, "index": index, "name": "iterations", "open": 10, "close": 10 + value}


def task(index: int, core: int = 0) -> tuple[str, Fields]:
    return "task", {
        "core": core, "index": index, "name": f"c{core}t{index}", "priority": 1, "handle": f"0x{handle(index, core):08x}",
        "stack_bytes": 1024,
    }  # fmt: skip


def handle(index: int, core: int = 0) -> int:
    return 0x2000_0000 + 0x1000 * core + 0x100 * (index + 1)


CONTROL = 9
WINDOW: tuple[str, Fields] = ("window", {"n": 0, "open_ticks": 1000, "close_ticks": 251_000})
BODY: list[tuple[str, Fields]] = [
    ("param", {"name": "words", "value": "32"}),
    ("param", {"name": "tick_hz", "value": "1000"}),
    *(task(index) for index in (0, 1, 2, CONTROL)),
    ("ruler", {"name": "empty", "core": 0, "n": 3, "t0_cycles": 107, "t1_cycles": 7, "t2_cycles": 7}),
    WINDOW,
    *(count(index, 1000 + index) for index in range(3)),
    ("check", {"name": "failures", "core": 0, "value": 0}),
    ("check", {"name": "a", "core": 0, "value": 5}),
    ("check", {"name": "b", "core": 0, "value": 5}),
    ("heap", {"size_bytes": 65536, "peak_bytes": 3000, "allocations": 7}),
    ("stack", {"core": 0, "index": 0, "used_bytes": 200, "size_bytes": 1024}),
]


def stream(
    body: Sequence[tuple[str, Fields]] = BODY, first: tuple[str, Fields] | None = None, *, noise: bytes = b""
) -> bytes:
    """A whole stream: begin, body, end."""
    records = [first or begin(), *body]
    lines = [record(seq, name, fields) for seq, (name, fields) in enumerate(records)]
    end = record(len(lines), "end", {"run": EXPECTED.run, "records": len(lines), "status": "ok"})
    return noise + b"".join(lines) + end


def decoded_run(body: Sequence[tuple[str, Fields]] = BODY) -> DecodedRun:
    return decode_records(stream(body), WIRE, EXPECTED)


def board() -> Board:
    return Board.model_validate({
        "id": "b", "title": "Board", "chip": "rp2040", "core": "cortex-m0plus", "cpu": "armv6m", "gcc_flags": "", "cores": 2,
        "irq": {"lines": 32, "priority_bits": 2, "soft": 26, "asynchronous": 4},
        "clock": {"crystal_hz": 12_000_000, "sys_hz": 125_000_000},
        "timer": {"hz": 1_000_000, "bits": 64},
        "uart": {"index": 0, "baud": 115_200, "tx_pin": 0, "rx_pin": 1},
        "pins": {"out": 2, "in": 3, "in_irq": 13},
        "memory": {"flash_start": 0x1000_0000, "flash_bytes": 2_097_152, "line_bytes": 8, "sram_start": 0x2000_0000, "sram_bytes": 270_336},
        "limits": {"heap_bytes": 65_536},
        "flash": {"tool": "t", "format": "uf2"},
    })  # fmt: skip


def kernel(**facts: Any) -> Kernel:
    return Kernel.model_validate({
        "id": "k", "title": "K", "version": "1", "smp": False, "services": {},
        "probes": {"current_task_single": "current"}, **facts,
    })  # fmt: skip


def benchmark(proof: Sequence[dict[str, Any]], tasks: Sequence[int] = (0, 1, 2)) -> Benchmark:
    return Benchmark.model_validate({
        "id": "t2", "title": "T2 test", "question": "?", "tasks_per_core": CONTROL, "stack_bytes": 1024, "inside": "-",
        "outside": "-", "services": [], "metric": {"id": "m", "unit": "counts", "tasks": list(tasks)}, "proof": list(proof),
    })  # fmt: skip


def evidence(
    rule: dict[str, Any],
    *,
    body: Sequence[tuple[str, Fields]] = BODY,
    switches: dict[tuple[int, int, str], int] | None = None,
    calls: dict[str, int] | None = None,
    exceptions: dict[int, int] | None = None,
    probes: bool = True,
    time_slice_ticks: int = 0,
) -> BenchmarkProofEvidence:
    """Evidence of one core; switches are (from task, to task, cause) -> count."""
    observed = MeasurementWindowObservations(
        switches=Counter(
            {TaskSwitch(0, handle(a), handle(b), why): number for (a, b, why), number in (switches or {}).items()}
        ),
        calls=Counter({(0, name): number for name, number in (calls or {}).items()}),
        exceptions={0: exceptions or {}},
    )
    return BenchmarkProofEvidence(
        decoded_run(body),
        observed if probes else None,
        benchmark([rule]),
        board(),
        kernel(time_slice_ticks=time_slice_ticks),
    )


def judge_own(given: BenchmarkProofEvidence) -> list[BenchmarkProofFinding]:
    """What the benchmark's own proofs find, without those that hold for every benchmark."""
    results = []
    for table in given.benchmark.proof:
        rule = benchmark_proof_rule_modules()[table["rule"]]
        params = parameters_class_of_proof_rule(rule).model_validate(table)
        if all(map(given.meets_condition, params.when)):
            results.append(rule.judge_evidence(params, given))
    return results


def judge_one(given: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """The same of a benchmark with one proof."""
    (result,) = judge_own(given)
    return result


def events(rows: Sequence[tuple[int, int, int, int]]) -> bytes:
    """(kind, ident, core, value) rows as the virtual board's bytes; the cycle is the row number."""
    built = np.zeros(len(rows), dtype=EVENT)
    for index, (kind, ident, core, value) in enumerate(rows):
        built[index] = (index, value, 0, ident, kind, core, 0)
    return built.tobytes()


def point(
    cores: int = 1,
    benchmark_id: str = "t2",
    title: str = "T2 test",
    kernel: str = "k",
    config: dict[str, str] | None = None,
) -> results.PointId:
    return results.PointId(
        benchmark=benchmark_id, title=title, kernel=kernel, board="b", cores=cores, window_ms=250, config=config or {}
    )


def proof(verdict: ProofVerdict = ProofVerdict.HOLDS) -> BenchmarkProofFinding:
    return BenchmarkProofFinding(rule="checks_zero", demands="failures are zero", saw="failures = 0", verdict=verdict)


def measured_point(
    cores: int = 1, per_core: int = 1000, *, wait: int = 0, heap: int = 3000, **names: Any
) -> results.MeasuredPoint:
    """A verified point whose every core counts `per_core` in a window of 31 250 000 cycles."""
    window = 31_250_000
    return results.MeasuredPoint(
        run_id=f"{cores:016x}", point=point(cores, **names), metric="m", unit="counts", metric_tasks=(0,),
        metric_cores=tuple(range(cores)),
        clock_hz=125_000_000, window_ticks=250_000, timer_hz=1_000_000,
        counters=tuple(results.TaskCount(core=core, index=0, count=per_core) for core in range(cores)),
        heap=results.HeapUse(size_bytes=65536, peak_bytes=heap, allocations=5), stacks=(),
        rulers=(results.EmptyMeasurementRawValues(name="loop_100", core=0, unit="cycles", repeats=(1500, 1407, 1407)),),
        checks={}, params={}, proofs=(proof(),),
        virtual=results.VirtualBoardObservations(
            cores=tuple(
                results.CoreCycles(
                    core=core, cycles=window, instructions=1, sleep_cycles=1_000_000, bus_wait_cycles=400_000,
                    flash_wait_cycles=100_000, xip_misses=1, exception_cycles=250_000, exceptions={15: 250},
                ) for core in range(cores)
            ),
            locks=tuple(
                results.LockUse(
                    lock=15, name="task lock", core=core, acquisitions=100, contended=50, failed_reads=70, wait_cycles=wait,
                    hold_cycles=5000,
                ) for core in range(cores) if wait
            ),
            functions=tuple(
                results.FunctionExecutionCycles(core=core, name=name, kind=kind, cycles=cycles, wait_cycles=lost, entries=per_core)
                for core in range(cores)
                for name, kind, cycles, lost in (
                    ("body", "application", 10_000_000, 0), ("xQueueSend", "queue", 20_000_000, 500_000),
                )
            ),
            event_count=1, event_digest="0", warnings=(),
        ),
    )  # fmt: skip


@dataclass
class FakeMachine:
    """Plays a script of stops; cycles pass only in `run`. A stop is (reason, window state, UART bytes, events)."""

    script: list[tuple[str, int, bytes, bytes]]
    at: int = 0
    state: int = 0
    uart: bytes = b""
    queue: bytes = b""
    watched: list[int] = field(default_factory=list)

    def settings(self) -> list[tuple[str, int, str, str]]:
        return []

    def set(self, key: str, value: int) -> None: ...
    def load(self, image: bytes, name: str) -> None: ...
    def symbol(self, name: str) -> int | None:
        return {"bench_window_state": 0x2000_0000, "bench_done": 0x1000_0101, "current": 0x2000_0010}.get(name)

    def symbols(self) -> list[tuple[int, int, str]]:
        return [(0x1000_0000, 0x100, "main"), (0x1000_0100, 0x10, "bench_done")]

    def run(self, cycles: int) -> Any:
        if not self.script:
            self.at += cycles
            return {"reason": "cycles", "core": 0, "cycle": self.at, "address": 0, "detail": ""}
        reason, self.state, uart, queue = self.script.pop(0)
        self.uart += uart
        self.queue += queue
        self.at += 100
        return {"reason": reason, "core": 0, "cycle": self.at, "address": 0, "detail": f"the script says {reason}."}

    def snapshot(self) -> Any:
        return self.at

    def restore(self, snapshot: Any) -> None:
        self.at = snapshot

    def inject_pin(self, cycle: int, pin: int, level: bool) -> None: ...
    def set_analog(self, pin: int, millivolts: int) -> None: ...
    def until(self, address: int) -> None: ...
    def watch_exec(self, address: int, ident: int) -> None: ...
    def watch_call(self, address: int, ident: int, third: bool = False) -> None: ...
    def watch_further_arguments(self, address: int, ident: int) -> None: ...
    def watch_stacked_arguments(self, address: int, ident: int) -> None: ...
    def watch_return(self, address: int, ident: int) -> None: ...
    def watch_write(self, address: int, ident: int, stop: bool = False) -> None:
        self.watched.append(address)

    def trace_exceptions(self, on: bool) -> None: ...
    def trace_pins(self, on: bool) -> None: ...
    def between(self, start: int, end: int) -> int:
        return 0

    def between_result(self, index: int) -> Any:
        return {"count": 2, "min_cycles": 5, "max_cycles": 7, "total_cycles": 12}

    def profile(self, on: bool) -> None: ...
    def take_profile(self, core: int) -> bytes:
        return b""

    def take_events(self) -> bytes:
        taken, self.queue = self.queue, b""
        return taken

    def take_uart(self, port: int = 0) -> bytes:
        taken, self.uart = self.uart, b""
        return taken

    def type_uart(self, text: bytes, port: int = 0) -> None: ...
    def script_uart(self, steps: list[tuple[bytes, bytes]], port: int = 0) -> None: ...
    def serve_semihosting(self, on: bool) -> None: ...
    def open_itm(self) -> None: ...
    def asks_for_itm(self) -> bool:
        return False

    def type_semihosting(self, text: bytes) -> None: ...
    def take_debug_text(self) -> list[tuple[str, bytes]]:
        return []

    def exit_code(self) -> int | None:
        return None

    def stats(self) -> Any:
        core = {
            "cycles": self.at, "instructions": 1, "sleep_cycles": 0, "bus_wait_cycles": 0, "flash_wait_cycles": 0,
            "xip_misses": 0, "exception_cycles": 0, "float_frames": 0, "exceptions": {15: 3},
        }  # fmt: skip
        return {"cores": [core, core], "locks": []}

    def reset_stats(self) -> None: ...
    def cycle(self) -> int:
        return self.at

    def clock_hz(self) -> int:
        return 125_000_000

    def warnings(self) -> list[str]:
        return []

    def read_registers(self, core: int, addresses: list[int]) -> list[int | None]:
        return [None] * len(addresses)

    def read(self, address: int, length: int) -> bytes:
        return (self.state if address == 0x2000_0000 else 0x2000_0100).to_bytes(length, "little")

    def write(self, address: int, data: bytes) -> None:
        pass

    def inject_exception(self, cycle: int, number: int, core: int = 0) -> None:
        pass

    def registers(self, core: int) -> dict[str, int]:
        return {"pc": 0x1000_0042, "xpsr": 0x0100_0000, "vtor": 0}
