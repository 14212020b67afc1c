"""The cache of objects, by single files and the real compiler: what makes one new, and what does not."""

import io
import time
from pathlib import Path

import pytest

from rtoslab.base import tools
from rtoslab.base.tools import find_build_program
from rtoslab.images import compile_steps
from rtoslab.images.compilation import FIRMWARE_LINK, CompilerCall, parse_compiler_call
from rtoslab.images.object_cache import ObjectFileCache, compiler_identity

MACROS = "#define ASKED 1\n"
SOURCE = '#include "facts.h"\n#include "own.h"\nint value(void) { return ASKED + OWN; }\n'
WARNED = '#include "own.h"\nint value(int unused) { return OWN; }\n'


class Place:
    """A checkout with one source, its header, and a cache; each build has a folder of its own, as images have."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.firmware = folder / "firmware"
        self.cache = cache
        self.builds = 0
        self.log = ""
        self.work = folder
        self.write("source.c", SOURCE)
        self.write("headers/own.h", "#define OWN 10\n")
        (self.firmware / "first").mkdir()

    def write(self, name: str, text: str) -> None:
        path = self.firmware / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def build(
        self,
        facts: str = MACROS,
        *more: str,
        name: str = "firmware",
        source: str = "source.c",
        identity: str = "",
        script: str = "",
    ) -> tuple[bool, bytes]:
        """Whether the compiler had to work, and the object, which must be that of CMake's own call without a cache."""
        time.sleep(0.02)  # a file that was just written is not taken for known
        self.builds += 1
        self.work = self.folder / "build" / f"build-{self.builds}"
        (self.work / "generated").mkdir(parents=True)
        (self.work / "generated" / "facts.h").write_text(facts)
        time.sleep(0.02)
        output = ("-MD", "-MT", "x.obj", "-MF", "x.d", "-o", "x.obj", "-c")
        folders = (f"-I{self.work}/generated", f"-I{self.firmware}/first", f"-I{self.firmware}/headers")
        pairs = ((self.firmware, name), (self.work, "build"))
        maps = [f"-f{kind}-prefix-map={folder}={into}" for kind in ("file", "debug") for folder, into in pairs]
        gcc = str(find_build_program("arm-none-eabi-gcc"))
        if script:
            (self.work / "script-gcc").write_text(f'#!/bin/sh\nexec {gcc} {script} "$@"\n')
            (self.work / "script-gcc").chmod(0o755)
            gcc = str(self.work / "script-gcc")
        words = (gcc, "-g", "-O2", *more, *folders, *maps, *output, str(self.firmware / source))
        call = CompilerCall(self.work, words, self.firmware)
        (self.work / FIRMWARE_LINK).symlink_to(self.firmware)
        log = io.StringIO()
        objects = ObjectFileCache(self.work, self.firmware, self.cache, identity or compiler_identity(clang=False))
        compile_steps._StepRunner(objects, log).compile(call)
        self.log = log.getvalue()
        content = call.object_file_path.read_bytes()
        if not any(word.startswith("-flto") for word in more):  # such an object has random names
            assert compile_steps._run(words, self.work).returncode == 0
            assert call.object_file_path.read_bytes() == content
        return "Compiled" in self.log, content


def stored_files(place: Place) -> list[Path]:
    """The files in which ccache stores objects and what they were compiled from."""
    return [path for path in place.cache.glob("[0-9a-f]/**/*") if path.is_file() and path.name != "stats"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path / "cache")


def test_same_file_is_compiled_once(place: Place) -> None:
    compiled, content = place.build()
    assert compiled
    assert place.build() == (False, content)


def test_other_macro_in_a_generated_header_counts(place: Place) -> None:
    _, first = place.build()
    compiled, second = place.build("#define ASKED 5\n")
    assert compiled
    assert first != second
    assert place.build(MACROS + "#define UNUSED 1\n") == (False, first), "it comes to the same code"


