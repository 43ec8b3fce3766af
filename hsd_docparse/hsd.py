"""Hierarchical speculative decoding of a page (arXiv 2602.12957).

Stage 1: the target verifies the drafts of all regions in one ragged batch, each against its
own part of the picture. Stage 2: it verifies the whole page against the set of what stage 1
said. The page pass decides order, joins and structure, and alone decides the output: in
``lossless`` mode that is, token for token, the target's greedy decoding of the page, whatever
the drafts were. Good drafts only make it come sooner. Both stages take several pages in a batch,
which may be of different documents.

The modes ``near`` and ``ensemble`` let the draft have a say. Their output depends on the draft,
so it is the pipeline's own, and the page pass alone verifies it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hsd_docparse.confidence import of_regions
from hsd_docparse.document import FURNITURE, Page, Region, Speculation
from hsd_docparse.speculative import (
    AlignedText,
    Doubling,
    Drafter,
    Ensemble,
    Greedy,
    HeldBack,
    MaxLength,
    NoDraft,
    Outcome,
    Peaked,
    Request,
    Tolerance,
    Verifier,
    WeighedText,
    run,
)
from hsd_docparse.wording import counted

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.convert import Mode
    from hsd_docparse.targets import DocumentTarget, WeighedDraft

TAU = 0.75
"""Share of the best probability that a drafted token needs in mode ``near``, as in the paper."""
WEIGHT = 0.5
"""Of the target in mode ``ensemble``; the draft has the rest."""

Shown: TypeAlias = "tuple[Image.Image, Page]"
"""The picture of a page, and its draft."""

Stages = Literal["both", "page", "regions", "none"]
"""``both``: full HSD. ``page``: the page against the pipeline's drafts. ``regions``: stage 1
alone, joined in the draft's order (fast, and not the target's own page). ``none``: plain
greedy decoding."""

UNFINISHED = frozenset({"loop", "length"})
"""Reasons of a stop that say the target lost its way."""


@dataclass
class Reading:
    """What a target made of a page: the output tokens and how they came about.

    ``finished`` is the reason of the stop. ``seconds``: ``see`` (vision encoder and
    prefill), ``regions`` (stage 1, its own seeing included), ``page`` (stage 2) and
    ``fastest_call`` (of stage 2); of a batch, every page has an equal share. ``committed``: tokens
    that each call of stage 2 gave.
    ``lossless``: the output is the target's own; ``changed``: tokens of it that are the draft's
    where the target would have gone on with another.
    """

    output: list[int]
    finished: str
    lossless: bool = False
    changed: int = 0
    region_outputs: dict[int, list[int]] = field(default_factory=dict)
    accepted: int = 0
    proposed: int = 0
    region_calls: int = 0
    page_calls: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)


class _Calls:
    """Observes what each call of a pass gave, how many tokens of it are not the target's argmax,
    and how long the fastest took."""

    def __init__(self, lossless: bool) -> None:
        self.lossless = lossless
        self.committed: list[int] = []
        self.changed = 0
        self.fastest = math.inf

    def on_commit(self, outcome: Outcome[int]) -> None:
        if not self.lossless:
            best = outcome.scores.logits.argmax(-1).tolist()
            rows = [0, *(node + 1 for node in outcome.verdict.path)]
            self.changed += sum(
                best[row] != token for row, token in zip(rows, outcome.emitted, strict=False)
            )
        self.committed.append(len(outcome.emitted))
        self.fastest = min(self.fastest, outcome.seconds.scoring)


@dataclass
class StageChoice:
    """Whether stage 1 pays on this machine with this target, from what both ways cost.

    The first pages try both ways in turn; then the cheaper one a token is taken, and the
    other is tried again on one page in `RETRY`, since documents change.
    """

    RETRY = 16

    cost: dict[Stages, float] = field(default_factory=dict)
    pages: int = 0

    def choose(self, regions: int) -> Stages:
        """For a page with ``regions`` regions; a page of one has nothing to gain."""
        if regions < 2:
            return "page"
        self.pages += 1
        ways: list[Stages] = ["page", "both"]
        missing = [way for way in ways if way not in self.cost]
        if missing:
            return missing[0]
        best, other = sorted(ways, key=lambda way: self.cost[way])
        return other if self.pages % self.RETRY == 0 else best

    def learn(self, stages: Stages, reading: Reading) -> None:
        """Moving average of seconds a token over the stages' decoding."""
        spent = reading.seconds.get("regions", 0.0) + reading.seconds.get("page", 0.0)
        new = spent / max(1, len(reading.output))
        old = self.cost.get(stages, new)
        self.cost[stages] = 0.7 * old + 0.3 * new


