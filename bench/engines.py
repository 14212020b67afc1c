"""The engines that run the workload: the virtual board, unicorn, QEMU. Each gives one timed run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unicorn as uc
from boards import Board
from images import RAM_BYTES, run_tool
from unicorn import arm_const as arm

from rtoslab import _sim

CYCLE_LIMIT = 10**11
SCS, SCS_BYTES = 0xE000_E000, 0x1000
QEMU = "qemu-system-arm"
QEMU_TIME_LIMIT_S = 300


@dataclass
class EngineRun:
    """The result and time of one run of the workload."""

    engine: str
    seconds: float
    result: str
    instructions: int = 0
    """Of each core. Only the virtual board counts them."""
    real_time: float | None = None
    """Simulated time per second, of the virtual board."""

    @property
    def mips(self) -> float:
        """Returns millions of simulated instructions per second, of each core."""
        return self.instructions / self.seconds / 1e6


def run_virtual_board(board: Board, elf: Path, cores: int = 1) -> EngineRun:
    """Runs the workload on the virtual board in its only mode: exact cycles, SysTick, bus and flash model on.

    The Pico's image leaves its clock at the ring oscillator's. Cycles of its 125 MHz are counted all the same."""
    machine = _sim.Machine(
        board.chip,
        cores=cores,
        crystal_hz=board.facts["clock"]["crystal_hz"],
        console_port=board.facts["uart"]["index"],
    )
    machine.load(elf.read_bytes(), elf.name)
    done, result = machine.symbol("workload_done"), machine.symbol("workload_result")
    if done is None or result is None:
        sys.exit(f"{elf} lacks its symbols")
    machine.until(done)
    start = time.perf_counter()
    stop = machine.run(CYCLE_LIMIT)
    seconds = time.perf_counter() - start
    if stop["reason"] != "until":
        sys.exit(f"the workload did not finish on {board.name}: {stop['detail']}")
    if not board.is_pico and machine.clock_hz() != board.clock_hz:
        sys.exit(f"{board.name} ran at {machine.clock_hz()} Hz, not at its {board.clock_hz} Hz")
    counts = [core["instructions"] for core in machine.stats()["cores"][:cores]]
    real_time = machine.cycle() / board.clock_hz / seconds
    return EngineRun("virtual", seconds, machine.read(result, 4).hex(), min(counts), real_time)


def run_unicorn(board: Board, elf: Path) -> EngineRun:
    """Runs the same image in unicorn, from after the start of clocks and caches, which it does not model.

    It takes no SysTick interrupts either. Both are under one instruction in a thousand.
    """
    names = {line.split()[2]: int(line.split()[0], 16) for line in run_tool("arm-none-eabi-nm", elf).splitlines()}
    flat = elf.with_suffix(".bin")
    run_tool("arm-none-eabi-objcopy", "-O", "binary", elf, flat)
    engine: Any = uc.Uc(uc.UC_ARCH_ARM, uc.UC_MODE_THUMB | uc.UC_MODE_MCLASS)
    engine.ctl_set_cpu_model(getattr(arm, f"UC_CPU_ARM_{board.core.unicorn_model}"))
    code = names["CODE_ORIGIN"] & ~0xFFF
    data = names["DATA_ORIGIN"]
    for base, size in ((code, 1 << 20), (data, max(RAM_BYTES, names["stack_top"] - data)), (SCS, SCS_BYTES)):
        engine.mem_map(base, size)
    engine.mem_write(code, flat.read_bytes())
    engine.reg_write(arm.UC_ARM_REG_SP, names["stack_top"])
    start = time.perf_counter()
    engine.emu_start(names["workload_start"] | 1, names["workload_done"])
    seconds = time.perf_counter() - start
    return EngineRun("unicorn", seconds, bytes(engine.mem_read(names["workload_result"], 4)).hex())


def qemu_absence() -> str | None:
    """Returns why QEMU cannot run. None if it can."""
    return None if shutil.which(QEMU) else f"{QEMU} is not installed: apt-get install --no-install-recommends {QEMU}"


def run_qemu(board: Board, elf: Path, *, icount: bool) -> EngineRun:
    """Runs the workload in QEMU's machine with such a core. The time includes the start of the process."""
    command = [QEMU, "-M", board.core.qemu_machine, "-kernel", str(elf), "-display", "none", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, *(["-icount", "shift=0"] if icount else [])],
        capture_output=True,
        text=True,
        check=False,
        timeout=QEMU_TIME_LIMIT_S,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{QEMU} failed: {done.stderr.strip()}")
    lines = (done.stdout + done.stderr).split()
    return EngineRun("QEMU -icount" if icount else "QEMU", seconds, lines[-1] if lines else "")