def test_another_checkout_finds_the_object(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    place.write("source.c", WARNED)
    _, content = place.build(MACROS, "-Wunused-parameter")
    further = Place(tmp_path_factory.mktemp("a further one"), place.cache)
    further.write("source.c", WARNED)
    assert further.build(MACROS, "-Wunused-parameter") == (False, content)
    assert f"{further.firmware}/source.c:2:" in further.log
    assert "warning: unused parameter" in further.log
    further.write("first/own.h", "#define OWN 12\n")
    assert further.build(MACROS, "-Wunused-parameter")[0]


def test_macro_with_the_checkouts_path_counts(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    further = Place(tmp_path_factory.mktemp("longer name"), place.cache)
    for checkout in (place, further):
        checkout.write("source.c", "int value(void) { return sizeof PLACE; }\n")
        assert checkout.build(MACROS, f'-DPLACE="{checkout.folder}/x"')[0]


def test_edited_header_invalidates_the_object(place: Place) -> None:
    _, first = place.build()
    place.write("headers/own.h", "#define OWN 11\n")
    compiled, second = place.build()
    assert compiled
    assert first != second
    place.write("headers/own.h", "#define OWN 10\n")
    assert place.build() == (False, first)


def test_new_header_that_shadows_another_is_noticed(place: Place) -> None:
    _, first = place.build()
    place.write("first/own.h", "#define OWN 12\n")
    compiled, second = place.build()
    assert compiled
    assert first != second


def test_new_header_that_is_asked_for_is_noticed(place: Place) -> None:
    place.write("source.c", '#if __has_include("later/new.h")\nint later;\n#endif\nint value;\n')
    place.build()
    place.write("headers/later/new.h", "")
    assert place.build()[0]


def test_other_name_of_a_folder_in_the_object_counts(place: Place) -> None:
    _, first = place.build()
    compiled, second = place.build(name="sources")
    assert compiled
    assert first != second


def test_other_compiler_counts(place: Place) -> None:
    assert place.build(identity="one")[0]
    assert place.build(identity="other")[0]
    assert not place.build(identity="one")[0]


def test_other_script_that_starts_the_compiler_counts(place: Place) -> None:
    assert place.build(script="-fno-inline")[0]
    assert place.build(script="-funroll-loops")[0]
    assert not place.build(script="-fno-inline")[0]


@pytest.mark.parametrize("option", ["-DOWN=3", "-O1", "-fno-inline"])
def test_other_code_or_option_is_compiled_again(place: Place, option: str) -> None:
    place.write("headers/own.h", "#ifndef OWN\n#define OWN 10\n#endif\n")
    place.build()
    assert place.build(MACROS, option)[0]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("source.c", '__asm(".include \\"{0}/own.s\\"");\n'),
        ("source.c", '__asm(".incbin \\"{0}/own.s\\"");\n'),
        ("source.S", '.include "{0}/own.s"\n'),
        ("source.S", '#include "own.h"\n.incbin "{0}/own.s"\n'),
    ],
)
def test_object_with_a_file_that_the_assembler_reads_is_not_cached(place: Place, source: str, code: str) -> None:
    place.write("own.s", ".word 1\n")
    place.write("headers/own.h", "")
    place.write(source, code.format(place.firmware))
    _, first = place.build(source=source)
    place.write("own.s", ".word 2\n")
    compiled, second = place.build(source=source)
    assert compiled
    assert first != second


def test_file_that_the_assembler_reads_is_noticed_in_a_header(place: Place) -> None:
    place.write("own.s", ".word 1\n")
    place.write("headers/own.h", f'#define OWN 1\n__asm(".include \\"{place.firmware}/own.s\\"");\n')
    _, first = place.build()
    place.write("own.s", ".word 2\n")
    compiled, second = place.build()
    assert compiled
    assert first != second


def test_object_with_the_time_is_compiled_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("source.c", "const char built[] = __TIME__;\n")
    monkeypatch.setitem(tools.BUILD_VARIABLES, "SOURCE_DATE_EPOCH", "for a time that this test chooses")
    contents = set()
    for second in range(2):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(second))
        compiled, content = place.build()
        assert compiled
        contents.add(content)
    assert len(contents) == 2


def test_object_that_is_compiled_at_the_link_is_not_cached(place: Place) -> None:
    for _ in range(2):
        assert place.build(MACROS, "-flto=1")[0]
    assert not place.cache.exists()


def test_object_specific_to_an_image_is_not_cached(place: Place) -> None:
    place.write("source.c", '#include "facts.h"\nconst char id[] = BENCH_RUN_ID;\n')
    for run in ("one", "two"):
        compiled, content = place.build(f'#define BENCH_RUN_ID "{run}"\n')
        assert compiled
        assert run.encode() in content
    assert not place.cache.exists()


def test_call_graph_is_cached(place: Place) -> None:
    place.build(MACROS, "-fcallgraph-info=su")
    graph = (place.work / "x.ci").read_bytes()
    assert not place.build(MACROS, "-fcallgraph-info=su")[0]
    assert (place.work / "x.ci").read_bytes() == graph


