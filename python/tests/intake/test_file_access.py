"""What comes from outside is opened and parsed in `rtoslab.intake` alone, what is kept is written by `base.files`,
and no program is started that could read this one's standard input. Each exception says why it is one."""

import ast
from collections.abc import Iterator

import pytest

from rtoslab.base.paths import find_checkout_root

PACKAGE = find_checkout_root() / "python" / "rtoslab"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "intake" not in path.relative_to(PACKAGE).parts)
ELSEWHERE = {
    "open": "intake.read_bytes or base.write_file_atomically",
    "read_text": "intake.read_text",
    "read_bytes": "intake.read_bytes",
    "write_text": "base.write_file_atomically",
    "write_bytes": "base.write_file_atomically",
    "tomllib": "intake.tables",
    "json.load": "intake.objects",
    "json.loads": "intake.objects",
    "model_validate_json": "intake.objects, then model_validate",
    "zipfile.ZipFile": "intake.archives",
    "configparser": "a parser of its own: it takes quadratic time",
    "elftools": "intake.images",
    "subprocess": "tools.said",
    "pq.read_table": "intake.decode_parquet",
    "pq.ParquetFile": "intake.decode_parquet",
    "Console": "cli.plain.PlainConsole",
    "eval": "nothing",
    "pickle": "nothing",
}
ALLOWED = {
    "images/builder.py": {
        "open": "the compilers' log", "read_text": "the compilers' call graphs", "write_text": "in a folder of its own",
        "read_bytes": "what the build just wrote", "write_bytes": "sealed, in a folder of its own",
        "json.loads": "sealed with the image",
    },
    "images/compilation.py": {"read_text": "what compiler and ccache just wrote"},
    "images/configuring.py": {
        "read_bytes": "what CMake just wrote", "read_text": "the same", "write_bytes": "sealed, in a folder of its own",
        "subprocess": "with no standard input",
    },
    "images/object_cache.py": {"read_bytes": "what a compiler just read"},
    "images/compile_steps.py": {"subprocess": "with no standard input"},
    "hardware/flashing.py": {"read_bytes": "the image just built", "write_bytes": "in a folder of its own"},
    "hardware/analyzers.py": {"open": "what sigrok-cli records, to cut it to lines"},
    "hardware/running_programs.py": {
        "subprocess": "with no standard input and no shell", "open": "what the program says",
        "read_bytes": "what it said, its last bytes",
    },
    "captures/live.py": {"open": "the first bytes of a recording, which intake reads as a whole"},
    "store/cache.py": {"zipfile.ZipFile": "sealed; and the writer"},
    "base/architecture_facts.py": {
        "tomllib": "a file of the checkout's own, which what intake stands on asks for", "read_text": "the same",
    },
    "base/lazy_names.py": {"read_bytes": "this package's own sources"},
    "base/html_pages.py": {"read_text": "this package's own style, script and templates"},
    "captures/forms/sigrok.py": {"zipfile.ZipFile": "the writer"},
    "conformance/examination.py": {
        "read_text": "this package's own sources", "model_validate_json": "sealed",
    },
    "base/contents.py": {"read_bytes": "hashes of sources, never parsed"},
    "store/evidence_file.py": {"json.loads": "sealed"},
    "project/building.py": {"subprocess": "a project's own build, with no standard input"},
    "choose/explorer.py": {"read_text": "this package's own style and script"},
    "cli/reference_confirm.py": {"open": "the archive that git just wrote"},
    "store/journal.py": {"subprocess": "git, with a time limit", "open": "its own file, to append a line under a lock"},
    "mutants/mutants.py": {"read_text": "a copy of the firmware's sources", "write_text": "the same"},
    "measure/pipeline.py": {"read_bytes": "the build's log"},
    "store/plan_file.py": {"model_validate_json": "strict, and its digest is checked"},
    "targets/board.py": {"read_bytes": "this package's own library, to hash it"},
    "reference/code_digest.py": {
        "tomllib": "the checkout's own files, to hash them", "read_bytes": "the same", "json.loads": "sealed",
    },
    "store/store.py": {"open": "the writer"},
    "base/tools.py": {"subprocess": "the one place that asks programs"},
    "verify/point.py": {"model_validate_json": "sealed"},
    "worst_case/folder.py": {"json.loads": "sealed"},
    "images/source_lines.py": {"elftools": "names of forms; what is read goes through intake.debug"},
}  # fmt: skip


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of everything that the table above speaks of. Our own images are sealed where they are built."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name.partition(".")[0]) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call):
            yield from file_calls(node)


def file_calls(node: ast.Call) -> Iterator[tuple[int, str]]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in {"open", "eval", "Console"}:
        yield node.lineno, function.id
    elif isinstance(function, ast.Attribute):
        owner = function.value
        named = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        yield node.lineno, f"{named}.{function.attr}"
        is_ours = function.attr == "read_bytes" and named in {"elf", "elf_path"}
        opens = function.attr == "open" and bool(node.args) and named not in {"os", "RunDirectory", "watch"}
        if not is_ours and (function.attr != "open" or opens):
            yield node.lineno, function.attr


def test_files_are_only_opened_in_intake() -> None:
    wrong: list[str] = []
    for path in FILES:
        name = path.relative_to(PACKAGE).as_posix()
        allowed = ALLOWED.get(name, {})
        result = {use: line for line, use in uses(ast.parse(path.read_text())) if use in ELSEWHERE}
        wrong += [f"{name}:{line}: {use}, use {ELSEWHERE[use]}" for use, line in result.items() if use not in allowed]
        wrong += [f"{name}: the exception for {use} is not needed any more" for use in allowed.keys() - result.keys()]
    assert not wrong


def test_listed_exceptions_exist() -> None:
    assert not ALLOWED.keys() - {path.relative_to(PACKAGE).as_posix() for path in FILES}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("path.read_text()", "read_text"), ("open('x')", "open"), ("path.open('rb')", "open"),
        ("import tomllib", "tomllib"), ("json.loads(x)", "json.loads"), ("from elftools.elf import x", "elftools"),
        ("zipfile.ZipFile(x)", "zipfile.ZipFile"), ("self.path.write_bytes(x)", "write_bytes"),
        ("Model.model_validate_json(x)", "model_validate_json"), ("import subprocess", "subprocess"),
    ],
)  # fmt: skip
def test_every_forbidden_way_to_open_a_file_is_found(code: str, name: str) -> None:
    assert name in {result for _, result in uses(ast.parse(code))}
