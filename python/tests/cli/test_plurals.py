"""Numbers of things are told by one helper, so that nothing reads `1 points` or `all 1`."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from rtoslab.base import all_items_phrase, count_with_noun, find_checkout_root

HOME = find_checkout_root() / "python" / "rtoslab"
EVIDENCE = ("proofs/", "conformance/")
"""What proofs and checks saw is written in brief, and numbers of samples and steps are never 1."""
VERBS = {"is", "was", "has", "does", "us", "this", "ms", "differs", "digits", "bytes", "cycles"}
"""Words behind a number that end in s and are no plurals, or units that are told of great numbers alone."""
NUMBER = re.compile(r"\{\s*(len|sum)\s*\(|,\}")
"""What an f-string with a number holds: a file without it needs no tree."""
OWN_PLURAL = re.compile(r"""["']s["'] *(if|\*)|else ["']s["']""")


def test_counts_have_singular_and_plural() -> None:
    assert count_with_noun(1, "point", "was", "were") == "1 point was"
    assert count_with_noun(2000, "point", "was", "were") == "2,000 points were"
    assert [all_items_phrase(number, "test") for number in (1, 2, 1000)] == [
        "the one test",
        "all 2 tests",
        "all 1,000 tests",
    ]


def _is_number(part: ast.FormattedValue) -> bool:
    is_length = isinstance(part.value, ast.Call) and getattr(part.value.func, "id", "") in {"len", "sum"}
    spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
    return is_length or [getattr(item, "value", "") for item in spec] == [","]


def odd_words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines whose f-string puts a plural behind a number, or a number behind `all`. Errors tell of several."""
    if isinstance(tree, ast.Raise) or (isinstance(tree, ast.Call) and getattr(tree.func, "id", "").endswith("Error")):
        return
    parts = tree.values if isinstance(tree, ast.JoinedStr) else []
    for before, behind in pairwise(parts):
        if isinstance(before, ast.FormattedValue) and isinstance(behind, ast.Constant) and _is_number(before):
            word = re.match(r" ([a-z]+s)\b", str(behind.value))
            if word and word[1] not in VERBS:
                yield before.lineno, word[1]
        is_told = isinstance(before, ast.Constant) and isinstance(behind, ast.FormattedValue) and _is_number(behind)
        if is_told and re.search(r"\b[Aa]ll (the )?$", str(getattr(before, "value", ""))):
            yield behind.lineno, "all"
    for child in ast.iter_child_nodes(tree):
        yield from odd_words(child)


@pytest.mark.parametrize("code", ['f"{len(x)} points were"', 'f"{n:,} jobs"', 'f"Over all {len(x)} that lose"'])
def test_plurals_made_by_hand_are_found(code: str) -> None:
    assert NUMBER.search(code)
    assert list(odd_words(ast.parse(code)))


@pytest.mark.parametrize("code", ['f"{counted(n, word)} were"', 'f"{len(x)} of y"', 'raise E(f"{len(x)} points")'])
def test_correct_counts_are_not_reported(code: str) -> None:
    assert not list(odd_words(ast.parse(code)))


def test_all_plurals_use_the_common_function() -> None:
    results: list[str] = []
    for path in sorted(HOME.rglob("*.py")):
        name, text = path.relative_to(HOME).as_posix(), path.read_text()
        if path.name in {"counting.py", "proof_words.py"}:
            continue
        results += [f"{name}: a plural of its own: say counted()"] if OWN_PLURAL.search(text) else []
        if NUMBER.search(text) and not name.startswith(EVIDENCE):
            results += [
                f"{name}:{line}: {word}: say counted() or all_of()" for line, word in odd_words(ast.parse(text))
            ]
    assert not results, "\n".join(results)
