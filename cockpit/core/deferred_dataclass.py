"""A dataclass whose methods are compiled at their first use.

`dataclasses.dataclass` compiles up to seven functions from text for each class, which takes 0.3 to
0.6 ms. The supervisor loads more than 300 dataclasses before the screen can draw its first frame,
but by then has used only a fifth of these classes. Use this module where several dataclasses are
defined.

Fields, slots, patterns, `replace`, `asdict` and signatures work as in `dataclasses`. A class must
have no base class with fields.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

C = TypeVar("C")


class _AtFirstUse:
    """A placeholder for a dataclass's method. The first read compiles and installs the method."""

    def __init__(self, made: type[Any], name: str, *, frozen: bool) -> None:
        self._made = made
        self._name = name
        self._frozen = frozen

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        method = vars(_usual(self._made, self._name, frozen=self._frozen))[self._name]
        setattr(self._made, self._name, method)
        return method.__get__(instance, owner)


def _deferred(
    cls: type[C], *, frozen: bool, slots: bool, kw_only: bool, unsafe_hash: bool
) -> type[C]:
    if cls.__doc__ is None:
        # Without a docstring, `dataclasses` formats the signature as one, which takes time.
        cls.__doc__ = cls.__name__
    own = set(vars(cls))
    made: type[Any] = dataclasses.dataclass(
        init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
    )(cls)
    methods: dict[str, object] = {
        name: _AtFirstUse(made, name, frozen=frozen)
        for name in ("__init__", "__repr__", "__eq__", "__hash__")
        if name not in own
    }
    if not frozen and not unsafe_hash:
        methods["__hash__"] = None
    for name, method in (methods | (_FROZEN if frozen else {})).items():
        setattr(made, name, method)
    return made


def _usual(made: type[Any], method: str, *, frozen: bool) -> type[Any]:
    """Return an ordinary dataclass with the same fields, and with only this method generated."""
    fields = dataclasses.fields(made)
    body: dict[str, Any] = {field.name: field for field in fields}
    body |= {
        "__annotations__": {field.name: field.type for field in fields},
        "__module__": made.__module__,
        "__qualname__": made.__qualname__,
        "__doc__": made.__doc__,
    }
    if hasattr(made, "__post_init__"):
        body["__post_init__"] = made.__post_init__
    return dataclasses.dataclass(
        init=method == "__init__",
        repr=method == "__repr__",
        eq=method == "__eq__",
        unsafe_hash=method == "__hash__",
        frozen=frozen and method == "__init__",
        match_args=False,
    )(type(made.__name__, (), body))


def _refuse_assignment(self: object, name: str, value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    # `copy` and `pickle` would assign to the attributes, which a frozen dataclass refuses.
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN: dict[str, object] = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _state,
    "__setstate__": _set_state,
}


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, unsafe_hash=False):
        """Make a class a dataclass like `dataclasses.dataclass`; compile its methods when used."""

        def decorate(cls: type[C]) -> type[C]:
            return _deferred(
                cls, frozen=frozen, slots=slots, kw_only=kw_only, unsafe_hash=unsafe_hash
            )

        return decorate if cls is None else decorate(cls)
