"""Lists kernels, boards, benchmarks and suites, by scanning folders.

A folder is the registration: `firmware/boards/<id>/board.toml` and so on. No list names them. Every file is read
strictly (an unknown key is an error that names file and key), so a misspelt option cannot silently do nothing."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from rtoslab.base import CatalogueError, UnknownNameError
from rtoslab.catalogue.benchmark import RESULT_KINDS, Benchmark
from rtoslab.catalogue.boards import read_boards
from rtoslab.catalogue.conformance_table import ConformanceSuite
from rtoslab.catalogue.contract_services import (
    OPTIONAL_FOLDER,
    SERVICE_FILE,
    offered_optional_services,
    read_kernel_services,
    require_known_services,
)
from rtoslab.catalogue.core_maps import MAP_FILE, DualKernelMemoryMap, require_core_map_fits_board
from rtoslab.catalogue.defaults import DEFAULT_BOARD, DEFAULT_KERNEL
from rtoslab.catalogue.folder_entries import (
    CatalogueEntry,
    Item,
    find_catalogue_entry,
    find_catalogue_entry_by_prefix,
    read_catalogue_entry,
)
from rtoslab.catalogue.kernel_facts import Kernel, OptionalServiceFacts
from rtoslab.catalogue.kernel_tasks import KernelTasks
from rtoslab.catalogue.schemas import Board, FlashToolChipNames, FootprintProgram
from rtoslab.catalogue.strict_files import read_validated_toml
from rtoslab.catalogue.suites import Experiment, MeasurementSuite
from rtoslab.catalogue.trees import PORTS_VARIABLE, SourceTree, kernel_port_folders, read_user_kernel_trees
from rtoslab.intake import first_validation_problem

FLASH_FILE: Final = "flash.toml"
"""A file in a board's folder that no image depends on, as is SILICON_FILE."""
SILICON_FILE: Final = "silicon.json"
TASKS_FILE: Final = "tasks.toml"
"""In a kernel's folder. No image is made of it."""
PAGE_SUFFIX: Final = ".md"
"""The suffix of pages. No image depends on them, although a port's folder may contain some."""
FILES_OUTSIDE_IMAGES: Final = frozenset({FLASH_FILE, SILICON_FILE, TASKS_FILE})
"""Files in a board's or kernel's folder that are no input of an image."""


