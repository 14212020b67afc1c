"""Pages of docs/reference that are generated: schemas of every file one writes or reads, and the command line.

cd python && python -m tests.doc_reference
"""

import json
from pathlib import Path
from typing import Final

import click
from pydantic import BaseModel

from rtoslab.base.paths import find_root
from rtoslab.calibrate import calibration_table, silicon_file
from rtoslab.catalogue import benchmark, claim_schemas, paper_schemas, schemas
from rtoslab.cli import app
from rtoslab.hardware import bench
from rtoslab.project import kept_figures, project_file
from rtoslab.results import results
from rtoslab.rta import overheads, taskset
from rtoslab.sweep import plan

FOLDER: Final = find_root() / "docs" / "reference"
WIDTH: Final = 100
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
    kept_figures,
    bench,
    silicon_file,
    calibration_table,
)


def models() -> dict[str, type[BaseModel]]:
    """The models that stand for whole files: those that no other one holds, by name."""
    found = {
        each.__name__: each
        for module in _MODULES
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, BaseModel) and each.__module__ == module.__name__
    }
    schemas_of = {name: model.model_json_schema() for name, model in found.items()}
    held = {name for schema in schemas_of.values() for name in schema.get("$defs", {})}
    return {name: model for name, model in sorted(found.items()) if name not in held}


def generated() -> dict[Path, str]:
    """Every generated file with its content."""
    pages = {
        FOLDER / "schemas" / f"{name}.json": json.dumps(model.model_json_schema(), indent=1) + "\n"
        for name, model in models().items()
    }
    pages[FOLDER / "schemas.md"] = _index()
    pages[FOLDER / "command-line.md"] = "\n".join(["# Command line\n", *_commands(app, "rtoslab", 1)]).rstrip() + "\n"
    return pages


def _index() -> str:
    lines = ["# Schemas", "", "JSON Schema of each file, TOML or JSON, generated from what reads it.", ""]
    for name, model in models().items():
        said = (model.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"- [{name}](schemas/{name}.json): {said}")
    return "\n".join(lines) + "\n"


def _commands(command: click.Command, name: str, level: int, above: click.Context | None = None) -> list[str]:
    context = click.Context(command, parent=above, info_name=name.rpartition(" ")[2], **command.context_settings)
    lines = [] if level == 1 else [f"{'#' * level} {name}\n"]
    formatter = click.HelpFormatter(width=WIDTH)
    command.format_help(context, formatter)
    lines += ["```text", formatter.getvalue().rstrip(), "```\n"]
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            deeper = command.get_command(context, each)
            if deeper is not None and not deeper.hidden:
                lines += _commands(deeper, f"{name} {each}", level + 1, context)
    return lines


def write() -> None:
    """Writes all, and removes what is generated no more."""
    pages = generated()
    for old in (FOLDER / "schemas").glob("*.json"):
        if old not in pages:
            old.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
