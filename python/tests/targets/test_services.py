"""Services of the port contract and kinds of events: each is written down once, and nobody names another."""

import re
import tomllib
from pathlib import Path

import pytest

from rtoslab.base import CatalogueError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.targets import event_kinds
from tests.checkouts import copy_checkout, replace_text

ROOT = find_checkout_root()


def test_contracts_table_has_every_service() -> None:
    text = (ROOT / "spec" / "port.md").read_text()
    table, *_ = text[text.index("| service | functions |") :].split("\n\n")
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(Catalogue(ROOT).port_contract_services)


def test_every_kernel_declares_every_service() -> None:
    catalogue = Catalogue(ROOT)
    for kernel in catalogue.kernels.values():
        assert set(kernel.facts.services) == set(catalogue.port_contract_services), kernel.id


@pytest.fixture(scope="module")
def copied_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which each test breaks one file."""
    return copy_checkout(tmp_path_factory.mktemp("services") / "checkout")


@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        (
            "benchmarks/t6_message/benchmark.toml",
            '"queue"',
            '"queu"',
            "did you mean 'queue'",
        ),
        ("benchmarks/phase_sweep/benchmark.toml", '"mailbox",', '"mailboxes",', "did you mean 'mailbox'"),
        ("benchmarks/heap_mixed/benchmark.toml", '"heap"', '"zzz"', "known: tasks, "),
        (
            "conformance/conformance.toml",
            '"mutex_timeout"]',
            '"mutex_timeouts"]',
            "mean 'mutex_timeout'",
        ),
        (
            "footprint/event_isr/footprint.toml",
            '"event_from_isr"',
            '"event_isr"',
            "mean 'event_from_isr'",
        ),
        ("kernels/bare/kernel.toml", "\nheap = ", "\nheaps = ", "did you mean 'heap'"),
        ("kernels/bare/kernel.toml", "\nheap = ", "\n# heap = ", "does not say .* whether the kernel offers heap"),
    ],
)
def test_unknown_service_is_refused(copied_checkout: Path, path: str, old: str, new: str, words: str) -> None:
    whole = (copied_checkout / "firmware" / path).read_text()
    replace_text(copied_checkout, path, old, new)
    catalogue = Catalogue(copied_checkout)
    try:
        with pytest.raises(CatalogueError, match=rf"{Path(path).name} .*{words}"):
            (catalogue.kernels, catalogue.benchmarks, catalogue.footprint_programs, catalogue.conformance_suite)  # noqa: B018
    finally:
        (copied_checkout / "firmware" / path).write_text(whole)


def test_build_reads_the_same_list() -> None:
    text = "\n".join(path.read_text() for path in (ROOT / "firmware" / "cmake").glob("*.cmake"))
    services = tomllib.loads((ROOT / "spec" / "services.toml").read_text())["services"]
    for name in ("semaphore_limit", "queue_send_waits", "mailbox_send_waits"):
        assert name in services
        assert name not in text


def test_event_kinds_equal_the_simulators() -> None:
    text = (ROOT / "sim" / "lab" / "src" / "event.rs").read_text()
    enumeration = text[text.index("pub enum Kind {") : text.index("pub struct Event {")]
    message = {name: int(number) for name, number in re.findall(r"^    (\w+) = (\d+),$", enumeration, re.MULTILINE)}
    ours = {
        "".join(part.capitalize() for part in name.split("_")[1:]): value
        for name, value in vars(event_kinds).items()
        if name.startswith("KIND_")
    }
    assert ours == message
    assert len(message) == 11
