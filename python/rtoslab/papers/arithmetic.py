"""Arithmetic over published figures: `r68 - r70 - r72`, `floor(1000 * r66 / lcm(r56, r57))`."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping

from rtoslab.base import CatalogueError
from rtoslab.intake import quote_text

_CHARS = 200

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "lcm": lambda *numbers: math.lcm(*(round(number) for number in numbers)),
    "floor": math.floor,
}


def evaluate_expression(expression: str, numbers: Mapping[int, float]) -> float:
    """Returns the value of an arithmetic expression over a paper's figures. `r7` in it is row 7 of published.csv, whose
    number is in `numbers`.

    Raises CatalogueError naming the expression.
    """
    try:
        if len(expression) > _CHARS:
            raise ValueError(f"it has more than {_CHARS} characters")  # noqa: TRY301
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # `1 and 2`, with the same answer from the next line
            tree = ast.parse(expression, mode="eval")
        return _expression_node_value(tree.body, numbers)
    except (SyntaxError, KeyError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as cause:
        raise CatalogueError(
            f"{quote_text(expression)} of a slips.toml cannot be computed ({cause}); correct it."
        ) from None


def _expression_node_value(node: ast.expr, numbers: Mapping[int, float]) -> float:
    """Returns the value of a node of the expression's syntax tree."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name) and node.id[:1] == "r" and node.id[1:].isdecimal():
        return numbers[int(node.id[1:])]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](
            _expression_node_value(node.left, numbers), _expression_node_value(node.right, numbers)
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return _FUNCTIONS[node.func.id](*(_expression_node_value(arg, numbers) for arg in node.args))
    raise ValueError(f"{ast.unparse(node)} cannot be computed")
