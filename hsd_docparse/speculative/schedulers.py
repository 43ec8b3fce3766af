"""Schedulers: which requests share a target call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hsd_docparse.speculative.engine import Request


@dataclass(frozen=True)
class FirstCome:
    """The oldest ``most`` requests."""

    most: int

    def next_group(self, pool: Sequence[Request[Any]]) -> Sequence[Request[Any]]:
        return pool[: self.most]


@dataclass(frozen=True)
class SameLength:
    """Requests of equal length, so that rows of a call differ by their drafts alone: EXSPEC's
    grouping (arXiv 2510.22876).

    Among the oldest ``window`` requests the largest group of one ``length`` (of a request's
    state, usually `Target.cached`) goes, at most ``most`` of it, the oldest group first among
    equals. Where no two are equal it falls back to the oldest ``most``, whatever their lengths.
    """

    length: Callable[[Any], int]
    most: int
    window: int

    def next_group(self, pool: Sequence[Request[Any]]) -> Sequence[Request[Any]]:
        groups: dict[int, list[Request[Any]]] = {}
        for request in pool[: self.window]:
            groups.setdefault(self.length(request.state), []).append(request)
        largest = max(groups.values(), key=len)
        return largest[: self.most] if len(largest) > 1 else pool[: self.most]
