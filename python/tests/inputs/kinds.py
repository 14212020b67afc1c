"""Every kind of input from outside: seeds of it, what reads it, and what may be raised."""

import io
import json
import struct
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any, Final

import click

from rtoslab.benchmark import Benchmark
from rtoslab.captures.forms import forms, parse_capture
from rtoslab.captures.pulses import find_pulses
from rtoslab.catalogue import strictly
from rtoslab.cli.names import CoreCounts, Duration, Frequency, IsoDate, KeyValue, integer
from rtoslab.compare.baseline import Baseline
from rtoslab.compare.rules import parse_limits
from rtoslab.configuration import demand_config
from rtoslab.decode import decode
from rtoslab.errors import CatalogueError, OverheadsError, ReportError, RtoslabError, TaskSetError
from rtoslab.footprint.callgraph import parse_callgraph
from rtoslab.footprint.elf import parse_elf
from rtoslab.footprint.linkmap import parse_map
from rtoslab.instruments.profile import parse_profile
from rtoslab.instruments.records import WAYS
from rtoslab.intake.objects import parse_object
from rtoslab.intake.tables import parse_table
from rtoslab.kernel_facts import Kernel
from rtoslab.papers.arithmetic import evaluate
from rtoslab.paths import find_root
from rtoslab.rta.overheads import parse_overheads
from rtoslab.rta.system import make_system
from rtoslab.rta.taskset import from_csv, parse_task_set
from rtoslab.run.marks import read_marks
from rtoslab.schemas import Board
from rtoslab.simulate import parse_script
from rtoslab.suites import Suite
from rtoslab.sweep.plan import SweepPlan
from tests.capture_files import META, SIGROK_CSV, VCD
from tests.fakes import BODY, WIRE, Fields, stream

from .mutate import mutated

ROOT: Final = find_root()
Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Kind:
    """One kind of input."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    read: Read
    refusals: tuple[type[Exception], ...] = (RtoslabError,)
    alter: Callable[[bytes, Random, bytes], bytes] = field(default=mutated)
    """Damages a seed; where a check sum would refuse all damage, it is made right again."""

    def made(self, random: Random) -> bytes:
        """One input."""
        seeds = _seeds(self)
        return self.alter(random.choice(seeds), random, random.choice(seeds))

    def refuses(self, data: bytes) -> str | None:
        """The sentence; None if it was read. Raises whatever else the reader raises."""
        try:
            self.read(data)
        except self.refusals as cause:
            return str(getattr(cause, "message", cause))
        return None


@cache
def _seeds(kind: Kind) -> Sequence[bytes]:
    return kind.seeds()


def _text(data: bytes) -> str:
    """As the guarded reader of files gives it: what is no text never comes further."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise CatalogueError(f"no text: {cause.reason}") from None


