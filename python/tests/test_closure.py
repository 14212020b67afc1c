"""Which modules a remembered result names: all that took part, wherever they lie, and never none."""

import ast
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import rtoslab
from rtoslab.base import source_notes
from rtoslab.base.closure import module_closure, sources_digest
from rtoslab.base.errors import CatalogueError
from rtoslab.base.source_notes import SourceNotes
from rtoslab.conformance import examination as gate
from rtoslab.measure import pipeline
from rtoslab.rta import fit

PACKAGE = Path(rtoslab.__file__).parent
SEEN = """
import json, sys
{body}
print(json.dumps([name for name in sys.modules if name.split(".")[0] == "rtoslab" and name != "rtoslab._sim"]))
"""
MEASURE = """
import tempfile
from pathlib import Path
from rtoslab.catalogue import Catalogue
from rtoslab.base.paths import find_root
from rtoslab.measure import Manner, point_id, run_point
from rtoslab.plan import Options, make_plan
from rtoslab.store import RunDirectory
catalogue = Catalogue(find_root())
point = make_plan(catalogue, ["t2"], Options(boards=["pico"], kernels=["freertos"], cores=[2], window_ms=20)).points[0]
with tempfile.TemporaryDirectory() as folder:
    run = RunDirectory.create(Path(folder) / "run", None, [point_id(catalogue, point)])
    outcome = run_point(catalogue, point, run, manner=Manner(again=True))
    assert outcome.result.status == "measured", outcome
"""


def _package(folder: Path, **modules: str) -> Path:
    """A package `made` with these modules; `__` in a name stands for a dot."""
    package = folder / "made"
    for name, source in modules.items():
        path = package.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    for each in {path.parent for path in package.rglob("*.py")} | {package}:
        (each / "__init__.py").touch()
    return package


def _names(package: Path, entry: str = "made.entry") -> set[str]:
    return {name.removeprefix("made.") for name in module_closure(entry, package)} - {"made", entry.split(".")[1]}


@pytest.mark.parametrize(
    "source",
    [
        "import made.other",
        "from made import other",
        "from made.other import thing",
        "from . import other",
        "from .other import thing",
        "def late():\n    if True:\n        from made.other import thing",
        "try:\n    pass\nexcept OSError:\n    import made.other",
        "match 1:\n    case 1:\n        import made.other",
        "class Holder:\n    from made import other",
        "with open('x') as file:\n    import made.other",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import made.other",
        "import os, made.other as short",
    ],
)
def test_every_way_to_import_counts(tmp_path: Path, source: str) -> None:
    package = _package(tmp_path, entry=source, other="", unused="")
    assert _names(package) == {"other"}


def test_what_only_types_need_and_other_packages_do_not_count(tmp_path: Path) -> None:
    source = "import json\nimport typing\nif typing.TYPE_CHECKING:\n    from made import other"
    assert _names(_package(tmp_path, entry=source, other="")) == set()


def test_imports_are_followed_through_packages(tmp_path: Path) -> None:
    package = _package(tmp_path, entry="from made.a.b import x", a__b="from .. import c", c="", d="")
    (package / "a" / "__init__.py").write_text("from made import d")
    assert _names(package) == {"a", "a.b", "c", "d"}


def test_a_package_that_looks_for_its_modules_takes_part_whole(tmp_path: Path) -> None:
    package = _package(tmp_path, entry="import made.rules", rules__one="import made.used", used="", unused="")
    (package / "rules" / "__init__.py").write_text("import pkgutil\nfound = pkgutil.iter_modules(__path__)")
    assert _names(package) == {"rules", "rules.one", "used"}


def test_a_module_that_imports_by_name_brings_everything(tmp_path: Path) -> None:
    source = "from importlib import import_module\nimport_module(name)"
    assert _names(_package(tmp_path, entry=source, other="", deep__er="")) == {"other", "deep", "deep.er"}


def test_a_package_on_the_way_does_not_bring_what_its_functions_import(tmp_path: Path) -> None:
    package = _package(tmp_path, entry="", late="", early="")
    init = package / "__init__.py"
    init.write_text("import made.early\nNAME = 'x'\ndef __getattr__(name):\n    import made.late")
    assert _names(package) == {"early"}
    (package / "entry.py").write_text("from made import NAME")
    assert _names(package) == {"early"}
    for use in ("from made import something", "import made", "from . import something"):
        (package / "entry.py").write_text(use)
        assert _names(package) == {"early", "late"}, use