def verify_pages(
    target: DocumentTarget,
    shown: Sequence[Shown],
    *,
    mode: Mode = "lossless",
    choice: StageChoice | None = None,
) -> list[Page]:
    """The pages as ``target`` reads them, all in one batch: they may be of different documents. A
    page that it cannot read keeps its draft, and says so, at no cost to the others.

    The pictures are of whole pages, at any resolution. In mode ``lossless`` the stages are picked
    by measured cost, with a ``choice``, and otherwise both run.
    """
    # Nothing to read on some: a model asked about a blank page invents.
    asked = [i for i, (_, page) in enumerate(shown) if has_text_for(target, page)]
    stages: Stages = "both"
    if mode != "lossless":
        stages, choice = "page", None
    elif choice and asked:
        stages = choice.choose(max(len(shown[i][1].regions) for i in asked))
    readings = dict(
        zip(asked, _readings(target, [shown[i] for i in asked], stages, mode), strict=True)
    )
    if choice:
        for reading in readings.values():
            if isinstance(reading, Reading):
                choice.learn(stages, reading)
    return [
        _verified(target, page, readings.get(i), stages, mode) for i, (_, page) in enumerate(shown)
    ]


def _readings(
    target: DocumentTarget, shown: Sequence[Shown], stages: Stages, mode: Mode
) -> list[Reading | Exception]:
    """What came of each page; those that cannot be read together are read one by one."""
    if not shown:
        return []
    try:
        return [*read_pages(target, shown, stages, mode)]
    except Exception as error:
        if len(shown) == 1:
            return [error]
    return [reading for one in shown for reading in _readings(target, [one], stages, mode)]


def _verified(
    target: DocumentTarget,
    page: Page,
    reading: Reading | Exception | None,
    stages: Stages,
    mode: Mode,
) -> Page:
    """``page`` with what came of its reading: None where it holds nothing to read."""
    left = sum(bool(region.lines) and not target.covers(region) for region in page.regions)
    if reading is None:
        return page if not left else replace(page, warnings=[*page.warnings, _left(target, left)])
    try:
        if isinstance(reading, Exception):
            raise reading
        regions = target.regions(page, reading.output)
    except Exception as error:
        warning = f"Verification failed ({error}); the page shows its draft."
        return replace(page, warnings=[*page.warnings, warning])
    speculation = Speculation(
        target.name, mode, reading.lossless, len(reading.output), reading.accepted,
        reading.proposed, reading.region_calls, reading.page_calls, reading.seconds, reading.notes,
        reading.committed, reading.changed,
    )  # fmt: skip
    if left:
        speculation.notes.append(_left(target, left))
    if stages == "page":
        speculation.notes.append("Stage 1 was not run on this page.")
    if reading.finished in UNFINISHED:
        what = "went in a loop" if reading.finished == "loop" else "found no end"
        warning = f"The target {what}; the page shows its draft."
        return replace(page, warnings=[*page.warnings, warning], speculation=speculation)
    lost = left_out(page.regions, regions)
    warnings = list(page.warnings)
    if lost:
        warnings.append(f"The target left out {counted(lost, 'line')} of the draft.")
    return replace(
        page,
        regions=regions,
        warnings=warnings,
        speculation=speculation,
        confidence=of_regions(regions),
    )


def has_text_for(target: DocumentTarget, page: Page) -> bool:
    """Whether ``page`` has running text in a region that ``target`` was made for."""
    running = (region for region in page.regions if region.kind not in FURNITURE)
    return any(region.lines and target.covers(region) for region in running)


def _left(target: DocumentTarget, regions: int) -> str:
    kind = f"of a kind that {target.name} does not read"
    return f"The draft stands for {counted(regions, 'region')} {kind}."


def left_out(draft: Sequence[Region], verified: Sequence[Region]) -> int:
    """Lines of the draft's running text that the verified regions do not hold."""
    kept = {line.box for region in verified for line in region.lines}
    lines = [line for region in draft if region.kind not in FURNITURE for line in region.lines]
    return sum(line.box not in kept for line in lines)


def read(
    target: DocumentTarget,
    image: Image.Image,
    page: Page,
    stages: Stages = "both",
    mode: Mode = "lossless",
) -> Reading:
    """`read_pages` for one page."""
    return read_pages(target, [(image, page)], stages, mode)[0]


