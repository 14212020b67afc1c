"""Dataclasses as plain JSON values and back, by the types of their fields. It knows no dataclass of its own.

Mappings become lists of pairs, because JSON's keys are texts and ours are numbers and tuples; what is given back is
equal to what was taken. A type that is not known is a TypeError at once, not a value that comes back as another.
"""

import json
import types
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from types import NoneType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

_PLAIN: Final = (str, int, float, bool, type(None))


def to_plain(value: object) -> Any:
    """The JSON value of a dataclass, or of what one may hold."""
    if isinstance(value, _PLAIN):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        plain = {}
        for name in _field_names(type(value)):
            each = getattr(value, name)
            plain[name] = each if type(each) in _PLAIN else to_plain(each)  # most are
        return plain
    if isinstance(value, Mapping):
        return [[to_plain(key), to_plain(item)] for key, item in value.items()]
    if isinstance(value, Set):
        return sorted(to_plain(each) for each in value)
    if isinstance(value, list | tuple | array):
        return [to_plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} has no plain form")


def to_text(value: object) -> str:
    """The JSON text of `to_plain`, without blanks. A run has thousands of steps: texts are made of many values at once,
    which takes less time than plain values take on their way there."""
    return next(iter(_texts([value])))


def _texts(values: Sequence[Any]) -> Iterable[str]:
    """The texts of values, each of which may be of another type."""
    kinds = set(map(type, values))
    if kinds <= {int, NoneType}:
        return ["null" if each is None else str(each) for each in values]
    if kinds == {str}:
        known = {each: encode_basestring_ascii(each) for each in set(values)}
        return map(known.__getitem__, values)
    if kinds == {bool}:
        return ["true" if each else "false" for each in values]
    (kind, *others) = kinds
    if not others and is_dataclass(kind):
        return _rows(kind, values)
    return map(_text, values)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        return f"[{','.join(_texts(value))}]"
    if isinstance(value, dict):
        if not value:
            return "[]"
        pairs = zip(_texts(list(value)), _texts(list(value.values())), strict=True)
        return f"[{','.join([f'[{key},{item}]' for key, item in pairs])}]"
    if is_dataclass(value):
        return next(iter(_rows(type(value), [value])))
    return json.dumps(to_plain(value), separators=(",", ":"))


def _rows(kind: type, values: Sequence[object]) -> Iterable[str]:
    """The texts of dataclasses of one type, field by field."""
    names = _field_names(kind)
    if not names:
        return ["{}"] * len(values)
    of_all = list(map(attrgetter(*names), values))
    columns = [of_all] if len(names) == 1 else zip(*of_all, strict=True)
    parts = [_part(column) for column in columns]
    row = "{" + ",".join(f'"{name}":{form}' for name, (form, _) in zip(names, parts, strict=True)) + "}"
    return map(row.__mod__, zip(*(each for _, each in parts), strict=True))


def _part(column: Sequence[Any]) -> tuple[str, Iterable[Any]]:
    """How a field's values go into the texts of many, and they: whole numbers as they are."""
    return ("%d", column) if set(map(type, column)) == {int} else ("%s", _texts(column))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


class _Arrays:
    """Stands for `array` in annotations: Python 3.11 does not know `array[int]`."""

    def __class_getitem__(cls, _: object) -> type:
        return array


_Read = Callable[[Any], Any]


class Reader:
    """Gives values back. `names`: types that annotations name without importing them.

    A run has a hundred thousand values of a few types: what to do with a type is found out once.
    """

    def __init__(self, names: Mapping[str, object]) -> None:
        self._names = {"array": _Arrays, **names}
        self._hints = cache(lambda kind: get_type_hints(kind, localns=self._names))
        self._of = cache(self._reader)

    def read(self, hint: Any, plain: Any) -> Any:
        """The value of type `hint`. Raises ValueError, KeyError or TypeError where `plain` is not of it."""
        return self._of(hint)(plain)

    def _reader(self, hint: Any) -> _Read:
        origin, inner = get_origin(hint) or hint, get_args(hint)
        if hint is Any:
            return lambda plain: plain
        if origin is Union or origin is types.UnionType:
            return self._union(inner)
        if origin in _PLAIN:
            return _scalar(origin)
        if is_dataclass(origin):
            return self._dataclass(origin)
        return _of_list(self._many(origin, inner))

    def _union(self, inner: Sequence[Any]) -> _Read:
        (only,) = (each for each in inner if each is not NoneType)
        read, may_be_none = self._of(only), NoneType in inner
        return lambda plain: None if plain is None and may_be_none else read(plain)

    def _dataclass(self, kind: Any) -> _Read:
        names = frozenset(_field_names(kind))
        readers: dict[str, _Read] = {}  # not before a value is read: a type may have fields of itself

        def read(plain: Any) -> Any:
            if not isinstance(plain, dict) or plain.keys() != names:
                raise ValueError(f"no {kind.__name__}")
            if len(readers) < len(names):
                hints = self._hints(kind)
                readers.update({name: self._of(hints[name]) for name in _field_names(kind)})
            return kind(**{name: each(plain[name]) for name, each in readers.items()})

        return read

    def _many(self, origin: Any, inner: Sequence[Any]) -> _Read:
        if issubclass(origin, Mapping):
            key, item = map(self._of, (inner[0], int) if issubclass(origin, Counter) else inner)
            made: Callable[[Any], Any] = Counter if issubclass(origin, Counter) else dict
            return lambda plain: made({key(each): item(value) for each, value in plain})
        if origin is tuple and inner[-1:] != (...,):
            parts = [self._of(hint) for hint in inner]
            return lambda plain: tuple([read(each) for read, each in zip(parts, plain, strict=True)])
        if origin is array:
            number = self._of(int)
            return lambda plain: array("q", map(number, plain))
        makers: dict[Any, Callable[[Any], Any]] = {tuple: tuple, list: list, set: set, frozenset: frozenset}
        if origin not in makers:
            raise TypeError(f"{origin!r} has no plain form")
        make, one = makers[origin], self._of(inner[0])
        return lambda plain: make(map(one, plain))


def _scalar(kind: type) -> _Read:
    def read(plain: Any) -> Any:
        if type(plain) is not kind:
            raise ValueError(f"{plain!r} is no {kind.__name__}")
        return plain

    return read


def _of_list(many: _Read) -> _Read:
    def read(plain: Any) -> Any:
        if not isinstance(plain, list):
            raise ValueError(f"{type(plain).__name__} where a list is due")  # noqa: TRY004 (it is data, not a bug)
        return many(plain)

    return read
