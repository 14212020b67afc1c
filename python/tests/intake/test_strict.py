"""No scalar of a file is taken for another: every field of every form that a file is read with is tried."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

import rtoslab
from rtoslab.base.strict import StrictFileSchemaModel
from rtoslab.instruments.profiler import Profile
from rtoslab.intake.numbers import to_exact_fraction
from rtoslab.results.column import CompactIntegerSequence
from rtoslab.results.virtual_result import CoreCycles

SCALARS: tuple[Any, ...] = (True, False, 0, 1, 2, 1.0, 0.0, 0.5, "", "0", "1", "1.0", "true", "a")


def _subclasses(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def forms() -> list[type[BaseModel]]:
    """Every model of every module of ours."""
    for module in pkgutil.walk_packages(rtoslab.__path__, "rtoslab."):
        if module.name != "rtoslab.__main__":
            importlib.import_module(module.name)
    return [subclass for subclass in _subclasses(BaseModel) if subclass.__module__.startswith("rtoslab.")]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list | tuple | set | frozenset | CompactIntegerSequence):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _is_unconverted(given: Any, got: Any) -> bool:
    """Whether it was taken for what it is: of its own type, or as the decimal that an integer may stand for."""
    if isinstance(got, float) and type(given) is int:
        return got == given
    return got == given and type(getattr(got, "value", got)) is type(given)


def test_every_model_has_the_strict_base() -> None:
    result = forms()
    assert len(result) > 70
    assert [model.__qualname__ for model in result if not issubclass(model, StrictFileSchemaModel)] == []


def test_no_scalar_is_converted_to_another_type() -> None:
    taken: list[str] = []
    tried = 0
    for form in forms():
        for name, field in form.model_fields.items():
            one = create_model("One", __base__=StrictFileSchemaModel, x=(field.rebuild_annotation(), ...))
            for scalar in SCALARS:
                for table in (scalar, [scalar], [[scalar]], [scalar, scalar], {"1": scalar}, {"1": {"1": scalar}}):
                    try:
                        got: Any = dict(one.model_validate({"x": table}))["x"]
                    except ValidationError:
                        continue
                    tried += 1
                    leaves = _leaves(got)
                    if isinstance(got, BaseModel) or any(isinstance(leaf, BaseModel) for leaf in leaves):
                        continue  # of which no field is due; each is tried by itself
                    if not all(_is_unconverted(scalar, leaf) for leaf in leaves):
                        taken.append(f"{form.__qualname__}.{name} takes {table!r} for {got!r}")
    assert taken == []
    assert tried > 1000


@pytest.mark.parametrize("name", ["type", "default", "metadata", "serialization", "fields"])
def test_fields_may_be_named_as_parts_of_a_schema(name: str) -> None:
    fields: dict[str, Any] = {name: (int, ...)}
    odd = create_model("Odd", __base__=StrictFileSchemaModel, **fields)
    odd.model_validate({name: 1})
    with pytest.raises(ValidationError):
        odd.model_validate({name: True})


@pytest.mark.parametrize("scalar", [True, 1.0, "1"])
def test_stored_profile_is_parsed_strictly(scalar: object) -> None:
    whole: dict[str, Any] = {
        "label": "l", "axes": {}, "clock_hz": 1, "observed_cycles": [1], "operations": 1, "held": [], "locks": [],
        "spent": [{"core": 1, "stack": [], "line": "", "cycles": [1], "executions": 1, "calls": 1}],
    }  # fmt: skip
    adapter = TypeAdapter(Profile)
    adapter.validate_python(whole)
    spent = whole["spent"][0]
    for table in (
        {**whole, "clock_hz": scalar},
        {**whole, "observed_cycles": [scalar]},
        {**whole, "operations": scalar},
        {**whole, "spent": [{**spent, "core": scalar}]},
        {**whole, "spent": [{**spent, "cycles": [scalar]}]},
    ):
        with pytest.raises(ValidationError):
            adapter.validate_python(table)


@pytest.mark.parametrize("key", ["1.0", " 1", "01", "1_0", "+1", "-0", "٣", "true", True, 1.0])
def test_integer_key_has_one_spelling(key: object) -> None:
    whole = dict.fromkeys(CoreCycles.model_fields, 1)
    CoreCycles.model_validate({**whole, "exceptions": {"15": 1, "-1": 1, "0": 1}})
    with pytest.raises(ValidationError):
        CoreCycles.model_validate({**whole, "exceptions": {key: 1}})


def test_readers_without_pydantic_are_strict() -> None:
    with pytest.raises(ValueError, match="true or false, not a number"):
        to_exact_fraction(True)