def read_pages(
    target: DocumentTarget,
    shown: Sequence[Shown],
    stages: Stages = "both",
    mode: Mode = "lossless",
) -> list[Reading]:
    """Decode pages, all in one batch; raises what the target raises. ``stages`` are those of mode
    ``lossless``."""
    clock = time.perf_counter()
    inputs = [target.page_inputs(image, page) for image, page in shown]
    seen = (time.perf_counter() - clock) / len(shown)
    firsts = [Reading([], "stop") for _ in shown]
    if mode != "lossless":
        parts = [weighing(target.weighed_draft(page), mode) for _, page in shown]
    else:
        if stages in ("both", "regions"):
            _read_regions(target, shown, firsts)
        drafts = [
            target.page_drafts(page, first.region_outputs) if stages != "none" else []
            for (_, page), first in zip(shown, firsts, strict=True)
        ]
        if stages == "regions":
            for first, texts in zip(firsts, drafts, strict=True):
                first.output = [token for text in texts for token in text]
                first.seconds["see"] = seen
            return firsts
        parts = [(aligned(texts), Greedy()) for texts in drafts]
    readings = decode(target, inputs, parts)
    for first, reading in zip(firsts, readings, strict=True):
        reading.region_outputs, reading.region_calls = first.region_outputs, first.region_calls
        reading.notes = first.notes
        reading.seconds = first.seconds | reading.seconds
        reading.seconds["see"] += seen
    return readings


def aligned(drafts: Sequence[Sequence[int]]) -> Drafter[int]:
    """For verification against ``drafts``, an unordered set; with none it is plain decoding."""
    return AlignedText(drafts) if drafts else NoDraft()


def weighing(
    draft: WeighedDraft, mode: Mode, weight: float = WEIGHT
) -> tuple[Drafter[int], Verifier[int]]:
    """For a mode in which ``draft`` has a say: none inside tables and formulas in mode ``near``;
    all but ``weight`` in mode ``ensemble``."""
    pairs = zip(draft.tokens, draft.probabilities, strict=True)
    beliefs: list[Peaked | None] = [Peaked(token, sure) for token, sure in pairs]
    if mode == "ensemble":
        return WeighedText(draft.tokens, beliefs, draft.resume), HeldBack(Ensemble(weight))
    beliefs = [None if e else belief for e, belief in zip(draft.exact, beliefs, strict=True)]
    return WeighedText(draft.tokens, beliefs, draft.resume), HeldBack(Tolerance(TAU, believed=True))


def decode(
    target: DocumentTarget,
    inputs: Sequence[Any],
    parts: Sequence[tuple[Drafter[int], Verifier[int]]],
    *,
    most: int | None = None,
) -> list[Reading]:
    """Stage 2: verify pages in one batch, each with a drafter and a verifier of its own, losslessly
    with `Greedy`. ``most`` cuts the outputs off after so many tokens."""
    clock = time.perf_counter()
    states = target.open(inputs)
    opened = time.perf_counter()
    requests, observers = [], []
    for each, state, (drafter, verifier) in zip(inputs, states, parts, strict=True):
        request = _request(target, each, state, drafter)
        request.verifier = verifier
        observers.append(_Calls(request.lossless))
        request.observers = [observers[-1]]
        if most is not None:
            request.stops = [*request.stops, MaxLength(most)]
        requests.append(request)
    run(target, requests)
    ended = time.perf_counter()
    return [
        Reading(
            request.output,
            request.finished or "stop",
            lossless=request.lossless,
            changed=observer.changed,
            accepted=request.statistics.accepted,
            proposed=request.statistics.proposed,
            page_calls=request.statistics.calls,
            seconds={
                "see": (opened - clock) / len(inputs),
                "page": (ended - opened) / len(inputs),
                "fastest_call": observer.fastest / len(inputs),
            },
            committed=observer.committed,
        )
        for request, observer in zip(requests, observers, strict=True)
    ]


def _read_regions(
    target: DocumentTarget, shown: Sequence[Shown], readings: Sequence[Reading]
) -> None:
    """Stage 1. Regions that fail keep their draft, and say so."""
    clock = time.perf_counter()
    places: list[tuple[Reading, int]] = []
    inputs: list[Any] = []
    drafts: list[list[int]] = []
    for (image, page), reading in zip(shown, readings, strict=True):
        regions = target.readable(page)
        places += [(reading, region) for region in regions]
        inputs += target.region_inputs(image, page, regions)
        drafts += [target.region_draft(page, region) for region in regions]
    states = target.open(inputs) if inputs else []
    requests = [
        _request(target, each, state, aligned([draft]))
        for each, state, draft in zip(inputs, states, drafts, strict=True)
    ]
    run(target, requests)
    for (reading, region), request in zip(places, requests, strict=True):
        reading.region_calls = max(reading.region_calls, request.statistics.calls)
        if request.finished in UNFINISHED:
            reading.notes.append(
                f"Region {region + 1} fell back to its draft ({request.finished})."
            )
        else:
            reading.region_outputs[region] = request.output
    for reading in readings:
        reading.seconds["regions"] = (time.perf_counter() - clock) / len(readings)


def _request(
    target: DocumentTarget, inputs: Any, state: Any, drafter: Drafter[int]
) -> Request[int]:
    return Request(
        state,
        drafter,
        target.stops(inputs),
        processors=target.processors(inputs),
        controller=Doubling(target.budget),
    )