class Catalogue:
    """All kernels, boards, benchmarks, suites and papers of one checkout. Files are read when first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def ports(self) -> Mapping[str, CatalogueEntry[Kernel]]:
        """Returns the ports by id (the code that connects a kernel to the benchmarks), without source trees that users
        named."""
        entries: dict[str, CatalogueEntry[Kernel]] = {}
        for folder in kernel_port_folders(self.root):
            entries = {**self._scan_kernel_ports(folder), **entries}
        return entries

    @cached_property
    def kernels(self) -> Mapping[str, CatalogueEntry[Kernel]]:
        """Returns the kernels by id: the ports, and each source tree that the user named. A tree replaces the port with
        the same id."""
        entries = dict(self.ports)
        for tree in read_user_kernel_trees().values():
            entries[tree.id] = _kernel_of_tree(tree, entries)
        return dict(sorted(entries.items()))

    @cached_property
    def known_kernel_ports(self) -> Sequence[CatalogueEntry[Kernel]]:
        """Returns one entry for each folder of a port, those included that only a user's source tree names."""
        by_folder = {entry.folder: entry for entry in (*self.kernels.values(), *self.ports.values())}
        return [by_folder[folder] for folder in sorted(by_folder)]

    @cached_property
    def buildable_kernels(self) -> Mapping[str, CatalogueEntry[Kernel]]:
        """Returns the kernels that can be built here, by id. Ports are left out that need a source tree or export which
        is missing."""
        return {
            name: kernel
            for name, kernel in self.kernels.items()
            if kernel.tree is not None or not (kernel.facts.needs_source_tree or kernel.facts.export)
        }

    @cached_property
    def boards(self) -> Mapping[str, CatalogueEntry[Board]]:
        """Returns the boards by id: the checkout's and the user's own."""
        return read_boards(self.root)

    @cached_property
    def benchmarks(self) -> Mapping[str, CatalogueEntry[Benchmark]]:
        """Returns the benchmarks of the checkout by id."""
        return self._scan_catalogue_entries(self.root / "firmware" / "benchmarks", "benchmark.toml", Benchmark)

    @cached_property
    def footprint_programs(self) -> Mapping[str, CatalogueEntry[FootprintProgram]]:
        """Returns the programs whose size is measured, by id. A kernel's folder may contain some for this kernel
        alone."""
        firmware = self.root / "firmware"
        entries = self._scan_catalogue_entries(firmware / "footprint", "footprint.toml", FootprintProgram)
        for folder in sorted({kernel.folder / "footprint" for kernel in self.kernels.values()}):
            entries |= self._scan_catalogue_entries(folder, "footprint.toml", FootprintProgram)
        return entries

    @cached_property
    def suites(self) -> Mapping[str, CatalogueEntry[MeasurementSuite]]:
        """Returns the suites (named sets of measurements) by id: each folder of papers/, and each file in its folder
        `suites`."""
        papers = self.root / "papers"
        entries = self._scan_catalogue_entries(papers, "suite.toml", MeasurementSuite)
        for path in sorted(papers.glob("*/suites/*.toml")):
            if path.stem in entries:
                raise CatalogueError(f"There are two suites named {path.stem!r}, one of them {path}; rename one.")
            entries[path.stem] = read_catalogue_entry(path, path.stem, path.parents[1], MeasurementSuite)
        return entries

    @cached_property
    def conformance_suite(self) -> ConformanceSuite:
        """Returns the conformance suite with its checks, which test a port against the port contract."""
        path = self.root / "firmware" / "conformance" / "conformance.toml"
        suite = read_validated_toml(path, ConformanceSuite)
        require_known_services(suite, path, self.port_contract_services)
        return suite

    @cached_property
    def port_contract_services(self) -> Mapping[str, str]:
        """Returns the services of the port contract (such as `mutex`), each with a phrase that explains it."""
        return read_kernel_services(self.root)

    def chip_names_in_flash_programs(self, board: str) -> FlashToolChipNames:
        """Returns the names of a board's chip in flashing programs, empty if there are none. Raises UnknownNameError,
        CatalogueError."""
        path = self.find_board(board).folder / FLASH_FILE
        return read_validated_toml(path, FlashToolChipNames) if path.is_file() else FlashToolChipNames()

    def find_kernel(self, name: str) -> CatalogueEntry[Kernel]:
        """Returns the kernel with this id, or with the only id that begins so. Raises UnknownNameError."""
        return find_catalogue_entry("kernel", self.kernels, name)

    def find_kernel_tasks(self, name: str) -> KernelTasks:
        """Returns the description by which a debugger finds a kernel's tasks, empty if there is none. Raises
        UnknownNameError, CatalogueError."""
        path = self.find_kernel(name).folder / TASKS_FILE
        return read_validated_toml(path, KernelTasks) if path.is_file() else KernelTasks()

    def read_kernel_port(self, folder: Path) -> CatalogueEntry[Kernel]:
        """Returns the port of a kernel (its code and kernel.toml) in a user's folder. Raises CatalogueError."""
        entry = _read_kernel_port_folder(folder)
        require_known_services(entry.facts, folder / "kernel.toml", self.port_contract_services)
        return entry

    def kernel_port_id_or_folder(self, entry: CatalogueEntry[Kernel]) -> str:
        """Returns the text by which a command names a port: its id, or its folder if it is the user's."""
        ours = entry.folder.parent == self.root / "firmware" / "kernels"
        return entry.folder.name if ours else str(entry.folder)

    def catalogue_with_added_kernel(self, entry: CatalogueEntry[Kernel]) -> "Catalogue":
        """Returns a catalogue with one more kernel, for which there is no folder."""
        other = Catalogue(self.root)
        other.__dict__["kernels"] = {**self.kernels, entry.id: entry}
        return other

    def find_board(self, name: str) -> CatalogueEntry[Board]:
        """Returns the board with this id, or with the only id that begins so. Raises UnknownNameError."""
        return find_catalogue_entry("board", self.boards, name)

    def find_dual_kernel_memory_map(self, board: CatalogueEntry[Board]) -> DualKernelMemoryMap | None:
        """Returns the map that divides a board between two kernels, one on each core. None if there is none. Raises
        CatalogueError."""
        path = self.two_kernel_memory_map_folder / board.id / MAP_FILE
        if not path.is_file():
            return None
        core_map = read_validated_toml(path, DualKernelMemoryMap)
        require_core_map_fits_board(core_map, board.facts, str(path))
        return core_map

    @property
    def two_kernel_memory_map_folder(self) -> Path:
        """Returns the folder with the maps and code for two kernels on one board, which has a subfolder for each
        board."""
        return self.root / "firmware" / "amp"

    def find_benchmark(self, name: str) -> CatalogueEntry[Benchmark]:
        """Returns the benchmark with this id, or with the only id that begins so (`t1`). Raises UnknownNameError."""
        return find_catalogue_entry("benchmark", self.benchmarks, name)

    def find_experiments_of_suite_or_benchmark(
        self, name: str
    ) -> tuple[CatalogueEntry[MeasurementSuite] | None, tuple[Experiment, ...]]:
        """Returns the experiments (groups of measurements) of a suite, a benchmark, or a kind of benchmarks. The suite
        comes first, None if it is no suite. Raises UnknownNameError.

        A suite names its own kernels and boards. A benchmark or a kind is measured with the default ones.
        """
        suite = find_catalogue_entry_by_prefix(self.suites, name)
        if suite is not None:
            return suite, suite.facts.experiments
        of_kind = tuple(entry.id for entry in self.benchmarks.values() if entry.facts.kind == name)
        benchmark = find_catalogue_entry_by_prefix(self.benchmarks, name)
        if benchmark is None and not of_kind:
            raise UnknownNameError("suite or benchmark", name, [*self.suites, *self.benchmarks, *RESULT_KINDS])
        names = of_kind or (benchmark.id if benchmark else "",)
        return None, (Experiment(benchmarks=names, kernels=(DEFAULT_KERNEL,), boards=(DEFAULT_BOARD,)),)

    def _scan_kernel_ports(self, folder: Path) -> dict[str, CatalogueEntry[Kernel]]:
        """Returns an entry for each subfolder that is a port (has a kernel.toml), by id."""
        entries: dict[str, CatalogueEntry[Kernel]] = {}
        for path in sorted(folder.glob("*/kernel.toml")):
            entries[path.parent.name] = _read_kernel_port_folder(path.parent)
            require_known_services(entries[path.parent.name].facts, path, self.port_contract_services)
        return entries

    def _scan_catalogue_entries(
        self, folder: Path, file_name: str, model: type[Item]
    ) -> dict[str, CatalogueEntry[Item]]:
        """Returns an entry for each subfolder that has a file of this name, by id. `model` is the file's schema."""
        entries: dict[str, CatalogueEntry[Item]] = {}
        for path in sorted(folder.glob(f"*/{file_name}")):
            entries[path.parent.name] = read_catalogue_entry(path, path.parent.name, path.parent, model)
            require_known_services(entries[path.parent.name].facts, path, self.port_contract_services)
        return entries


