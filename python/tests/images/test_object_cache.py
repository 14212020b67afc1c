"""Objects kept by content, by single files and the real compiler: what makes one new, and what does not."""

import io
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from rtoslab.base.errors import StoreError
from rtoslab.base.tools import find_build_program
from rtoslab.images import compile_steps, object_cache, object_store
from rtoslab.images.compilation import CompilerCall, parse_compiler_call, parse_library_archive_step
from rtoslab.images.object_cache import JUST_NOW_NS, ObjectFileCache, compiler_identity
from rtoslab.images.object_store import ObjectStore

PLAIN = "#define ASKED 1\n#define OTHER 2\n"
SOURCE = '#include "facts.h"\n#include "own.h"\nint value(void) { return ASKED + OWN; }\n'


class Place:
    """A folder with one source, its header and what is kept; each build has a folder of its own, as images have."""

    def __init__(self, folder: Path, stored: Path) -> None:
        self.folder = folder
        self.kept = stored
        self.builds = 0
        self.said = ""
        self.write("source.c", SOURCE)
        self.write("headers/own.h", "#define OWN 10\n")

    def write(self, name: str, text: str) -> None:
        """A file that nothing takes for just written."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def build(self, facts: str = PLAIN, *more: str, maps: bool = True, debug: str = "-g") -> tuple[bool, bytes]:
        """Whether the compiler had to work, and the object."""
        time.sleep(1.5 * JUST_NOW_NS / 1e9)
        self.builds += 1
        work = self.folder / f"build-{self.builds}"
        (work / "generated").mkdir(parents=True)
        (work / "generated" / "facts.h").write_text(facts)
        output = ("-MD", "-MT", "x.obj", "-MF", "x.d", "-o", "x.obj", "-c")
        folders = (f"-I{work}/generated", f"-I{self.folder}/first", f"-I{self.folder}/headers")
        mapped = (f"-ffile-prefix-map={self.folder}=here", f"-ffile-prefix-map={work}=build") if maps else ()
        gcc = str(find_build_program("arm-none-eabi-gcc"))
        words = (gcc, debug, "-O2", *more, *folders, *mapped, *output, str(self.folder / "source.c"))
        call = CompilerCall(work, words, self.folder)
        log = io.StringIO()
        steps = compile_steps._StepRunner(
            ObjectFileCache(work, self.folder, ObjectStore(self.kept), compiler_identity(clang=False)), log
        )
        steps.compile_or_copy_cached_object(call)
        self.said = log.getvalue()
        return "Compiled" in log.getvalue(), call.object_file_path.read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "first").mkdir()
    return Place(tmp_path, tmp_path / "kept")


def test_same_file_is_compiled_once(place: Place) -> None:
    compiled, content = place.build()
    assert compiled
    assert place.build() == (False, content)


@pytest.mark.parametrize(
    ("facts", "compiles"),
    [
        ("#define ASKED 2\n#define OTHER 2\n", True),
        ("#define ASKED 1\n#define OTHER 3\n", False),
        ("#define MORE 7\n#define ASKED 1\n", False),
        ("#define ASKED 1\n#define OWN 3\n", True),  # the header's own wins, but was asked for
        ("#define ASKED OTHER\n#define OTHER 1\n", False),  # it comes to the same code
        ("#define ASKED OTHER\n#define OTHER 2\n", True),
        ("#define OTHER 2\n#define ASKED 1 /* a comment\nover lines */\n", False),  # the same code, by the preprocessor
        ("#define ASKED 1\nenum { LATER };\n", True),
    ],
)
def test_only_used_generated_macros_count(place: Place, facts: str, compiles: bool) -> None:
    place.write("headers/own.h", "#ifndef OWN\n#define OWN 10\n#endif\n")
    place.build()
    assert place.build(facts)[0] is compiles


def test_macro_with_a_pasted_name_counts(place: Place) -> None:
    place.write("source.c", '#include "facts.h"\n#define P(a, b) a##b\nint value(void) { return P(AS, KED); }\n')
    _, first = place.build()
    compiled, second = place.build("#define ASKED 5\n")
    assert compiled
    assert first != second


def test_missing_macro_counts(place: Place) -> None:
    place.write("source.c", '#include "facts.h"\n#ifdef LATER\nint late;\n#endif\nint value = ASKED;\n')
    _, first = place.build()
    compiled, second = place.build(PLAIN + "#define LATER\n")
    assert compiled
    assert first != second


def copy_checkout_with_cache(place: Place, folder: Path) -> Place:
    """A further checkout, with what is kept of the first one."""
    (folder / "first").mkdir()
    further = Place(folder, place.kept)
    for name in ("source.c", "headers/own.h"):
        shutil.copy(place.folder / name, folder / name)
    return further


def test_another_checkout_finds_the_object(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    warned = '#include "facts.h"\n#include "own.h"\nint value(int unused) { return OWN; }\n'
    place.write("source.c", warned)
    _, content = place.build(PLAIN, "-Wunused-parameter")
    further = copy_checkout_with_cache(place, tmp_path_factory.mktemp("a further one"))
    assert further.build(PLAIN, "-Wunused-parameter") == (False, content)
    assert f"{further.folder}/source.c:3:" in further.said
    assert str(place.folder) not in further.said
    further.write("first/own.h", "#define OWN 12\n")
    compiled, other = further.build(PLAIN, "-Wunused-parameter")
    assert compiled
    assert other != content
    further.write("source.c", warned + "int more;\n")
    assert further.build(PLAIN, "-Wunused-parameter")[0]


@pytest.mark.parametrize("code", ["sizeof PLACE", "PLACE[1]", "sizeof __FILE__"])
def test_object_with_the_checkouts_path_is_not_cached(place: Place, code: str) -> None:
    """It need not hold the name: its length or a letter will do."""
    place.write("source.c", f"int value(void) {{ return {code}; }}\n")
    by_name = f'-DPLACE="{place.folder}/x"'
    for _ in range(2):
        assert place.build(PLAIN, by_name, maps=False, debug="-g0")[0]
    assert not list(place.kept.rglob("*.of"))


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


@pytest.mark.parametrize("option", ["-I{0}/second", "-isystem{0}/second", "-DNOBODY_ASKS=1", "-UNOBODY_ASKS"])
def test_same_code_by_another_compiler_call_is_compiled_once(place: Place, option: str) -> None:
    """Another board's folders, say: once the source is preprocessed, where it looked for headers counts no more."""
    (place.folder / "second").mkdir()
    _, content = place.build()
    assert place.build(PLAIN, option.format(place.folder)) == (False, content)


