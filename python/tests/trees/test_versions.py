"""Several versions of one kernel: told by what their trees hold, side by side, each lacking what it lacks."""

from pathlib import Path
from typing import Any

import pytest

from rtoslab import api
from rtoslab.base.errors import CatalogueError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.catalogue.trees import SourceTree, kernel_tree_description_as_toml, read_user_kernel_trees
from rtoslab.results.results import MeasuredPoint, NotApplicableMeasurement, Result
from rtoslab.trees.draft import draft_kernel_tree_description
from rtoslab.trees.versions import recognise_kernel_port
from tests.cli.test_cli import command_error, rtoslab
from tests.trees.tiny import make_port, make_tree

EARLIER = """
[[earlier]]
name = "TINY_PAUSE"
since = "1.5"
lacks = ["pool"]
symbols = { semaphore_count = ["tiny_count"] }

[[earlier]]
name = "tiny_mask"
since = "1.2"
"""


@pytest.fixture
def home(user: Path) -> Path:
    """A user with two versions of the tiny kernel, `new` and `old`, and its port; nothing is described yet."""
    make_tree(user / "new")
    make_tree(user / "old")
    for name in ("include/tiny.h", "kernel/semaphore.c"):
        path = user / "old" / name
        path.write_text(path.read_text().replace("TINY_PAUSE", "").replace('"1.5"', '"1.4"').replace("#define \n", ""))
    port = make_port(user / "ports")
    with (port / "kernel.toml").open("a") as facts:
        facts.write(EARLIER)
    return user


def t7(kernel: str, out: Path) -> Result:
    ask: dict[str, Any] = {"kernels": [kernel], "boards": ["pico"], "cores": [1], "window_ms": 10}
    (outcome,) = api.run("t7", **ask, out=out)
    return outcome.result


def test_version_lacks_services_that_need_missing_names(home: Path) -> None:
    assert rtoslab("kernel", "tree", "add", "tiny-old", home / "old").returncode == 0
    assert rtoslab("kernel", "tree", "add", "tiny-new", home / "new").returncode == 0
    assert [tree.absent for tree in read_user_kernel_trees().values()] == [(), ("TINY_PAUSE",)]
    kernels = Catalogue(find_checkout_root()).kernels
    old, new = kernels["tiny-old"].facts, kernels["tiny-new"].facts
    assert (old.title, new.title) == ("Tiny 1.4", "Tiny 1.5")
    assert (old.services["pool"], new.services["pool"]) == (False, True)
    assert (
        old.why_lacking_services(["pool"])
        == "Tiny 1.4 has no pool service: it needs TINY_PAUSE, which exists since Tiny 1.5"
    )
    assert old.symbols["semaphore_count"] == ("tiny_count",)
    assert new.symbols["semaphore_count"] == ("bare_semaphore_count",)
    assert old.symbols["semaphore_take"] == new.symbols["semaphore_take"]


def test_build_and_catalogue_agree_on_missing_services(home: Path) -> None:
    with (home / "ports" / "tiny" / "port.h").open("a") as header:
        header.write("\n#if KERNEL_SERVICES_POOL\n#error a pool that there is not\n#endif\n")
    for name in ("old", "new"):
        assert rtoslab("kernel", "tree", "add", f"tiny-{name}", home / name).returncode == 0
    old, new = t7("tiny-old", home / "one"), t7("tiny-new", home / "two")
    assert isinstance(old, MeasuredPoint), old
    assert "a pool that there is not" in str(new)


def test_tree_that_became_another_version_is_not_measured_under_the_old_name(home: Path) -> None:
    assert rtoslab("kernel", "tree", "add", "tiny-9", home / "old").returncode == 0
    header = home / "old" / "include" / "tiny.h"
    header.write_text(header.read_text() + "#define TINY_PAUSE\n")
    result = t7("tiny-9", home / "one")
    assert isinstance(result, NotApplicableMeasurement)
    assert (
        "has another version than when it was added; add it again: `rtoslab kernel tree add tiny-9 PATH --force`"
        in result.reason
    )
    assert rtoslab("kernel", "tree", "add", "tiny-9", home / "old", "--force").returncode == 0
    assert read_user_kernel_trees()["tiny-9"].absent == ()


def test_name_with_the_same_prefix_is_another_name(home: Path) -> None:
    header = home / "old" / "include" / "tiny.h"
    header.write_text(header.read_text() + "#define TINY_PAUSES\n")
    facts = Catalogue(find_checkout_root()).kernels["tiny"].facts
    assert draft_kernel_tree_description(facts, "tiny", "old", home / "old", None).absent == ("TINY_PAUSE",)


def test_tree_shows_its_kernel(home: Path) -> None:
    catalogue = Catalogue(find_checkout_root())
    assert recognise_kernel_port(catalogue, home / "new").id == "tiny"
    (home / "new" / "include" / "tiny.h").unlink()
    with pytest.raises(
        CatalogueError, match="it does not contain all headers of any port; choose its port with --port"
    ):
        recognise_kernel_port(catalogue, home / "new")
    assert "it does not contain all headers of any port" in command_error(
        rtoslab("kernel", "tree", "add", "mine", home / "new"), 1
    )
    make_port(home / "ports" / "more").rename(home / "ports" / "other")
    facts = home / "ports" / "other" / "kernel.toml"
    facts.write_text(facts.read_text().replace('id = "tiny"', 'id = "other"'))
    with pytest.raises(
        CatalogueError, match="more than one port fits; choose its port with --port, one of other, tiny"
    ):
        recognise_kernel_port(Catalogue(find_checkout_root()), home / "old")