def _kernel_of_tree(tree: SourceTree, ports: Mapping[str, CatalogueEntry[Kernel]]) -> CatalogueEntry[Kernel]:
    """Returns the kernel that consists of a user's source tree and its port, under the tree's id. Raises
    CatalogueError."""
    if Path(tree.port).is_absolute():
        folder = Path(tree.port)
        port = _read_kernel_port_folder(folder)
    elif tree.port in ports:
        port = ports[tree.port]
    else:
        raise CatalogueError(
            f"The tree {tree.id} needs the port {tree.port!r}, which was not found; set {PORTS_VARIABLE} to the "
            f"folder that contains it, or remove the tree with `rtoslab kernel tree remove {tree.id}`."
        )
    title = port.facts.title if tree.id == port.id else f"{port.facts.title} {tree.version}"
    facts = port.facts.mark_services_as_missing(tree.lacks).kernel_facts_of_earlier_version(tree.absent)
    if facts.tree is not None and facts.tree.one_core:
        reasons = {**facts.reasons, "smp": facts.tree.one_core}
        facts = facts.model_copy(update={"smp": False, "reasons": reasons})
    facts = facts.model_copy(update={"id": tree.id, "title": title, "version": tree.version, "package": ""})
    return CatalogueEntry(tree.id, port.folder, facts, tree)


def _read_kernel_port_folder(folder: Path) -> CatalogueEntry[Kernel]:
    """Returns the port in a folder: its kernel.toml, and its facts about optional services. Raises CatalogueError."""
    entry = read_catalogue_entry(folder / "kernel.toml", folder.name, folder, Kernel)
    facts = entry.facts
    for service in offered_optional_services(facts):
        path = folder / OPTIONAL_FOLDER / service / SERVICE_FILE
        if not path.is_file():
            raise CatalogueError(
                f"{folder / 'kernel.toml'} says {service} = true, but {path} is missing; add it, or say "
                f"{service} = false."
            )
        facts = _add_optional_kernel_service_from_file(facts, path)
    return CatalogueEntry(entry.id, folder, facts)


def _add_optional_kernel_service_from_file(facts: Kernel, path: Path) -> Kernel:
    """Returns the facts of a kernel with those about an optional service, which are in the file. Raises
    CatalogueError."""
    try:
        return facts.add_optional_service_facts(read_validated_toml(path, OptionalServiceFacts))
    except ValidationError as cause:
        raise CatalogueError(f"{path}, {first_validation_problem(cause)}; correct or remove it.") from None
