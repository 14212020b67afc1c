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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

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
        each = commands.add_parser(name)
        each.add_argument("--chip")
        each.add_argument("--probe")
        each.add_argument("--protocol", choices=["swd", "jtag"])
        each.add_argument("--speed", type=int)
        each.add_argument("--non-interactive", action="store_true")
        each.add_argument("--connect-under-reset", action="store_true")
        if name == "download":
            each.add_argument("--verify", action="store_true")
            each.add_argument("--preverify", action="store_true")
            each.add_argument("--chip-erase", action="store_true")
            each.add_argument("--binary-format", choices=["elf", "bin", "hex", "uf2"], default="elf")
            each.add_argument("path")
    told = parser.parse_args(words)
    found = re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}(?::(.+))?", told.probe or "")
    if not found:
        refuse("invalid value for '--probe': VID:PID or VID:PID:Serial")
    if told.command == "download":
        flash("elf", told.path, found[1], told.chip, start=False)
    elif "error" in (answer := desk(do="reset", serial=found[1])):
        refuse(answer["error"])


def pyocd(words: Sequence[str]) -> None:
    """pyocd.io, command reference, `load` (alias `flash`): -e/--erase, -a, --format, --no-reset; -u/--uid/--probe,
    -t/--target, -f, -W/--no-wait, -M. It resets the target when it has written."""
    parser = Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser("load", aliases=["flash"])
    each.add_argument("-e", "--erase", choices=["auto", "chip", "sector"])
    each.add_argument("-a", "--base-address")
    each.add_argument("--format", choices=["bin", "hex", "elf"])
    each.add_argument("--no-reset", action="store_true")
    each.add_argument("-u", "--uid", "--probe", dest="uid")
    each.add_argument("-t", "--target")
    each.add_argument("-f", "--frequency")
    each.add_argument("-W", "--no-wait", action="store_true")
    each.add_argument("-M", "--connect", choices=["halt", "pre-reset", "under-reset", "attach"])
    each.add_argument("file", nargs=1)
    told = parser.parse_args(words)
    flash(told.format or Path(told.file[0]).suffix[1:], told.file[0], told.uid, told.target, start=not told.no_reset)


def openocd(words: Sequence[str]) -> None:
    """openocd.org, Running: -f FILE, -c COMMAND; Flash Programming: `program FILE [verify] [reset] [exit]`; Debug
    Adapter Configuration: `adapter serial STRING`. Braces are the script language's own quotes."""
    parser = Parser()
    parser.add_argument("-f", "--file", action="append", default=[])
    parser.add_argument("-c", "--command", action="append", default=[])
    told = parser.parse_args(words)
    interfaces = {"interface/stlink.cfg", "interface/cmsis-dap.cfg", "interface/jlink.cfg"}
    targets = {f"target/{name}.cfg" for name in ("stm32f1x", "stm32f4x", "stm32f7x", "stm32h7x", "stm32l0", "rp2040")}
    if len(told.file) != 2 or told.file[0] not in interfaces or told.file[1] not in targets:
        refuse(f"Can't find {told.file}")
    serial, done = None, False
    for command in told.command:
        if found := re.fullmatch(r"adapter serial (\S+)", command):
            serial = found[1]
        elif found := re.fullmatch(r"program \{([^{}]+)\}((?: (?:verify|reset|exit))*)", command):
            if "exit" not in found[2].split():
                refuse("it would go on for ever")
            flash("elf", found[1], serial, told.file[1], start="reset" in found[2].split())
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
    told = parser.parse_args(words)
    if not re.fullmatch(r"0x[0-9a-fA-F]+", told.address):
        refuse("ADDR is hexadecimal")
    if Path(told.file).read_bytes().startswith(b"\x7fELF"):
        refuse("use the .bin image")
    if told.reset:
        desk(do="reset", serial=told.serial)
    flash(f"bin@{told.address}", told.file, told.serial, start=told.reset)


def picotool(words: Sequence[str]) -> None:
    """`picotool help load`: picotool load [-n] [-N] [-u] [-v] [-x] <filename> [-t <type>] [-o <offset>] [--bus <bus>]
    [--address <addr>] [-f] [-F]; -x: execute what was loaded; needs a board in BOOTSEL."""
    parser = Parser()
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser("load")
    for name in ("-n", "-N", "-u", "-v", "-x", "-f", "-F"):
        each.add_argument(name, action="store_true")
    each.add_argument("filename")
    each.add_argument("-t", choices=["uf2", "elf", "bin"])
    each.add_argument("-o")
    each.add_argument("--bus", type=int)
    each.add_argument("--address", type=int)
    told = parser.parse_args(words)
    flash(told.t or Path(told.filename).suffix[1:], told.filename, f"{told.bus}:{told.address}", start=told.x)


TOOLS: dict[str, Callable[[Sequence[str]], None]] = {
    "probe-rs": probe_rs,
    "pyocd": pyocd,
    "openocd": openocd,
    "st-flash": st_flash,
    "picotool": picotool,
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
