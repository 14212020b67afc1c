"""Checks configurations, from `--config` or from a TOML file: keys and values must be simple.

A value becomes text of a C header, of CMake and of a command line. There, `/*`, `;`, `$` or the end of a line would
have another meaning, so they are refused."""

import re
from collections.abc import Mapping
from typing import Final

from rtoslab.base import PlanError
from rtoslab.intake import quote_text

_CHARS: Final = 200
_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}(\.[A-Za-z0-9_]{1,100})?")
_VALUE: Final = re.compile(r"[A-Za-z0-9_ ().,:?+*/%<>=!&|~^-]*")
"""The characters of C's constant expressions, and of names, numbers and options."""
_COMMENT: Final = re.compile(r"/[/*]|\*/")


def require_valid_config(config: Mapping[str, str]) -> None:
    """Raises PlanError naming the first settings key or value of `--config` that is not allowed."""
    for key, value in config.items():
        if not _KEY.fullmatch(key):
            raise PlanError(
                f"--config {quote_text(key)} is not a valid key; write the name of a macro, opt, "
                "feature.NAME or another key from `rtoslab run --help`."
            )
        if (
            len(value) > _CHARS
            or not _VALUE.fullmatch(value)
            or _COMMENT.search(value)
            or not _has_paired_brackets(value)
        ):
            raise PlanError(
                f"--config {key}={quote_text(value)} is not a valid value; write a number, a name or a C expression of "
                f"up to {_CHARS} characters, without comments and quotes."
            )


def _has_paired_brackets(value: str) -> bool:
    """Whether each opening bracket of a value has a closing one after it."""
    depth = 0
    for char in value:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0
