"""A dataclass with deferred methods does what the usual one does."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any, ClassVar

import pytest

from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list, compare=False)
    hidden: str = field(default="h", repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class UsualPoint:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list, compare=False)
    hidden: str = field(default="h", repr=False)


@dataclass(slots=True)
class Counter:
    """Mutable."""

    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    low: int
    high: int = 9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


@dataclass(frozen=True)
class Plain:
    text: str

    def __repr__(self) -> str:
        return "by hand"


def test_fields_defaults_and_text_are_the_usual_ones() -> None:
    ours, theirs = Point(1, names=["a"]), UsualPoint(1, names=["a"])

    assert asdict(ours) == asdict(theirs)
    assert repr(ours) == repr(theirs).replace("UsualPoint", "Point")
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert inspect.signature(Point) == inspect.signature(UsualPoint)
    assert Point(1).names is not Point(1).names


def test_equality_and_hash_compare_the_same_fields() -> None:
    assert Point(1, names=["a"]) == Point(1)
    assert Point(1) != Point(2)
    other: object = UsualPoint(1)
    assert Point(1) != other
    assert hash(Point(1, names=["a"])) == hash(Point(1)) == hash(UsualPoint(1))
    assert {Point(1): "found"}[Point(1)] == "found"


def test_a_mutable_one_changes_and_has_no_hash() -> None:
    counter = Counter()
    counter.value += 1

    assert counter == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_a_mutable_one_has_a_hash_on_request() -> None:
    @dataclass(slots=True, unsafe_hash=True)
    class Frequent:
        value: int

    assert hash(Frequent(1)) == hash(Frequent(1))


@pytest.mark.parametrize(
    "change",
    [lambda one: setattr(one, "x", 3), lambda one: delattr(one, "x")],
    ids=["assign", "delete"],
)
def test_a_frozen_one_refuses_changes(change: Callable[[Any], None]) -> None:
    point = Point(1)

    with pytest.raises(FrozenInstanceError):
        change(point)

    assert point.x == 1
    assert not hasattr(point, "__dict__")


def test_arguments_are_checked_and_the_check_of_the_class_runs() -> None:
    assert Checked(low=1) == Checked(low=1, high=9)
    with pytest.raises(ValueError, match="low is above high"):
        Checked(low=10)
    with pytest.raises(TypeError, match="positional"):
        Checked(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_a_method_written_by_hand_stays() -> None:
    assert repr(Plain("a")) == "by hand"


def test_patterns_copies_and_replacements_work() -> None:
    match Point(1, 5):
        case Point(x, y):
            found = x, y
    assert found == (1, 5)
    assert replace(Point(1), y=7) == Point(1, 7)
    assert copy.deepcopy(Point(1)) == copy.copy(Point(1)) == Point(1)
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1)


def test_threads_may_use_a_class_first_at_the_same_time() -> None:
    for _ in range(50):

        @dataclass(frozen=True, slots=True)
        class Shared:
            value: int

        begin = threading.Barrier(4)
        made: list[Shared] = []

        def make(kind: type[Shared], begin: threading.Barrier, made: list[Shared]) -> None:
            begin.wait()
            made.append(kind(1))

        threads = [threading.Thread(target=make, args=(Shared, begin, made)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Shared(1)] * 4


def test_nothing_is_compiled_before_the_first_use() -> None:
    program = """
import builtins, dataclasses
from cockpit.core.deferred_dataclass import dataclass
compiled = []
run = builtins.exec
def counted(text, *rest):
    compiled.append(text)
    return run(text, *rest)
dataclasses.exec = counted
@dataclass(frozen=True, slots=True)
class Point:
    x: int
before = len(compiled)
Point(1)
print(before, len(compiled) > 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["0", "True"]
