"""Every kind of input from outside."""

import io
import json
import re
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import click

from rtoslab.base.errors import OverheadsFileError, ReportError, RtoslabError, TaskSetError
from rtoslab.base.paths import find_checkout_root
from rtoslab.captures.forms import capture_format_modules, parse_capture
from rtoslab.captures.pulses import find_pulses
from rtoslab.catalogue.benchmark import Benchmark
from rtoslab.catalogue.claim_schemas import ClaimFile
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.catalogue.paper_schemas import Paper, PaperMistakesFile
from rtoslab.catalogue.schemas import Board, FlashToolChipNames
from rtoslab.catalogue.suites import MeasurementSuite
from rtoslab.catalogue.trees import SourceTree
from rtoslab.cli.names import (
    CoreCountsParam,
    DurationParam,
    FrequencyParam,
    IsoDateParam,
    KeyValueParam,
    parse_option_integer,
)
from rtoslab.compare.baseline import Baseline
from rtoslab.compare.rules import parse_growth_limits
from rtoslab.footprint.callgraph import parse_callgraph
from rtoslab.footprint.linkmap import parse_linker_map
from rtoslab.hardware.bench import HardwareMap
from rtoslab.images.elf import parse_elf
from rtoslab.instruments.profiler import parse_profile, profile_digest
from rtoslab.intake.objects import parse_json_object
from rtoslab.intake.tables import parse_toml_table
from rtoslab.papers.arithmetic import evaluate_expression
from rtoslab.plan.configuration import require_valid_config
from rtoslab.records.decoder import decode_records
from rtoslab.rta.overheads import parse_kernel_overheads
from rtoslab.rta.system import convert_to_integer_task_set
from rtoslab.rta.taskcsv import parse_task_set_csv
from rtoslab.rta.taskset import parse_task_set
from rtoslab.sweep.plan import ConfigurationSweepPlan
from rtoslab.targets.marks import read_interval_marker_addresses
from rtoslab.targets.simulation import parse_serial_input_script
from rtoslab.trees.kernel_exports import parse_kconfig_options
from tests.capture_files import VCD
from tests.fakes import WIRE, stream
from tests.inputs import debug_info, descriptions
from tests.inputs.kind import Kind, Read, files, model, text_of
from tests.inputs.mutate import damage_input
from tests.inputs.seeds import (
    DSVIEW,
    GRAPH,
    MAP,
    OSCILLOSCOPES,
    OVERHEADS,
    PROFILE,
    PULSEVIEW,
    SALEAE,
    SALEAE_BINARY,
    SESSION,
    TASKS_CSV,
    elf,
    runs,
)

ROOT: Final = find_checkout_root()
_COMMENT: Final = re.compile(rb"^[ \t]*#.*\n", re.MULTILINE)


def _bare(*patterns: str) -> Callable[[], Sequence[bytes]]:
    """Without comments, in which damage does nothing."""
    return lambda: [_COMMENT.sub(b"", data) for data in files(*patterns)()]


def _kernels() -> Sequence[bytes]:
    """Of tables that list the same for each service or function, the first rows: the rest is more of them."""
    long = re.compile(rb"^(\[(?:symbols|arguments|results|classes|reasons)\]\n(?:.+\n){1,3})(?:.+\n)*", re.MULTILINE)
    return [long.sub(rb"\1", item) for item in _bare("firmware/kernels/*/kernel.toml")()]


def _baselines() -> Sequence[bytes]:
    """The repository's own, a point at a time: nearly all of the whole would be more of the same points."""
    head, *points = (ROOT / "baselines/main.toml").read_bytes().split(b"[[point]]\n")
    return [head + b"[[point]]\n" + point for point in points]


def _capture(data: bytes) -> None:
    for channel in (result := parse_capture(data, "x")).channels:
        find_pulses(channel, result.tick_s).pulse_widths_in_seconds()


def _head(form: str, head: bytes) -> Read:
    """One form at a time: what it does not recognise gets its head back."""
    return lambda data: _capture(data if capture_format_modules()[form].recognises_format(data) else head + data)


def _damage_stream(data: bytes, random: Random, other: bytes) -> bytes:
    """Mostly with the right check sum on every line, so that damage comes further than that."""
    data = damage_input(data, random, other)
    if random.random() < 0.2:
        return data
    return b"\n".join(_with_checksum(line) for line in data.split(b"\n"))


def _with_checksum(line: bytes) -> bytes:
    body, star, _ = line.rpartition(b" *")
    return b"%s *%08x" % (body, zlib.crc32(body)) if star else line