@pytest.mark.parametrize("option", ["-DOWN=3", "-O1", "-fno-inline", "-I{0}/second"])
def test_other_code_or_option_is_compiled_again(place: Place, option: str) -> None:
    """The header in `second` holds the same, but a debugger is told where a line comes from."""
    header = "#ifndef OWN\n#define OWN 10\n#endif\nstatic inline int other(void) { return OWN; }\n"
    for folder in ("headers", "second"):
        place.write(f"{folder}/own.h", header)
    place.build()
    assert place.build(PLAIN, option.format(place.folder))[0]


@pytest.mark.parametrize("code", ['const char built[] = __DATE__ " " __TIME__;', '__asm(".include \\"own.s\\"");'])
def test_object_without_a_dependency_list_is_not_cached(place: Place, code: str) -> None:
    place.write("own.s", "")
    place.write("source.c", f'#include "facts.h"\n{code}\n')
    assert place.build(PLAIN, f"-I{place.folder}")[0]
    assert not list((place.folder / "kept").rglob("*.of"))


def test_threads_that_compile_one_file_get_the_same_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one once heard that a file was gone that the first one was still reading: nothing was kept then."""
    both = threading.Barrier(2, timeout=5)

    def slow(file: str) -> str:
        with suppress(threading.BrokenBarrierError):
            both.wait()
        return file

    monkeypatch.setattr(object_cache, "sha256_of_file", slow)
    objects = ObjectFileCache(tmp_path, tmp_path, ObjectStore(tmp_path / "kept"), "")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(objects._file_digest, ["a header"] * 2)) == ["a header"] * 2


def test_source_changed_during_compilation_is_not_cached(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_steps, "present_time_ns", lambda: time.time_ns() - 10 * JUST_NOW_NS)
    place.build()
    assert place.build()[0]


def test_object_with_its_build_folder_is_not_cached(place: Place) -> None:
    place.build(maps=False)
    place.build(PLAIN, "-flto=1")
    assert not list((place.folder / "kept").rglob("*.of"))


def test_object_specific_to_an_image_is_not_cached(place: Place) -> None:
    place.write("source.c", '#include "facts.h"\nconst char id[] = BENCH_RUN_ID;\n')
    for run in ("one", "two"):
        compiled, content = place.build(f'#define BENCH_RUN_ID "{run}"\n')
        assert compiled
        assert run.encode() in content
    assert not list((place.folder / "kept").rglob("*.of"))


@pytest.mark.parametrize("damage", [b"", b"x", b"\n"])
def test_damaged_object_is_ignored(place: Place, damage: bytes) -> None:
    _, content = place.build()
    for path in (place.folder / "kept").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-20] + damage)
    assert place.build() == (True, content)
    assert place.build() == (False, content)


def test_full_disk_only_prevents_caching(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(object_store, "write_file_atomically", full)
        compiled, content = place.build()
    assert compiled
    assert place.build() == (True, content)


def test_compiler_error_is_reported_and_nothing_cached(place: Place) -> None:
    place.write("source.c", SOURCE.replace("ASKED", "NOBODY"))
    with pytest.raises(compile_steps.StepFailedError):
        place.build()
    assert not [path for path in (place.folder / "kept").rglob("*") if path.is_file()]


def test_full_cache_removes_the_least_recently_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "SHARD_BYTES", 3_500)
    stored = ObjectStore(tmp_path)
    keys = [f"{number * object_store.SHARDS:08x}" for number in range(4)]  # of one shelf
    for age, key in enumerate(keys[:3]):
        stored.store_bytes_under_key(key, bytes(1_000))
        os.utime(tmp_path / "00" / key, ns=(age, age))
    assert stored.read_cached_bytes_by_key(keys[0]) == bytes(1_000)
    stored.store_bytes_under_key(keys[3], bytes(1_000))
    assert [stored.read_cached_bytes_by_key(key) is not None for key in keys] == [True, False, True, True]


def test_compilations_and_libraries_are_recognised(tmp_path: Path) -> None:
    line = 'bin/arm-none-eabi-gcc -DX=\\"a.h\\" -MD -MT a.obj -MF a.obj.d -o a.obj -c /src/a.c'
    result = parse_compiler_call(tmp_path, line, tmp_path)
    assert result is not None
    assert result.arguments[1] == '-DX="a.h"'
    assert (result.path_of_compiled_source_file, result.object_file_path) == (Path("/src/a.c"), tmp_path / "a.obj")
    assert parse_compiler_call(tmp_path, f": && {line} && :", tmp_path) is None
    assert parse_compiler_call(tmp_path, "bin/arm-none-eabi-gcc -o image.elf a.obj", tmp_path) is None
    library = ": && bin/cmake -E rm -f k/libk.a && bin/ar qc k/libk.a  a.obj b.obj && bin/ranlib k/libk.a && :"
    built = parse_library_archive_step(tmp_path, library)
    assert built is not None
    assert built.archive == tmp_path / "k" / "libk.a"
    assert built.members == (tmp_path / "a.obj", tmp_path / "b.obj")
    assert parse_library_archive_step(tmp_path, library.replace("b.obj", "'b c.obj'")) is None


@pytest.mark.parametrize(
    ("build_file", "words"),
    [("", "name no step"), ("rule r\n command = true\nbuild a: r\nbuild a: r\n", "multiple rules generate a")],
)
def test_build_without_steps_is_an_error(tmp_path: Path, build_file: str, words: str) -> None:
    """An empty folder would be sealed and found again as built."""
    (tmp_path / "build.ninja").write_text(build_file)
    log = io.StringIO()
    with pytest.raises(compile_steps.StepFailedError):
        compile_steps.run_build_steps(
            tmp_path, ObjectFileCache(tmp_path, tmp_path, ObjectStore(tmp_path / "kept"), ""), log
        )
    assert words in log.getvalue()
