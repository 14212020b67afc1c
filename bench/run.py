"""Runs one of the programs of this folder: a benchmark of rtoslab itself, or a check that takes minutes.

python bench/run.py SUBJECT [options]     SUBJECT --help lists the options of a subject
"""

import ast
import importlib
import sys
from pathlib import Path


def subjects() -> dict[str, str]:
    """Returns each module beside this one that has a `main`, with the first line of its docstring."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        if path != Path(__file__) and any(
            isinstance(item, ast.FunctionDef) and item.name == "main" for item in module.body
        ):
            found[path.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return found


def main() -> int:
    """Runs the subject with the rest of the command line. Returns its exit code."""
    known = subjects()
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        is_help = sys.argv[1:2] in (["-h"], ["--help"])
        lines = [f"    {name:15}{about}" for name, about in known.items()]
        print((__doc__ or "") + "\nSubjects:\n" + "\n".join(lines), file=sys.stdout if is_help else sys.stderr)
        return 0 if is_help else 2
    subject = sys.argv.pop(1)
    sys.argv[0] += f" {subject}"
    code = importlib.import_module(subject).main()
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