def _zip_members(members: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in members.items():
            file.writestr(name, data, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return out.getvalue()


def _damage_session(data: bytes, random: Random, other: bytes) -> bytes:
    """Damage inside the archive as often as to it."""
    if random.random() < 0.4:
        return damage_input(data, random, other)
    members = dict(SESSION)
    name = random.choice(list(members))
    if random.random() < 0.3:
        renamed = damage_input(name.encode(), random).decode("latin-1").replace("\0", "_")[:60] or "x"
        members[renamed] = members.pop(name)
    else:
        members[name] = damage_input(members[name], random)
    return _zip_members(members, random)


def _image(data: bytes) -> None:
    read_interval_marker_addresses(data, "x")
    parse_elf(data, "x")


def _callgraph(data: bytes) -> None:
    graph = parse_callgraph(text_of(data))
    for name in list(graph.names.values())[:20]:
        graph.worst_case_stack_bound(name)


def _tasks(data: bytes) -> None:
    convert_to_integer_task_set(
        parse_task_set(parse_toml_table(text_of(data), "x", TaskSetError, exact=True), "x"), 84_000_000
    )


def _tasks_csv(data: bytes) -> None:
    convert_to_integer_task_set(parse_task_set(parse_task_set_csv(text_of(data), "x"), "x"), None)


def _overheads(data: bytes) -> None:
    parse_kernel_overheads(parse_toml_table(text_of(data), "x", OverheadsFileError), "x")


def _profile(data: bytes) -> None:
    result = _object(data)
    parse_profile(
        {**result, "sha256": profile_digest({key: item for key, item in result.items() if key != "sha256"})}, "x"
    )


def _object(data: bytes) -> dict[str, Any]:
    """As `read_json_object`, but from memory."""
    try:
        return parse_json_object(text_of(data))
    except ValueError as cause:
        raise ReportError(f"no object: {cause}") from None


def _words() -> Sequence[bytes]:
    options = ("1,2", "250ms", "30s", "84MHz", "84000000", "2026-03-01", "2026-03-01T12:00:00Z", "configX=(1<<2)",
               "opt=-O3", "0x1234", "+2 %", "+0 cycles", "stack.*=+64 bytes", "lcm(r1,r2)*3")  # fmt: skip
    return [option.encode() for option in options]


def _options(data: bytes) -> None:
    """Each kind of option; what one refuses the next may take."""
    text = data.decode("utf-8", "surrogateescape")
    types = (CoreCountsParam(), DurationParam(), FrequencyParam(), IsoDateParam())
    for reader in (*(type_.convert for type_ in types), _pair):
        try:
            reader(text, None, None)
        except (click.ClickException, RtoslabError):
            continue
    for read in (
        lambda: parse_option_integer(text, "x"),
        lambda: parse_growth_limits(text),
        lambda: evaluate_expression(text, {1: 4.0, 2: 6.0}),
    ):
        try:
            read()
        except (click.ClickException, RtoslabError):
            continue


def _pair(text: str, _: None, __: None) -> None:
    require_valid_config(dict([KeyValueParam().convert(text, None, None)]))


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("VCD", lambda: [VCD.encode(), b"$timescale 1 ns $end " + VCD.encode()], _head("vcd", b"$date ")),
        Kind("sigrok session", lambda: [_zip_members(SESSION, Random(1))], _capture, alter=_damage_session),
        Kind("Saleae CSV", lambda: SALEAE, _head("saleae", b"Time [s],")),
        Kind("Saleae binary", lambda: SALEAE_BINARY, _head("saleae_binary", b"<SALEAE>")),
        Kind("oscilloscope CSV", lambda: OSCILLOSCOPES, _head("oscilloscope", b"x-axis,1\n")),
        Kind("PulseView CSV", lambda: [PULSEVIEW, DSVIEW], _head("pulseview", b"; ")),
        Kind(
            "record stream",
            lambda: [stream(), *runs()],
            lambda data: decode_records(data, WIRE),
            alter=_damage_stream,
        ),
        Kind("task set, TOML", _bare("examples/response-time/[ct]*.toml"), _tasks),
        Kind("task set, CSV", lambda: [TASKS_CSV], _tasks_csv),
        Kind("overheads, TOML", lambda: [OVERHEADS], _overheads),
        Kind("sweep plan", _bare("docs/sweeps/*.toml"), model(ConfigurationSweepPlan)),
        Kind("suite", _bare("papers/*/suite.toml"), model(MeasurementSuite)),
        Kind("baseline", _baselines, model(Baseline)),
        Kind("board", _bare("firmware/boards/*/board.toml"), model(Board)),
        Kind("kernel", _kernels, model(Kernel)),
        Kind("benchmark", _bare("firmware/benchmarks/t?_*/benchmark.toml"), model(Benchmark)),
        Kind("profile, JSON", lambda: [json.dumps(PROFILE).encode()],
             _profile),
        Kind("overheads, JSON", lambda: [json.dumps(tomllib.loads(OVERHEADS.decode())).encode()],
             lambda data: parse_kernel_overheads(_object(data), "x")),
        Kind("image, ELF", elf, _image),
        Kind("map file", lambda: [MAP], lambda data: parse_linker_map(data, "x")),
        Kind("call graph", lambda: [GRAPH], _callgraph),
        Kind("options", _words, _options),
        Kind("hardware map", lambda: [descriptions.BENCH], model(HardwareMap)),
        Kind("names for flashing", _bare("firmware/boards/*/flash.toml"), model(FlashToolChipNames)),
        Kind("calibration", lambda: [descriptions.silicon()], descriptions.read_calibration,
             alter=descriptions.damage_silicon_file),
        Kind("tree", lambda: [descriptions.TREE], model(SourceTree)),
        Kind("project", lambda: [descriptions.PROJECT], descriptions.read_project),
        Kind("export's settings", lambda: [descriptions.EXPORT], lambda data: parse_kconfig_options(text_of(data))),
        Kind("paper", lambda: descriptions.papers("paper.toml"), model(Paper)),
        Kind("claims", lambda: descriptions.papers("claims.toml"), model(ClaimFile)),
        Kind("slips", lambda: descriptions.papers("slips.toml"), model(PaperMistakesFile)),
        Kind("published figures", lambda: descriptions.papers("published.csv"), descriptions.read_published),
        Kind("reference results", descriptions.references, descriptions.read_references,
             alter=descriptions.damage_reference_file),
        Kind("debug information", debug_info.images, debug_info.read, alter=debug_info.damage_debug_section),
        Kind("typing script", lambda: [b"$ => help\n=> now\nname: => a\\tb\\c\n# x\n\\x41\\q => \\x\n"],
             lambda data: parse_serial_input_script(text_of(data))),
    )
}  # fmt: skip
