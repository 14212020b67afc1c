"""Stand-ins for the programs that flash: each takes exactly the command line that the program's own documentation has,
and then has the desk's board flashed. What the documentation does not allow is an error, as it is to the program.

`python -m` does not come into it: `install` writes one small script for each into a folder that is put on PATH.
"""

import argparse
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

SOCKET = "RTOSLAB_TEST_DESK"
"""Where the desk listens."""


class Parser(argparse.ArgumentParser):
    """No abbreviations: the real programs take none, or other ones."""

    def __init__(self, **rest: Any) -> None:
        super().__init__(**{**rest, "allow_abbrev": False})


def refuse(why: str) -> NoReturn:
    sys.stderr.write(f"{Path(sys.argv[0]).name}: {why}\n")
    sys.exit(2)


def desk(**request: object) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[SOCKET])
        line.sendall(json.dumps({**request, "argv": sys.argv}).encode() + b"\n")
        return dict(json.loads(line.makefile().readline()))


def flash(form: str, image: str, serial: str | None, chip: str | None = None, *, start: bool = True) -> None:
    answer = desk(do="flash", form=form, image=image, serial=serial, chip=chip, start=start)
    if "error" in answer:
        refuse(answer["error"])


def probe_rs(words: Sequence[str]) -> None:
    """probe-rs-tools: `ProbeOptions` (--chip, --protocol, --non-interactive, --probe VID:PID[:SERIAL], --speed ...) and
    `BinaryDownloadOptions` (--verify, --preverify, --chip-erase ...); subcommands `download` and `reset`. A download
    leaves the core halted."""
    parser = Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("download", "reset"):
        item = commands.add_parser(name)
        item.add_argument("--chip")
        item.add_argument("--probe")
        item.add_argument("--protocol", choices=["swd", "jtag"])
        item.add_argument("--speed", type=int)
        item.add_argument("--non-interactive", action="store_true")
        item.add_argument("--connect-under-reset", action="store_true")
        if name == "download":
            item.add_argument("--verify", action="store_true")
            item.add_argument("--preverify", action="store_true")
            item.add_argument("--chip-erase", action="store_true")
            item.add_argument("--binary-format", choices=["elf", "bin", "hex", "uf2"], default="elf")
            item.add_argument("path")
    report = parser.parse_args(words)
    match = re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}(?::(.+))?", report.probe or "")
    if not match:
        refuse("invalid value for '--probe': VID:PID or VID:PID:Serial")
    if report.command == "download":
        flash("elf", report.path, match[1], report.chip, start=False)
    elif "error" in (answer := desk(do="reset", serial=match[1])):
        refuse(answer["error"])


def pyocd(words: Sequence[str]) -> None:
    """pyocd.io, command reference, `load` (alias `flash`): -e/--erase, -a, --format, --no-reset; -u/--uid/--probe,
    -t/--target, -f, -W/--no-wait, -M. It resets the target when it has written."""
    parser = Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    item = commands.add_parser("load", aliases=["flash"])
    item.add_argument("-e", "--erase", choices=["auto", "chip", "sector"])
    item.add_argument("-a", "--base-address")
    item.add_argument("--format", choices=["bin", "hex", "elf"])
    item.add_argument("--no-reset", action="store_true")
    item.add_argument("-u", "--uid", "--probe", dest="uid")
    item.add_argument("-t", "--target")
    item.add_argument("-f", "--frequency")
    item.add_argument("-W", "--no-wait", action="store_true")
    item.add_argument("-M", "--connect", choices=["halt", "pre-reset", "under-reset", "attach"])
    item.add_argument("file", nargs=1)
    report = parser.parse_args(words)
    flash(
        report.format or Path(report.file[0]).suffix[1:],
        report.file[0],
        report.uid,
        report.target,
        start=not report.no_reset,
    )


def openocd(words: Sequence[str]) -> None:
    """openocd.org, Running: -f FILE, -c COMMAND; Flash Programming: `program FILE [verify] [reset] [exit]`; Debug
    Adapter Configuration: `adapter serial STRING`. Braces are the script language's own quotes."""
    parser = Parser()
    parser.add_argument("-f", "--file", action="append", default=[])
    parser.add_argument("-c", "--command", action="append", default=[])
    report = parser.parse_args(words)
    interfaces = {"interface/stlink.cfg", "interface/cmsis-dap.cfg", "interface/jlink.cfg"}
    targets = {f"target/{name}.cfg" for name in ("stm32f1x", "stm32f4x", "stm32f7x", "stm32h7x", "stm32l0", "rp2040")}
    if len(report.file) != 2 or report.file[0] not in interfaces or report.file[1] not in targets:
        refuse(f"Can't find {report.file}")
    serial, done = None, False
    for command in report.command:
        if match := re.fullmatch(r"adapter serial (\S+)", command):
            serial = match[1]
        elif match := re.fullmatch(r"program \{([^{}]+)\}((?: (?:verify|reset|exit))*)", command):
            if "exit" not in match[2].split():
                refuse("it would go on for ever")
            flash("elf", match[1], serial, report.file[1], start="reset" in match[2].split())
            done = True
        else:
            refuse(f"invalid command name {command!r}")
    if not done:
        refuse("nothing was programmed")