def test_version_string_overrides_version_macros(home: Path) -> None:
    facts = Catalogue(find_checkout_root()).kernels["tiny"].facts
    assert facts.tree is not None
    wants = facts.tree.model_copy(update={"version_text": "Tiny Kernel"})
    worded = facts.model_copy(update={"tree": wants})
    header = home / "new" / "include" / "tiny.h"
    assert draft_kernel_tree_description(worded, "tiny", "new", home / "new", None).version == "1.5"
    header.write_text("/* Tiny Kernel <IN DEVELOPMENT> */\n" + header.read_text())
    assert draft_kernel_tree_description(worded, "tiny", "new", home / "new", None).version == "1.5"
    header.write_text("/* Tiny Kernel V1.5.1 */\n" + header.read_text())
    assert draft_kernel_tree_description(worded, "tiny", "new", home / "new", None).version == "V1.5.1"


def test_definitions_of_a_core_file_are_only_read_there(home: Path) -> None:
    """In C as in assembler: else a port for another compiler, which defines it too, would be compiled."""
    taken = "bool bare_queue_send(void);\nbool bare_queue_send(void)\n{\n    return true;\n}\n"
    for name in ("ports/v6m/cpu.c", "ports/v7m/cpu.c", "ports/v8m/cpu.c"):
        path = home / "new" / name
        path.write_text(path.read_text() + taken)
    facts = Catalogue(find_checkout_root()).kernels["tiny"].facts
    assert draft_kernel_tree_description(facts, "tiny", "new", home / "new", None).sources == (
        "kernel/*.c",
        "!kernel/template.c",
    )


def test_tree_without_a_folder_that_is_needed_is_refused(home: Path) -> None:
    """A kernel whose heap lies in a folder of its own is no kernel without it."""
    facts = Catalogue(find_checkout_root()).kernels["tiny"].facts
    assert facts.tree is not None
    needing = facts.model_copy(update={"tree": facts.tree.model_copy(update={"also": ("tiny_heap", "tiny_mask")})})
    with pytest.raises(CatalogueError, match=r"No file in .* defines tiny_heap; check the path"):
        draft_kernel_tree_description(needing, "tiny", "new", home / "new", None)
    heap = home / "new" / "memory" / "heap.c"
    heap.parent.mkdir()
    heap.write_text("void tiny_heap(void);\nvoid tiny_heap(void)\n{\n}\n")
    assert "memory/*.c" in draft_kernel_tree_description(needing, "tiny", "new", home / "new", None).sources


def freertos_without(absent: set[str], user: Path) -> Kernel:
    """The facts of a tree of FreeRTOS that has not these names."""
    (user / "trees").mkdir(exist_ok=True)
    tree = SourceTree(id="old", port="freertos", path=str(user), version="V9", absent=tuple(sorted(absent)))
    (user / "trees" / "old.toml").write_text(kernel_tree_description_as_toml(tree))
    return Catalogue(find_checkout_root()).kernels["old"].facts


@pytest.mark.parametrize(("since", "lacks"), [
    ("V11.1.0", set()),
    ("V11.0.0", {"hooks"}),
    ("V10.4.0", {"hooks", "task_events"}),
    ("V10.3.0", {"hooks", "heap_peak", "heap_allocations", "heap_pieces", "task_events"}),
    ("V10.0.0", {
        "hooks", "heap_peak", "heap_allocations", "heap_pieces", "mutex_gives_back", "task_events", "binary_semaphore",
    }),
])  # fmt: skip
def test_freertos_older_than_a_version_lacks_what_came_since(user: Path, since: str, lacks: set[str]) -> None:
    port = Catalogue(find_checkout_root()).kernels["freertos"].facts
    absent = {earlier.name for earlier in port.earlier if _number(earlier.since) >= _number(since)}
    old = freertos_without(absent, user)
    assert {service for service in port.services if port.services[service] and not old.services[service]} == lacks
    indexed = "ulTaskGenericNotifyTake" not in absent
    gives = "vTaskGenericNotifyGiveFromISR" if indexed else "vTaskNotifyGiveFromISR"
    assert old.symbols["notify_give_from_isr"] == (gives,)
    assert (old.symbols["semaphore_take"] == port.symbols["semaphore_take"]) == ("xQueueSemaphoreTake" not in absent)
    assert (old.smp, old.package, old.title) == (False, "", "FreeRTOS V9")
    assert "ports for one core" in old.reasons["smp"]
    assert (port.smp, port.package) == (True, "freertos-next")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("V").split("."))


def test_packages_freertos_needs_no_tree_and_has_every_name() -> None:
    catalogue = Catalogue(find_checkout_root())
    assert "freertos" in catalogue.buildable_kernels
    entry = catalogue.kernels["freertos"]
    names = [earlier.name for earlier in entry.facts.earlier]
    assert len(set(names)) == len(names)
    substitutes = {path.stem for path in (entry.folder / "config" / "earlier").glob("*.h")}
    assert substitutes
    assert substitutes <= set(names)
    for earlier in entry.facts.earlier:
        assert set(earlier.lacks) <= set(entry.facts.services)
        assert set(earlier.symbols) <= set(entry.facts.symbols)