def _files(*patterns: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _capture(data: bytes) -> None:
    for each in (found := parse_capture(data, "x")).channels:
        find_pulses(each, found.tick_s).seconds()


def _head(form: str, head: bytes) -> Read:
    """One form at a time: what it does not recognise gets its head back."""
    return lambda data: _capture(data if forms()[form].recognises(data) else head + data)


def _stream_altered(data: bytes, random: Random, other: bytes) -> bytes:
    """Mostly with the right check sum on every line, so that damage comes further than that."""
    data = mutated(data, random, other)
    if random.random() < 0.2:
        return data
    return b"\n".join(_checked(line) for line in data.split(b"\n"))


def _checked(line: bytes) -> bytes:
    body, star, _ = line.rpartition(b" *")
    return b"%s *%08x" % (body, zlib.crc32(body)) if star else line


SESSION: Final = {
    "version": b"2",
    "metadata": (META + "probe1=D0\nprobe2=[/x]\nunitsize=1\n").encode(),
    "logic-1-1": b"\0\1\3\2\1\0" * 20,
    "logic-1-2": b"\1\0" * 9,
}


def _zipped(members: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            file.writestr(name, data, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return out.getvalue()


def _session_altered(data: bytes, random: Random, other: bytes) -> bytes:
    """Damage inside the archive as often as to it."""
    if random.random() < 0.4:
        return mutated(data, random, other)
    members = dict(SESSION)
    name = random.choice(list(members))
    if random.random() < 0.3:
        renamed = mutated(name.encode(), random).decode("latin-1").replace("\0", "_")[:60] or "x"
        members[renamed] = members.pop(name)
    else:
        members[name] = mutated(members[name], random)
    return _zipped(members, random)


def _elf() -> Sequence[bytes]:
    """A small image of this file's own making: header, one segment, four sections, three symbols."""
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.bench_marks\0"
    strings = b"\0main\0table\0_stack\0"
    symbols = b"".join(
        struct.pack("<IIIBBH", *row)
        for row in ((0,) * 6, (1, 0x10000001, 8, 0x12, 0, 1), (6, 0x10000008, 8, 0x11, 0, 1), (12, 64, 0, 0x10, 0, 1))
    )
    code, marks = bytes(range(16)), struct.pack("<4I", 0x10000001, 2, 0x10000005, 3)
    parts = [code, symbols, strings, names, marks]
    places = [52 + 32 + sum(map(len, parts[:index])) for index in range(6)]
    rows = [
        (0,) * 10,
        (1, 1, 6, 0x10000000, places[0], 16, 0, 0, 4, 0),
        (names.index(b".symtab"), 2, 0, 0, places[1], len(symbols), 3, 1, 4, 16),
        (names.index(b".strtab"), 3, 0, 0, places[2], len(strings), 0, 0, 1, 0),
        (names.index(b".shstrtab"), 3, 0, 0, places[3], len(names), 0, 0, 1, 0),
        (names.index(b".bench_marks"), 1, 0, 0, places[4], len(marks), 0, 0, 4, 0),
    ]
    head = struct.pack(
        "<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 40, 1, 0x10000001, 52, places[5], 0, 52, 32, 1, 40, len(rows), 4
    )
    segment = struct.pack("<8I", 1, places[0], 0x10000000, 0x10000000, 16, 16, 5, 4)
    return [head + segment + b"".join(parts) + b"".join(struct.pack("<10I", *row) for row in rows)]


def _image(data: bytes) -> None:
    read_marks(data, "x")
    parse_elf(data, "x")


MAP: Final = b"""Archive member included
Linker script and memory map
 .text          0x0000000010000000       0x1c kernel/libk.a(tasks.c.obj)
 .text.a_function_with_a_long_name
                0x000000001000001c       0x20 CMakeFiles/x.dir/main.c.obj
 *fill*         0x000000001000003c        0x4
OUTPUT(image.elf elf32-littlearm)
"""
GRAPH: Final = b"""graph: { title: "main.c"
node: { title: "main.c:f" label: "f\\nmain.c:3:5\\n24 bytes (static)\\n0 dynamic objects" }
node: { title: "g" label: "g\\nmain.c:9:5\\n16 bytes (dynamic)\\n1 dynamic objects" }
edge: { sourcename: "main.c:f" targetname: "g" label: "main.c:4:2" }
edge: { sourcename: "g" targetname: "__indirect_call" label: "main.c:4:2" }
"""
PROFILE: Final = {
    "format": 1, "ways": list(WAYS), "label": "x", "axes": {"a": "b"},
    "clock_hz": 1000, "observed_cycles": [7], "operations": 3, "classes": {"f": "kernel"}, "held": [], "locks": [],
    "spent": [{"core": 0, "stack": ["f"], "line": "a:1", "cycles": [4, 1, 0, 0, 2, 0, 0], "executions": 3, "calls": 1}],
}  # fmt: skip
OVERHEADS: Final = (
    b"clock_hz = 84_000_000\n[tick]\nperiod_cycles = 84000\nbase_cycles = 200\nper_task_cycles = 40\n[switch]\n"
    b"up_cycles = 90\ndown_cycles = 110\n[operations]\nmutex_lock_free = 30\n[[fit]]\nname = 'a'\nmodel = 'b'\n"
    b"samples = 3\nbase = 1.5\nrms = 0.5\nlargest_above = 2.0\nlargest_observed = 9\n"
)
TASKS_CSV: Final = (
    b"name,period_us,wcet_us,priority,sections\nfast,1000,125.5,3,\nslow, 10000 ,1500,1,bus:30 spi:12.5\n"
)


def _callgraph(data: bytes) -> None:
    graph = parse_callgraph(_text(data))
    for name in list(graph.names.values())[:20]:
        graph.deepest(name)


def _tasks(data: bytes) -> None:
    make_system(parse_task_set(parse_table(_text(data), "x", TaskSetError, exact=True), "x"), 84_000_000)


def _tasks_csv(data: bytes) -> None:
    make_system(parse_task_set(from_csv(_text(data), "x"), "x"), None)


def _model(model: type) -> Read:
    return lambda data: strictly(parse_table(_text(data), "x", CatalogueError), "x", model)


def _overheads(data: bytes) -> None:
    parse_overheads(parse_table(_text(data), "x", OverheadsError), "x")


def _profile(data: bytes) -> None:
    parse_profile(_object(data), "x")


def _object(data: bytes) -> dict[str, Any]:
    """As `read_object`, but from memory."""
    try:
        return parse_object(_text(data))
    except ValueError as cause:
        raise ReportError(f"no object: {cause}") from None


def _words() -> Sequence[bytes]:
    options = ("1,2", "250ms", "30s", "84MHz", "84000000", "2026-03-01", "2026-03-01T12:00:00Z", "configX=(1<<2)",
               "opt=-O3", "0x1234", "+2 %", "+0 cycles", "stack.*=+64 bytes", "lcm(r1,r2)*3")  # fmt: skip
    return [each.encode() for each in options]


def _options(data: bytes) -> None:
    """Each kind of option; what one refuses the next may take."""
    text = data.decode("utf-8", "surrogateescape")
    types = (CoreCounts(), Duration(), Frequency(), IsoDate())
    for reader in (*(each.convert for each in types), _pair):
        try:
            reader(text, None, None)
        except (click.ClickException, RtoslabError):
            continue
    for read in (lambda: integer(text, "x"), lambda: parse_limits(text), lambda: evaluate(text, {1: 4.0, 2: 6.0})):
        try:
            read()
        except (click.ClickException, RtoslabError):
            continue


def _pair(text: str, _: None, __: None) -> None:
    demand_config(dict([KeyValue().convert(text, None, None)]))


SALEAE: Final = (
    b"Time [s],D0,D1\n0.000000000,0,1\n0.000001500,1,1\n0.1,0,X\n",
    b"Time[s], Channel 0\n0.000000000000000, 0\n0.000000125000000, 1\n",
    b'"Time [s]","a,b"\n2024-05-11T23:59:59.999999999Z,0\n2024-05-12T00:00:00.5Z,1\n',
)
DSVIEW: Final = b"; CSV, generated by DSView\n; Sample rate: 1 MHz\nTime(s), D0, D1\n0,0,1\n0.000001,1,1\n1e-5,0,0\n"
PULSEVIEW: Final = (SIGROK_CSV + "logic,logic\n0,1\n0,1\n1,1\n0,0\n").encode()

KINDS: Final[dict[str, Kind]] = {
    each.name: each
    for each in (
        Kind("VCD", lambda: [VCD.encode(), b"$timescale 1 ns $end " + VCD.encode()], _head("vcd", b"$date ")),
        Kind("sigrok session", lambda: [_zipped(SESSION, Random(1))], _capture, alter=_session_altered),
        Kind("Saleae CSV", lambda: SALEAE, _head("saleae", b"Time [s],")),
        Kind("PulseView CSV", lambda: [PULSEVIEW, DSVIEW], _head("pulseview", b"; ")),
        Kind("record stream", lambda: [stream(), *_runs()], lambda data: decode(data, WIRE), alter=_stream_altered),
        Kind("task set, TOML", _files("examples/response-time/[ct]*.toml"), _tasks),
        Kind("task set, CSV", lambda: [TASKS_CSV], _tasks_csv),
        Kind("overheads, TOML", lambda: [OVERHEADS], _overheads),
        Kind("sweep plan", _files("docs/sweeps/*.toml"), _model(SweepPlan)),
        Kind("suite", _files("papers/*/suite.toml"), _model(Suite)),
        Kind("baseline", _files("baselines/main.toml"), _model(Baseline)),
        Kind("board", _files("firmware/boards/*/board.toml"), _model(Board)),
        Kind("kernel", _files("firmware/kernels/*/kernel.toml"), _model(Kernel)),
        Kind("benchmark", _files("firmware/benchmarks/t?_*/benchmark.toml"), _model(Benchmark)),
        Kind("profile, JSON", lambda: [json.dumps(PROFILE).encode()],
             _profile),
        Kind("overheads, JSON", lambda: [json.dumps(tomllib.loads(OVERHEADS.decode())).encode()],
             lambda data: parse_overheads(_object(data), "x")),
        Kind("image, ELF", _elf, _image),
        Kind("map file", lambda: [MAP], lambda data: parse_map(data, "x")),
        Kind("call graph", lambda: [GRAPH], _callgraph),
        Kind("options", _words, _options),
        Kind("typing script", lambda: [b"$ => help\n=> now\nname: => a\\tb\\c\n# x\n\\x41\\q => \\x\n"],
             lambda data: parse_script(_text(data))),
    )
}  # fmt: skip


def _runs() -> Sequence[bytes]:
    """Streams with samples as runs, and parameters."""
    body: list[tuple[str, Fields]] = [
        ("param", {"name": "samples", "value": "65"}),
        ("sample", {"metric": "a/0", "values": "812,13x62,140x2", "n": 65}),
        ("sample", {"metric": "a/0", "values": "18446744073709551615,7", "n": 2}),
    ]
    fault: tuple[str, Fields] = ("assert", {"run": "r%0a", "core": 0, "file": "a.c", "line": 3})
    return [stream([*BODY, *body]), stream([*BODY, fault])]
