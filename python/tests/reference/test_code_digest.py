"""Reference results stay of today's checkout when only a comment changes, and do not when code changes."""

from hashlib import sha256
from pathlib import Path

import pytest

from rtoslab.base import AlteredFileError, find_checkout_root
from rtoslab.catalogue import OPTIONAL_SERVICES, Catalogue
from rtoslab.choose.measured_code import digest_of_measured_firmware
from rtoslab.reference import (
    add_code_digests,
    changed_firmware_files,
    changes_since_point_was_measured,
    compiled_firmware_files,
    read_reference_files,
    store_equivalent_code_digests,
)
from rtoslab.reference.code_digest import FILE, read_code_digests, source_code_digest
from rtoslab.store import StoredMeasurementPoint
from rtoslab.targets import timing_version
from tests.fakes import measured_point

C = b"/* Takes. */\nint take(void)\n{\n    return 1; // always\n}\n"
TOML = b'# A benchmark.\nid = "t1"\n[params]\npinned = 1\n'
KERNEL = b'id = "k"\n[services]\ntasks = true\n[reasons]\nheap = "it has none"\n'
EARLIER = KERNEL + b'[[earlier]]\nname = "take_all"\nsince = "2.0"\n'
CMAKE = b"# The kernel.\nadd_library(kernel OBJECT tasks.c)\n"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.c", C, b"/* Takes it, and says so. */\n\nint take(void)\n{\n    return 1;\n}\n"),
        ("a.h", b"#define A 1 /* one */\n", b"#define A 1\n"),
        ("a.S", b"/* Entry. */\nbx lr\n", b"bx lr // back\n"),
        ("a.toml", TOML, b'id = "t1"\n\n[params] # all\npinned = 1\n'),
        ("t1/benchmark.toml", TOML, b'title = "T1"\n' + TOML + b'[[proof]]\nrule = "busy"\n'),
        ("b/board.toml", TOML, TOML + b'[rest]\nhigh = ["PC13"]\n'),
        ("k/kernel.toml", TOML, TOML + b'[objects.semaphore]\ntype = "queue"\n'),
        ("k/kernel.toml", TOML, TOML + b"[further_arguments]\nqueue_send = [0]\n"),
        ("s/service.toml", TOML, TOML + b"[further_arguments]\ntimer_start = [1]\n"),
        ("k/kernel.toml", EARLIER, EARLIER + b"further_arguments = { queue_send = [0] }\n"),
        ("k/kernel.toml", KERNEL, KERNEL.replace(b"tasks = true", b"tasks = true\ntimer = true")),
        ("k/kernel.toml", KERNEL, KERNEL + b'timer = "it has none"\n'),
        ("k/kernel.toml", EARLIER, EARLIER + b'lacks = ["timer"]\n'),
        ("k/kernel.toml", EARLIER + b'lacks = ["heap"]\n', EARLIER + b'lacks = ["heap", "timer"]\n'),
        ("CMakeLists.txt", CMAKE, b"# Another word.\n  # One more.\nadd_library(kernel OBJECT tasks.c)\n"),
    ],
)
def test_changed_comment_keeps_the_digest(name: str, before: bytes, after: bytes) -> None:
    assert before != after
    assert source_code_digest(name, before) == source_code_digest(name, after)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.c", C, C.replace(b"return 1", b"return 2")),
        ("a.c", b'char *at = "http://a";', b'char *at = "http://b";'),
        ("a.c", b'char *at = "/* a */";', b'char *at = "/* b */";'),
        ("a.c", b"char at = '\"'; int a = 1;", b"char at = '\"'; int a = 2;"),
        ("a.c", b'char *at = "a  b";', b'char *at = "a b";'),
        ("a.c", b"int at = __LINE__;", b"// One line more.\nint at = __LINE__;"),
        ("a.c", b"int a; // \xff\n", b"int b; // \xff\n"),
        ("a.S", b"mov r0, #1", b"mov r0, #2"),
        ("a.toml", TOML, TOML.replace(b"pinned = 1", b"pinned = 0")),
        ("t1/benchmark.toml", TOML, TOML.replace(b"pinned = 1", b"pinned = 0")),
        ("kernels/a/kernel.toml", TOML, TOML + b'[[proof]]\nrule = "busy"\n'),
        ("k/kernel.toml", KERNEL, KERNEL.replace(b"tasks = true", b"tasks = true\nheap = true")),
        ("k/kernel.toml", KERNEL, KERNEL + b'timer_task = "it has none"\n'),
        ("k/kernel.toml", EARLIER, EARLIER + b'lacks = ["heap", "timer"]\n'),
        ("k/benchmark.toml", KERNEL, KERNEL.replace(b"tasks = true", b"tasks = true\ntimer = true")),
        ("b/board.toml", TOML, TOML + b'[pins]\nout = "PA8"\n'),
        ("a.toml", TOML, TOML + b'[rest]\nhigh = ["PC13"]\n'),
        ("a.toml", b"broken =", b"broken = #"),
        ("CMakeLists.txt", CMAKE, CMAKE.replace(b"tasks.c", b"queue.c")),
        ("CMakeLists.txt", b'set(A "\n#a\n")', b'set(A "\n#b\n")'),
        ("a.defconfig", b"# CONFIG_A is not set\n", b"# CONFIG_B is not set\n"),
    ],
)
def test_changed_code_changes_the_digest(name: str, before: bytes, after: bytes) -> None:
    assert source_code_digest(name, before) != source_code_digest(name, after)