def test_a_module_that_moved_is_missed_aloud(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"has no module made\.gone"):
        module_closure("made.gone", _package(tmp_path, entry=""))
    with pytest.raises(CatalogueError, match=r"has no module rtoslab\.gone"):
        sources_digest("rtoslab.gone")


@pytest.mark.parametrize("folder", ["here", "moved/below"])
def test_any_module_that_takes_part_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """Of this very package, wherever it lies: each file in turn is changed by a byte."""
    package = tmp_path / folder / "rtoslab"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    monkeypatch.setattr(sys.modules["rtoslab"], "__file__", str(package / "__init__.py"))
    part = module_closure(pipeline.__name__, package)
    files = {part[name] for name in ("rtoslab.images.elf", "rtoslab.proofs.rules.rotation", "rtoslab.targets.virtual")}
    before = sources_digest.__wrapped__(pipeline.__name__)
    for path in files:
        text = path.read_text()
        path.write_text(text + "\n")
        assert sources_digest.__wrapped__(pipeline.__name__) != before, path
        path.write_text(text)
    assert sources_digest.__wrapped__(pipeline.__name__) == before
    (package / "reports" / "__init__.py").write_text("")
    assert sources_digest.__wrapped__(pipeline.__name__) == before, "what only shows results does not count"


@pytest.mark.parametrize(
    ("module", "body"),
    [
        (pipeline.__name__, f"import {pipeline.__name__}\nfrom rtoslab.proofs import all_rules\nall_rules()"),
        (gate.__name__, f"import {gate.__name__}"),
        (fit.__name__, f"import {fit.__name__}"),
        pytest.param(pipeline.__name__, MEASURE, id="a measurement"),
    ],
)
def test_nothing_is_loaded_that_the_closure_lacks(module: str, body: str) -> None:
    """The imports as Python makes them, in a process of their own."""
    done = subprocess.run([sys.executable, "-c", SEEN.format(body=body)], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    known = module_closure(module, PACKAGE).keys()
    assert module in loaded
    assert not loaded - known, "remembered results would not name these"


ALL_WAYS = """
import os
from . import other
from ..far import thing as short
NUMBER = 1
def late():
    import made.last
"""


@pytest.mark.parametrize("damage", [b"", b"\n", b"{}", b"\n{}"])
def test_notes_say_what_the_source_says_and_damaged_ones_nothing(tmp_path: Path, damage: bytes) -> None:
    module, file = tmp_path / "module.py", tmp_path / "kept" / "imports.json"
    module.write_text(ALL_WAYS)
    first = SourceNotes(file)
    read = first.read(module)
    assert [(each.level, each.module, each.names) for each in read.anywhere] == [
        (None, "", ("os",)), (1, "", ("other",)), (2, "far", ("thing",)), (None, "", ("made.last",)),
    ]  # fmt: skip
    assert (read.at_top, read.constants, read.by_name) == (read.anywhere[:3], frozenset({"NUMBER"}), False)
    first.keep()
    kept = file.read_bytes()
    assert SourceNotes(file).read(module) == read
    for number, byte in enumerate(kept):
        file.write_bytes(kept[:number] + bytes([byte ^ 1]) + kept[number + 1 :])
        assert SourceNotes(file).read(module) == read
    for content in (damage, kept[:64] + damage, kept + damage, kept[:-1]):
        file.write_bytes(content)
        assert SourceNotes(file).read(module) == read


def test_a_noted_source_is_not_parsed_and_an_edited_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, file = tmp_path / "module.py", tmp_path / "imports.json"
    module.write_text(ALL_WAYS)
    first = SourceNotes(file)
    read = first.read(module)
    first.keep()
    parsed = Counter[str]()
    parse = ast.parse

    def seen(text: bytes, path: Path) -> ast.AST:
        parsed["times"] += 1
        return parse(text, path)

    monkeypatch.setattr(ast, "parse", seen)
    assert SourceNotes(file).read(module) == read
    assert not parsed
    module.write_text(ALL_WAYS.replace("other", "another"))
    assert SourceNotes(file).read(module) != read
    assert parsed


def test_notes_that_nobody_asks_for_go_when_there_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_notes, "_MOST", 2)
    file = tmp_path / "imports.json"
    for number in range(3):
        (tmp_path / "module.py").write_text(f"import made.part{number}")
        notes = SourceNotes(file)
        notes.read(tmp_path / "module.py")
        notes.keep()
    assert len(json.loads(file.read_bytes().partition(b"\n")[2])) == 1


def test_where_notes_cannot_be_kept_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("import made.part")
    notes = SourceNotes(tmp_path / "module.py" / "imports.json")
    assert notes.read(tmp_path / "module.py").anywhere
    notes.keep()
