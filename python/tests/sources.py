"""Test code only: what tests of style and plan read of Python sources."""

import ast
from collections.abc import Iterator


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement below, handlers and cases with them. Expressions hold none, and are most of a tree."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for item in getattr(tree, field, ()):
            yield item
            yield from statements(item)