def test_files_read_are_those_of_this_build(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    further = Place(tmp_path_factory.mktemp("further"), place.cache)
    for checkout in (place, further):
        checkout.build()
        (listed,) = (path for path in checkout.work.glob("x.d"))
        call = CompilerCall(checkout.work, ("gcc", "-MF", listed.name, "-c", "x.c"), checkout.firmware)
        names = ("firmware/headers/own.h", "firmware/source.c", f"build/build-{checkout.builds}/generated/facts.h")
        assert set(call.files_read_by_compiler()) == {str(checkout.folder / name) for name in names}


@pytest.mark.parametrize("damage", [b"", b"x", b"\n"])
def test_damaged_object_is_ignored(place: Place, damage: bytes) -> None:
    _, content = place.build()
    for path in stored_files(place):
        path.write_bytes(path.read_bytes()[:-20] + damage)
    assert place.build() == (True, content)
    assert place.build() == (False, content)


def test_cache_that_cannot_be_written_only_prevents_caching(place: Place) -> None:
    place.cache.write_text("not a folder\n")
    compiled, content = place.build()
    assert compiled
    assert place.build() == (True, content)


def test_build_without_ccache_compiles_each_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, content = place.build()
    monkeypatch.setattr(tools, "program_output", lambda *_: "ccache version 4.13.9")
    tools.find_ccache.cache_clear()
    try:
        assert tools.find_ccache() is None
        assert place.build() == (True, content)
    finally:
        monkeypatch.undo()
        tools.find_ccache.cache_clear()


def test_settings_of_the_user_do_not_reach_ccache(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, content = place.build()
    for name in ("CCACHE_DISABLE", "CCACHE_RECACHE", "CCACHE_DEBUG"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CCACHE_DIR", str(place.folder / "elsewhere"))
    for folder in (place.folder, place.folder / "build", place.cache):
        (folder / "ccache.conf").write_text("recache = true\ndebug = true\n")
    assert place.build() == (False, content)
    assert not list(place.folder.rglob("*ccache-log"))


def test_compiler_error_is_reported_and_nothing_cached(place: Place) -> None:
    place.write("source.c", SOURCE.replace("ASKED", "NOBODY"))
    with pytest.raises(compile_steps.StepFailedError):
        place.build()
    assert not stored_files(place)


def test_cache_has_a_size_limit_and_no_configuration_file(place: Place) -> None:
    place.build()
    call = CompilerCall(place.work, ("gcc", "-o", "x.obj", str(place.firmware / "source.c")), place.firmware)
    objects = ObjectFileCache(place.work, place.firmware, place.cache, compiler_identity(clang=False))
    process = compile_steps._run([str(objects.ccache), "--show-config"], place.work, objects.settings(call))
    lines = process.stdout.splitlines()
    assert "(environment) max_size = 512.0 MB" in lines
    assert not [line for line in lines if not line.startswith(("(environment)", "(default)"))]


def test_compilations_are_recognised(tmp_path: Path) -> None:
    line = 'bin/arm-none-eabi-gcc -DX=\\"a.h\\" -MD -MT a.obj -MF a.obj.d -o a.obj -c /src/a.c'
    result = parse_compiler_call(tmp_path, line, tmp_path)
    assert result is not None
    assert result.arguments[1] == '-DX="a.h"'
    assert (result.path_of_compiled_source_file, result.object_file_path) == (Path("/src/a.c"), tmp_path / "a.obj")
    assert parse_compiler_call(tmp_path, f": && {line} && :", tmp_path) is None
    assert parse_compiler_call(tmp_path, "bin/arm-none-eabi-gcc -o image.elf a.obj", tmp_path) is None


@pytest.mark.parametrize(
    ("build_file", "words"),
    [("", "name no step"), ("rule r\n command = true\nbuild a: r\nbuild a: r\n", "multiple rules generate a")],
)
def test_build_without_steps_is_an_error(tmp_path: Path, build_file: str, words: str) -> None:
    """An empty folder would be sealed and found again as built."""
    (tmp_path / "build.ninja").write_text(build_file)
    log = io.StringIO()
    with pytest.raises(compile_steps.StepFailedError):
        compile_steps.run_build_steps(tmp_path, ObjectFileCache(tmp_path, tmp_path, tmp_path / "cache", ""), log)
    assert words in log.getvalue()
