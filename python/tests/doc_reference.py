"""Writes docs/reference, which git ignores: the command line, the Python interface, the schemas of files, the mutants.

cd python && python -m tests.doc_reference
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
from pydantic import BaseModel

from rtoslab.base.counting import count_with_noun
from rtoslab.base.paths import find_checkout_root
from rtoslab.calibrate import calibration_table, silicon_file
from rtoslab.catalogue import benchmark, claim_schemas, paper_schemas, schemas
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.cli import app
from rtoslab.hardware import bench
from rtoslab.mutants.mutants import BenchmarkMutants, read_mutants
from rtoslab.project import project_baseline, project_file
from rtoslab.results import results
from rtoslab.rta import overheads, taskset
from rtoslab.sweep import plan

FOLDER: Final = find_checkout_root() / "docs" / "reference"
WIDTH: Final = 100
_PYTHON: Final = """# Python

This page lists everything that `import rtoslab` offers. [The guide](../python-api.md) has examples.

::: rtoslab.api
"""
_MODULES: Final = (
    schemas,
    benchmark,
    claim_schemas,
    paper_schemas,
    results,
    taskset,
    overheads,
    plan,
    project_file,
    project_baseline,
    bench,
    silicon_file,
    calibration_table,
)


def models() -> dict[str, type[BaseModel]]:
    """The models that stand for whole files: those that no other one holds, by name."""
    result = {
        variable.__name__: variable
        for module in _MODULES
        for variable in vars(module).values()
        if isinstance(variable, type) and issubclass(variable, BaseModel) and variable.__module__ == module.__name__
    }
    schemas_of = {name: model.model_json_schema() for name, model in result.items()}
    held = {name for schema in schemas_of.values() for name in schema.get("$defs", {})}
    return {name: model for name, model in sorted(result.items()) if name not in held}


def generate_pages() -> dict[str, str]:
    """Returns the content of every generated file by its path below docs/reference."""
    pages = {
        f"schemas/{name}.json": json.dumps(model.model_json_schema(), indent=1) + "\n"
        for name, model in models().items()
    }
    pages["schemas.md"] = _index()
    pages["command-line.md"] = "\n".join(["# Command line\n", *_commands(app, "rtoslab", 1)]).rstrip() + "\n"
    pages["python.md"] = _PYTHON
    pages["mutants.md"] = mutants_page(Catalogue(find_checkout_root()), read_mutants(find_checkout_root()))
    return pages


def mutants_page(catalogue: Catalogue, mutants: Mapping[str, BenchmarkMutants]) -> str:
    """Returns a page with a table of mutants for each benchmark."""
    count = count_with_noun(sum(len(of.mutant) for of in mutants.values()), "mutant")
    parts = [f"# Mutants\n\n{count} of {count_with_noun(len(mutants), 'benchmark')} ([explanation](../mutants.md)).\n"]
    for name, of in sorted(mutants.items()):
        parts.append(f"## {name}: {catalogue.find_benchmark(name).facts.title}\n")
        rows = [
            f"| {mutant.id} | {mutant.kind} | {mutant.mistake} | {', '.join(mutant.refused_by) or 'the build'} |"
            for mutant in of.mutant
        ]
        parts.append("\n".join(["| mutant | where | mistake | refused by |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _index() -> str:
    about = "This page lists the JSON Schemas of all TOML and JSON files, generated from the code that reads them."
    lines = ["# Schemas", "", about, ""]
    for name, model in models().items():
        output = (model.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"- [{name}](schemas/{name}.json): {output}")
    return "\n".join(lines) + "\n"


def _commands(command: click.Command, name: str, level: int, above: click.Context | None = None) -> list[str]:
    context = click.Context(command, parent=above, info_name=name.rpartition(" ")[2], **command.context_settings)
    lines = [] if level == 1 else [f"{'#' * level} {name}\n"]
    formatter = click.HelpFormatter(width=WIDTH)
    command.format_help(context, formatter)
    lines += ["```text", formatter.getvalue().rstrip(), "```\n"]
    if isinstance(command, click.Group):
        for list_command in command.list_commands(context):
            deeper = command.get_command(context, list_command)
            if deeper is not None and not deeper.hidden:
                lines += _commands(deeper, f"{name} {list_command}", level + 1, context)
    return lines


def write(folder: Path) -> None:
    """Writes every page and schema, and removes schemas of models that are gone."""
    pages = generate_pages()
    for path in (folder / "schemas").glob("*.json"):
        if f"schemas/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