def test_current_files_are_added_once_and_an_edited_list_is_refused(tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "reference").mkdir(parents=True)
    (folder / "firmware").mkdir()
    (folder / "firmware/a.c").write_bytes(C)
    manifests = [{"build": {"sources": {"firmware/a.c": "0", "kernel/b.c": "1"}}}, {}]
    add_code_digests(folder, compiled_firmware_files(manifests))
    assert list(read_code_digests(folder).values()) == [source_code_digest("a.c", C)]
    path = folder / "reference" / FILE
    path.write_text(path.read_text().replace(source_code_digest("a.c", C), "0" * 64))
    with pytest.raises(AlteredFileError, match="edited by hand"):
        read_code_digests(folder)


def write_checkout(folder: Path, files: dict[str, bytes]) -> Path:
    """Writes the firmware's files of a checkout. Returns its folder."""
    for name, content in files.items():
        path = folder / "firmware" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "reference").mkdir(parents=True)
    return folder


def test_files_of_equal_images_count_as_unchanged_until_they_change_again(tmp_path: Path) -> None:
    reworded = C.replace(b"always", b"for ever")
    other = C.replace(b"return 1", b"return +1")
    old = write_checkout(tmp_path / "old", {"a.c": C, "b.c": C, "gone.c": C})
    new = write_checkout(tmp_path / "new", {"a.c": other, "b.c": reworded, "cmake/New.cmake": CMAKE})
    changed = changed_firmware_files(old, new)
    assert changed == ["firmware/a.c", "firmware/cmake/New.cmake", "firmware/gone.c"]
    manifest = {
        "build": {"sources": {"firmware/a.c": sha256(reworded).hexdigest()}},
        "target": {"chip": "rp2040", "timing_version": timing_version("rp2040")},
    }
    measured = StoredMeasurementPoint(Path("p"), measured_point(1, 1000), manifest)
    # The measurement saw a reworded form of the old file, which is known as the same code.
    add_code_digests(new, ["firmware/b.c"])
    assert changes_since_point_was_measured(new, measured) == ["firmware/a.c"]
    store_equivalent_code_digests(new, old, ["firmware/a.c"])
    assert changes_since_point_was_measured(new, measured) == []
    (new / "firmware/a.c").write_bytes(C.replace(b"return 1", b"return 2"))
    assert changes_since_point_was_measured(new, measured) == ["firmware/a.c"]


def test_page_in_the_folder_of_a_port_ages_no_point(tmp_path: Path) -> None:
    checkout = write_checkout(tmp_path, {"a.c": C, "README.md": b"Takes."})
    digests = {"firmware/a.c": sha256(C).hexdigest(), "firmware/README.md": sha256(b"Takes it.").hexdigest()}
    target = {"chip": "rp2040", "timing_version": timing_version("rp2040")}
    measured = StoredMeasurementPoint(
        Path("p"), measured_point(1, 1000), {"build": {"sources": digests}, "target": target}
    )
    assert changes_since_point_was_measured(checkout, measured) == []
    (checkout / "firmware/a.c").write_bytes(C.replace(b"return 1", b"return 2"))
    assert changes_since_point_was_measured(checkout, measured) == ["firmware/a.c"]


def test_matrix_stays_of_today_with_equal_code(tmp_path: Path) -> None:
    suite = (find_checkout_root() / "reference/matrix/suite.toml").read_bytes()
    old = write_checkout(tmp_path / "old", {"cmake/A.cmake": CMAKE})
    new = write_checkout(
        tmp_path / "new", {"cmake/A.cmake": CMAKE + b"option(MORE)\n", "cmake/New.cmake": b"return()\n"}
    )
    for folder in (old, new):
        (folder / "reference/matrix").mkdir()
        (folder / "reference/matrix/suite.toml").write_bytes(suite)
    measured = digest_of_measured_firmware(old, "freertos", "pico")
    assert digest_of_measured_firmware(new, "freertos", "pico") != measured
    store_equivalent_code_digests(new, old, changed_firmware_files(old, new))
    assert digest_of_measured_firmware(new, "freertos", "pico") == measured


def test_removed_file_of_equal_images_counts_as_unchanged(tmp_path: Path) -> None:
    old, new = write_checkout(tmp_path / "old", {"a.c": C}), write_checkout(tmp_path / "new", {})
    (tmp_path / "new/firmware").mkdir()
    add_code_digests(old, ["firmware/a.c"])
    (new / "reference" / FILE).write_bytes((old / "reference" / FILE).read_bytes())
    manifest = {
        "build": {"sources": {"firmware/a.c": sha256(C).hexdigest()}},
        "target": {"chip": "rp2040", "timing_version": timing_version("rp2040")},
    }
    measured = StoredMeasurementPoint(Path("p"), measured_point(1, 1000), manifest)
    assert changes_since_point_was_measured(new, measured) == ["firmware/a.c"]
    store_equivalent_code_digests(new, old, ["firmware/a.c"])
    assert changes_since_point_was_measured(new, measured) == []


def test_checkout_has_the_digests_of_all_its_references() -> None:
    assert len(read_code_digests(find_checkout_root())) > 100


def test_no_reference_depends_on_the_answers_that_do_not_count() -> None:
    """The entries of optional services are left out of digests, so no stored image may need such a service."""
    catalogue = Catalogue(find_checkout_root())
    names = {point.result.point.benchmark for item in read_reference_files(catalogue.root) for point in item.points}
    assert names
    needed = {
        service
        for name in names
        for facts in [catalogue.find_benchmark(name).facts]
        for service in (*facts.services, *(other for series in facts.series for other in series.services))
    }
    assert "tasks" in needed
    assert not needed & set(OPTIONAL_SERVICES)
