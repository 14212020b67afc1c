"""Speed of the virtual Pico beside unicorn, on one image, in one run: `make bench`.

The virtual board runs in its only mode: exact cycles, SysTick interrupting, bus and XIP model on, two cores
interleaved to the cycle. unicorn counts nothing and models nothing; it sets the scale of the machine this runs on.
Figures of different machines cannot be compared, the ratios can.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import unicorn as uc
from unicorn import arm_const as arm

from rtoslab import _sim

HERE = Path(__file__).parent / "workload"
FLASH, SRAM, SIO, SCS = 0x1000_0000, 0x2000_0000, 0xD000_0000, 0xE000_E000
BARS = {"one core, MIPS": 250.0, "one core / unicorn": 0.3, "two cores, MIPS each": 100.0}


@dataclass
class Speed:
    """One engine's result: medians over the repeats."""

    name: str
    cores: int
    instructions_per_core: int
    seconds: float
    mips_per_core: float
    result: str


def crc32_boot(block: bytes) -> int:
    """Checksum of a boot block: polynomial 0x04c11db7, start 0xffffffff, not reflected, not inverted."""
    crc = 0xFFFF_FFFF
    for byte in block:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C1_1DB7 if crc >> 31 else crc << 1) & 0xFFFF_FFFF
    return crc


def tool(*command: str) -> str:
    """Runs a build tool; its own message is the error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def build(folder: Path, cores: int, rounds: int) -> Path:
    """Builds the workload for one or two cores and puts the checksum into its boot block."""
    elf = folder / f"mixed{cores}.elf"
    flags = ["-mcpu=cortex-m0plus", "-mthumb", "-O2", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Werror"]
    flags += [f"-DWORKLOAD_ROUNDS={rounds}", *(["-DTWO_CORES"] if cores == 2 else [])]
    sources = [str(HERE / "mixed.c"), str(HERE / "boot.S")]
    tool("arm-none-eabi-gcc", *flags, "-T", str(HERE / "link.ld"), "-o", str(elf), *sources, "-lgcc")
    block = folder / "boot.bin"
    tool("arm-none-eabi-objcopy", "-O", "binary", "--only-section=.boot2", str(elf), str(block))
    code = block.read_bytes()[:252]
    block.write_bytes(code + crc32_boot(code).to_bytes(4, "little"))
    tool("arm-none-eabi-objcopy", "--update-section", f".boot2={block}", str(elf))
    return elf


def virtual(elf: Path, cores: int) -> Speed:
    """One run on the virtual board."""
    machine = _sim.Machine("rp2040", cores=cores)
    machine.load(elf.read_bytes(), elf.name)
    done, result = machine.symbol("workload_done"), machine.symbol("workload_result")
    if done is None or result is None:
        sys.exit(f"{elf} lacks its symbols")
    machine.until(done)
    start = time.perf_counter()
    stop = machine.run(10**11)
    seconds = time.perf_counter() - start
    if stop["reason"] != "until":
        sys.exit(f"the workload did not finish: {stop['detail']}")
    counts = [core["instructions"] for core in machine.stats()["cores"][:cores]]
    mips = min(counts) / seconds / 1e6
    return Speed("virtual Pico", cores, min(counts), seconds, mips, machine.read(result, 4 * cores).hex())


def unicorn(elf: Path, instructions: int) -> Speed:
    """One run in unicorn, from the reset handler; it takes no SysTick interrupts, so its count is that of the board
    less the handler's, under one instruction in ten thousand."""
    names = {line.split()[2]: int(line.split()[0], 16) for line in tool("arm-none-eabi-nm", str(elf)).splitlines()}
    flat = elf.with_suffix(".bin")
    tool("arm-none-eabi-objcopy", "-O", "binary", str(elf), str(flat))
    engine = uc.Uc(uc.UC_ARCH_ARM, uc.UC_MODE_THUMB | uc.UC_MODE_MCLASS)
    engine.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M0)
    for base, size in ((FLASH, 2 << 20), (SRAM, 0x42000), (SIO, 0x1000), (SCS, 0x1000)):
        engine.mem_map(base, size)
    engine.mem_write(FLASH, flat.read_bytes())
    engine.reg_write(arm.UC_ARM_REG_SP, names["stack_top"])
    start = time.perf_counter()
    engine.emu_start(names["reset"] | 1, names["workload_done"])
    seconds = time.perf_counter() - start
    result = bytes(engine.mem_read(names["workload_result"], 4)).hex()
    return Speed("unicorn", 1, instructions, seconds, instructions / seconds / 1e6, result)


def median(runs: list[Speed]) -> Speed:
    """The run with the median time."""
    middle = statistics.median_low([run.seconds for run in runs])
    return next(run for run in runs if run.seconds == middle)


def main() -> None:
    """Measures, prints, compares with the bars; exit code 0 whatever the speed, for speed is no test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5000, help="workload size; 5000: over 200 M a core")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        images = {cores: build(Path(name), cores, options.rounds) for cores in (1, 2)}
        runs: dict[str, list[Speed]] = {"one": [], "two": [], "unicorn": []}
        # In turn, so that a slow spell of the machine hits all three alike.
        for _ in range(options.repeats):
            runs["one"].append(virtual(images[1], 1))
            runs["two"].append(virtual(images[2], 2))
            runs["unicorn"].append(unicorn(images[1], runs["one"][-1].instructions_per_core))
    one, two, other = (median(runs[key]) for key in ("one", "two", "unicorn"))
    if one.result != other.result:
        sys.exit(f"the results differ: {one.result} here, {other.result} in unicorn")
    measured = {
        "one core, MIPS": one.mips_per_core,
        "one core / unicorn": one.mips_per_core / other.mips_per_core,
        "two cores, MIPS each": two.mips_per_core,
    }
    if options.json:
        print(json.dumps({"runs": [asdict(each) for each in (one, two, other)], "measured": measured, "bars": BARS}))
        return
    for each in (one, two, other):
        print(
            f"{each.name:13} {each.cores} core{'s' if each.cores > 1 else ' '} "
            f"{each.instructions_per_core / 1e6:7.1f} M instructions per core in {each.seconds:6.2f} s: "
            f"{each.mips_per_core:7.1f} MIPS per core (median of {options.repeats}), checksum {each.result}"
        )
    for key, bar in BARS.items():
        print(f"{key:22} {measured[key]:8.2f}   bar {bar:g}: {'reached' if measured[key] >= bar else 'missed'}")


if __name__ == "__main__":
    main()
