"""Stores the virtual board's observations of a run beside its point: proofs are judged and figures are computed again
from them.

`evidence.json.zst`: the run's `RunOutput` without its serial bytes, which are in uart.txt, as JSON compressed with
Zstandard. The same run gives the same bytes. A mapping is a list of pairs, because JSON's keys are texts and these are
numbers and tuples. A set is sorted. A field that is missing is refused, and so is a scalar of another type."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import CoreSchema, SchemaSerializer, SchemaValidator, core_schema

from rtoslab.base import strict_schema
from rtoslab.intake import CONTAINERS, EVIDENCE_BYTES, compress, decompress, first_validation_problem
from rtoslab.targets import RunOutput

EVIDENCE_FILE: Final = "evidence.json.zst"


def encode_board_observations(output: RunOutput) -> bytes:
    """Returns the virtual board's observations of a run as the content of an evidence file."""
    text = _observation_validator_and_serializer()[1].to_json(output, exclude={"uart"}, ensure_ascii=True)
    return compress(text)


def decode_evidence_file(content: bytes, uart: bytes) -> RunOutput:
    """Returns the observations stored in an evidence file, with the serial output (`uart`) that is stored elsewhere.

    Raises ValueError if the content is damaged, or of another version of this package.
    """
    try:
        output: RunOutput = _observation_validator_and_serializer()[0].validate_python(
            {**json.loads(_decompress_observations(content)), "uart": uart}
        )
    except ValidationError as cause:
        raise ValueError(f"the evidence cannot be read ({first_validation_problem(cause)})") from None
    except (TypeError, RecursionError) as cause:
        raise ValueError(f"the evidence cannot be read ({type(cause).__name__})") from None
    return output


def _decompress_observations(content: bytes) -> bytes:
    """Returns the JSON text of an evidence file. Raises ValueError if it is too large, before it takes much memory."""
    text = decompress(content, EVIDENCE_BYTES)
    if text is None:
        raise ValueError(f"the evidence unpacks to more than {EVIDENCE_BYTES:,} bytes")
    if text.count(b"[") + text.count(b"{") > CONTAINERS:
        raise ValueError(f"the evidence holds more than {CONTAINERS:,} objects and lists")
    return text


@cache
def _observation_validator_and_serializer() -> tuple[SchemaValidator, SchemaSerializer]:
    """Returns the pydantic validator and serializer for observations in the form in which they are stored."""
    schema = strict_schema(_schema_for_storage(TypeAdapter(RunOutput).core_schema))
    return SchemaValidator(schema), SchemaSerializer(schema)


def _schema_for_storage(schema: Any) -> Any:
    """Returns a pydantic schema changed for storage: mappings are stored as pairs and sets in order, and no missing
    value is replaced by a default."""
    if isinstance(schema, list):
        return [_schema_for_storage(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: part if key == "metadata" else _schema_for_storage(part) for key, part in schema.items()}
    match schema.get("type"):
        case "default":
            parts = parts["schema"]
        case "dataclass-args":
            parts["extra_behavior"] = "forbid"
        case "dict":
            parts = _schema_of_mapping_as_pairs(parts, dict)
        case "counter":
            parts = _schema_of_mapping_as_pairs(parts, _counter_from_value_count_pairs)
        case "set" | "frozenset":
            parts["serialization"] = _list_serializer(sorted, parts["items_schema"])
    return parts


def _schema_of_mapping_as_pairs(mapping: Any, make: Any) -> Any:
    """Returns the pydantic schema of a mapping that is stored as a list of pairs. `make` turns the pairs into the
    mapping."""
    pair = core_schema.tuple_schema([mapping["keys_schema"], mapping["values_schema"]])
    pairs = core_schema.list_schema(pair)
    return core_schema.no_info_after_validator_function(
        make, pairs, serialization=_list_serializer(_mapping_as_pairs, pair)
    )


def _list_serializer(list_items: Any, item: CoreSchema) -> Any:
    """Returns the part of a pydantic schema by which a value is stored as a list. `list_items`: turns it into the
    items."""
    return core_schema.plain_serializer_function_ser_schema(list_items, return_schema=core_schema.list_schema(item))


def _mapping_as_pairs(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Returns the pairs of a mapping as a list."""
    return list(mapping.items())


def _counter_from_value_count_pairs(pairs: list[tuple[Any, int]]) -> Counter[Any]:
    """Returns a Counter from a list of pairs."""
    return Counter(dict(pairs))
