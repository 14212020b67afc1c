"""Explains in a clause why a strict form refuses a table."""

from pydantic import ValidationError

from rtoslab.intake.names import escape_to_one_line

_MOST = 200


def first_validation_problem(cause: ValidationError) -> str:
    """Returns the first defect that pydantic found in a table as text on one line: `key.inner: message`."""
    first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    return (
        f"{escape_to_one_line(where[:_MOST])}: {escape_to_one_line(first['msg'].removeprefix('Value error, ')[:_MOST])}"
    )


def first_missing_key(cause: ValidationError) -> str | None:
    """Returns the name of a missing key, if that is the first defect that pydantic found. None for another defect."""
    first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    return ".".join(str(part) for part in first["loc"]) if first["type"] == "missing" else None