def st_flash(words: Sequence[str]) -> None:
    """man st-flash (stlink-tools): `st-flash [OPTIONS] {read|write|erase} [FILE] <ADDR> <SIZE>`; --reset: before and
    after flashing; --serial iSerial; --format {binary|ihex}. ADDR is hexadecimal; the image is a .bin, not an ELF."""
    parser = Parser()
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--serial")
    parser.add_argument("--format", choices=["binary", "ihex"])
    parser.add_argument("--connect-under-reset", action="store_true")
    parser.add_argument("command", choices=["write"])
    parser.add_argument("file")
    parser.add_argument("address")
    report = parser.parse_args(words)
    if not re.fullmatch(r"0x[0-9a-fA-F]+", report.address):
        refuse("ADDR is hexadecimal")
    if Path(report.file).read_bytes().startswith(b"\x7fELF"):
        refuse("use the .bin image")
    if report.reset:
        desk(do="reset", serial=report.serial)
    flash(f"bin@{report.address}", report.file, report.serial, start=report.reset)


def picotool(words: Sequence[str]) -> None:
    """`picotool help load`: picotool load [-n] [-N] [-u] [-v] [-x] <filename> [-t <type>] [-o <offset>] [--bus <bus>]
    [--address <addr>] [-f] [-F]; -x: execute what was loaded; needs a board in BOOTSEL."""
    parser = Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    item = commands.add_parser("load")
    for name in ("-n", "-N", "-u", "-v", "-x", "-f", "-F"):
        item.add_argument(name, action="store_true")
    item.add_argument("filename")
    item.add_argument("-t", choices=["uf2", "elf", "bin"])
    item.add_argument("-o")
    item.add_argument("--bus", type=int)
    item.add_argument("--address", type=int)
    report = parser.parse_args(words)
    flash(
        report.t or Path(report.filename).suffix[1:], report.filename, f"{report.bus}:{report.address}", start=report.x
    )


def sigrok_cli(words: Sequence[str]) -> None:
    """man sigrok-cli (0.7.2): -d DRIVER[:key=value...], -c key=value:..., -C channel[=name],..., --time MS, -O FORMAT,
    -o FILE. What the real program says and ends with where there is no device, no such driver, channel or format."""
    parser = Parser()
    parser.add_argument("-d", "--driver")
    parser.add_argument("-c", "--config")
    parser.add_argument("-C", "--channels")
    parser.add_argument("-O", "--output-format")
    parser.add_argument("-o", "--output-file")
    parser.add_argument("--time")
    report = parser.parse_args(words)
    driver, *scan = report.driver.split(":")
    named = [re.fullmatch(r"(D[0-7])(?:=(\w+))?", part) for part in report.channels.split(",")]
    rate = re.fullmatch(r"samplerate=([1-9]\d*)", report.config)
    if driver != "fx2lafw" or not all(re.fullmatch(r"(conn|serialcomm)=.+", item) for item in scan):
        sys.exit(f"Driver {driver} not found.")
    if not all(named) or not rate or report.output_format != "vcd" or not re.fullmatch(r"\d+(ms|s)?", report.time):
        sys.exit(f"unknown channel, option, format or time in {words}.")
    how = desk(do="analyzer")["analyzer"]
    if how == "missing":
        sys.exit("No devices found.")
    names = [item[2] or item[1] for item in named if item]
    with Path(report.output_file).open("w") as file:
        play(file, int(rate[1]), names, early=how == "early")


def play(file: TextIO, rate_hz: int, names: Sequence[str], *, early: bool) -> None:
    """What sigrok's VCD has of such samples: times rounded to 100 ps, no end but where the time is over."""
    marks = "".join(chr(33 + number) for number in range(len(names)))
    wires = "\n".join(f"$var wire 1 {mark} {name} $end" for mark, name in zip(marks, names, strict=True))
    file.write(
        f"$date now $end\n$version libsigrok 0.5.2 $end\n$comment\n  Acquisition with {len(names)}/8 channels at "
        f"{rate_hz / 1e6:g} MHz\n$end\n$timescale 100 ps $end\n$scope module libsigrok $end\n{wires}\n$upscope $end\n"
        f"$enddefinitions $end\n#0 {' '.join(f'0{mark}' for mark in marks)}\n"
    )
    file.flush()
    mark, level, sample, shown, taken = marks[names.index("out")], 0, 0, 0, 0
    while True:
        result = desk(do="edges", after=taken)
        taken += len(result["edges"])
        for cycle, new in result["edges"]:
            place = -(-cycle * rate_hz // result["clock_hz"])
            if place > sample and level != shown:
                file.write(f"#{round(sample * 10**10 / rate_hz)} {level}{mark}\n")
                shown = level
            sample, level = place, new
        if result["over"] and level != shown:
            file.write(f"#{round(sample * 10**10 / rate_hz)} {level}{mark}\n")
            shown = level
        file.flush()
        if early and result["edges"]:
            sys.exit(0)
        time.sleep(0.02)


TOOLS: dict[str, Callable[[Sequence[str]], None]] = {
    "probe-rs": probe_rs,
    "pyocd": pyocd,
    "openocd": openocd,
    "st-flash": st_flash,
    "picotool": picotool,
    "sigrok-cli": sigrok_cli,
}


def install(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    tests = Path(__file__).parents[2]
    for name in names:
        script = folder / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(tests)!r})\n"
            f"from tests.hardware.stand_ins import TOOLS\nTOOLS[{name!r}](sys.argv[1:])\n"
        )
        script.chmod(0o755)
