"""The two stages, when they run, and what happens when a target loses its way.

The target here knows what it will say: each region's text as characters, and the page as the
regions in an order of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from hsd_docparse import hsd
from hsd_docparse.document import Box, Line, Page, Region
from hsd_docparse.hsd import Reading, StageChoice, left_out, read, verify_pages
from hsd_docparse.speculative import (
    Budget,
    DraftTree,
    Loop,
    MaxLength,
    Processor,
    Scores,
    Stop,
    StopTokens,
)
from hsd_docparse.targets import WeighedDraft

END = 0
PICTURE = Image.new("RGB", (100, 100), "white")


class Teller:
    """Says ``page`` for the page and ``regions[i]`` for region i, whatever the drafts were."""

    name = "teller"
    budget = Budget()

    def __init__(self, page: str, regions: Sequence[str], limit: int = 500) -> None:
        self.page, self.said, self.limit = page, regions, limit
        self.rows: list[int] = []

    def open(self, inputs: Sequence[str]) -> list[list[Any]]:
        self.rows.append(len(inputs))
        return [[text, 0] for text in inputs]

    def score(self, states: Sequence[list[Any]], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        scores = []
        for (text, place), tree in zip(states, trees, strict=True):
            # The character it says has e times the probability of any other.
            logits = np.zeros((1 + len(tree), 0x110))
            for row, depth in enumerate([0, *tree.depths()]):
                at = place + int(depth)
                logits[row, ord(text[at]) if at < len(text) else END] = 1
            scores.append(Scores(logits))
        return scores

    def keep(self, state: list[Any], path: Sequence[int], pending: int) -> None:
        state[1] += len(path) + 1

    def close(self, states: Sequence[list[Any]]) -> None:
        """There is nothing to release."""

    def covers(self, region: Region) -> bool:
        return region.kind != "formula"

    def page_inputs(self, image: Image.Image, page: Page) -> str:
        return self.page

    def readable(self, page: Page) -> list[int]:
        return [i for i, region in enumerate(page.regions) if region.lines]

    def region_inputs(self, image: Image.Image, page: Page, regions: Sequence[int]) -> list[str]:
        return [self.said[i] for i in regions]

    def region_draft(self, page: Page, region: int) -> list[int]:
        return [*map(ord, page.regions[region].text), END]

    def page_drafts(self, page: Page, outputs: dict[int, list[int]]) -> list[list[int]]:
        return [
            [t for t in outputs.get(i, self.region_draft(page, i)) if t != END]
            for i in self.readable(page)
        ]

    def weighed_draft(self, page: Page) -> WeighedDraft:
        regions = [page.regions[i] for i in self.readable(page)]
        return WeighedDraft(
            [ord(c) for region in regions for c in region.text],
            [p for region in regions for line in region.lines for p in line.probabilities],
            [region.kind == "table" for region in regions for _ in region.text],
        )

    def stops(self, inputs: str) -> list[Stop[int]]:
        return [StopTokens([END]), MaxLength(self.limit), Loop(times=4, longest=8, least=40)]

    def processors(self, inputs: str) -> list[Processor]:
        return []

    def regions(self, page: Page, output: Sequence[int]) -> list[Region]:
        text = "".join(chr(t) for t in output if t != END)
        lines = [line for region in page.regions for line in region.lines][:2]
        return [Region("text", Box(0, 0, 9, 9), text, lines=lines, provenance="corrected")]


def drafted(*texts: str) -> Page:
    regions = []
    for i, text in enumerate(texts):
        box = Box(0, 20.0 * i, 90, 20.0 * i + 10)
        regions.append(Region("text", box, text, lines=[Line(text, box)]))
    return Page(1, 100, 100, regions)


def verify_page(target: Any, picture: Image.Image, page: Page, **options: Any) -> Page:
    return verify_pages(target, [(picture, page)], **options)[0]


FIRST, SECOND = "The quick brown fox", "jumps over the lazy dog."


def test_the_page_pass_decides_order_and_text() -> None:
    target = Teller(SECOND + FIRST, [FIRST, SECOND])
    verified = verify_page(target, PICTURE, drafted("The quidk brown fox", "jumps ower the dog."))
    assert [region.text for region in verified.regions] == [SECOND + FIRST]
    speculation = verified.speculation
    assert speculation is not None
    assert speculation.lossless
    assert speculation.tokens == len(SECOND + FIRST) + 1
    assert target.rows == [2, 1]


@pytest.mark.parametrize("stages", ["both", "page", "none"])
@pytest.mark.parametrize(
    "draft", [(FIRST, SECOND), ("x", "y"), (SECOND, FIRST[:9]), ("é" * 30, "")]
)
def test_the_output_does_not_depend_on_drafts_or_stages(
    stages: Any, draft: tuple[str, str]
) -> None:
    reading = read(Teller(FIRST + SECOND, [FIRST, SECOND]), PICTURE, drafted(*draft), stages)
    assert "".join(map(chr, reading.output[:-1])) == FIRST + SECOND


def test_stage_1_mends_drafts_so_that_stage_2_is_shorter() -> None:
    """Every region draft is riddled with errors; the regions' outputs are not."""
    riddled = ["".join(c if i % 3 else "#" for i, c in enumerate(t)) for t in (FIRST, SECOND)]
    target = Teller(FIRST + SECOND, [FIRST, SECOND])
    both = read(target, PICTURE, drafted(*riddled), "both")
    page = read(target, PICTURE, drafted(*riddled), "page")
    assert both.page_calls < page.page_calls / 2
    for reading in (both, page):
        assert len(reading.committed) == reading.page_calls
        assert sum(reading.committed) == len(reading.output)
    assert both.accepted > page.accepted


def test_regions_alone_follow_the_draft_order() -> None:
    reading = read(Teller("", [FIRST, SECOND]), PICTURE, drafted("a", "b"), "regions")
    assert "".join(map(chr, reading.output)) == FIRST + SECOND


SAID, READ = "He said 100 words.", "He sald 700 words."
NEAR_TAU = 0.3
"""Below 1 / e, so that whatever was drafted is nearly as good."""


def weighed(kind: Any, sure: float) -> Page:
    page = drafted(READ)
    page.regions[0].kind = kind
    page.regions[0].lines[0].probabilities = [
        sure if said == read else 1 - sure for said, read in zip(SAID, READ, strict=True)
    ]
    return page


@pytest.mark.parametrize(("sure", "wins"), [(0.1, READ), (0.99999, SAID)])
def test_an_ensemble_is_the_draft_where_that_is_sure(sure: float, wins: str) -> None:
    verified = verify_page(Teller(SAID, [SAID]), PICTURE, weighed("text", sure), mode="ensemble")
    assert verified.regions[0].text == wins
    told = verified.speculation
    assert told is not None
    assert (told.mode, told.lossless, told.region_calls) == ("ensemble", False, 0)
    assert told.changed == sum(a != b for a, b in zip(wins, SAID, strict=True))


@pytest.mark.parametrize(("kind", "wins"), [("text", READ), ("table", SAID)])
def test_near_spares_tables(kind: Any, wins: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hsd, "TAU", NEAR_TAU)
    verified = verify_page(Teller(SAID, [SAID]), PICTURE, weighed(kind, 0.9), mode="near")
    assert verified.regions[0].text == wins
    assert verified.speculation is not None
    assert (verified.speculation.mode, verified.speculation.lossless) == ("near", False)
    assert verified.speculation.changed == sum(a != b for a, b in zip(wins, SAID, strict=True))


def test_a_looping_region_falls_back_to_its_draft_and_says_so() -> None:
    target = Teller(FIRST + SECOND, ["ab" * 300, SECOND])
    verified = verify_page(target, PICTURE, drafted(FIRST, SECOND))
    assert verified.regions[0].text == FIRST + SECOND
    assert verified.speculation is not None
    assert verified.speculation.notes == ["Region 1 fell back to its draft (loop)."]


@pytest.mark.parametrize(("said", "word"), [("ha" * 400, "loop"), ("0123456789" * 5, "no end")])
def test_a_lost_page_falls_back_to_its_draft_and_says_so(said: str, word: str) -> None:
    draft = drafted(FIRST, SECOND)
    verified = verify_page(
        Teller(said, [FIRST, SECOND], limit=48 if word == "no end" else 999), PICTURE, draft
    )
    assert verified.regions == draft.regions
    assert [word in warning for warning in verified.warnings] == [True]


def test_a_target_that_breaks_costs_its_page_nothing_but_a_warning() -> None:
    class Broken(Teller):
        def score(self, states: Any, trees: Any) -> list[Scores]:
            raise RuntimeError("out of memory")

    draft = drafted(FIRST, SECOND)
    verified = verify_page(Broken(FIRST, [FIRST, SECOND]), PICTURE, draft)
    assert verified.regions == draft.regions
    assert "out of memory" in verified.warnings[0]


def test_a_page_without_text_is_not_asked_about() -> None:
    target = Teller("The Art of War", [])
    page = Page(1, 100, 100, [Region("figure", Box(0, 0, 50, 50))])
    assert verify_page(target, PICTURE, page) is page
    assert target.rows == []


def test_a_page_with_a_running_header_alone_is_not_asked_about() -> None:
    target = Teller("The Art of War", [])
    box = Box(0, 0, 50, 10)
    page = Page(1, 100, 100, [Region("header", box, "War", lines=[Line("War", box)])])
    assert verify_page(target, PICTURE, page) is page
    assert target.rows == []


def test_lines_that_the_target_leaves_out_are_counted() -> None:
    draft = drafted(FIRST, SECOND, "third").regions
    furniture = replace(drafted("7").regions[0], kind="page_number", box=Box(0, 90, 9, 99))
    furniture.lines = [Line("7", Box(0, 90, 9, 99))]
    assert left_out([*draft, furniture], draft[:2]) == 1


def test_the_choice_of_stages_tries_both_ways_then_keeps_the_cheaper() -> None:
    choice = StageChoice()
    assert choice.choose(1) == "page"
    spent = {"page": 2.0, "both": 1.0}
    chosen = []
    for _ in range(20):
        stages = choice.choose(5)
        chosen.append(stages)
        choice.learn(stages, Reading([1] * 10, "stop", seconds={"page": spent[stages]}))
    assert chosen[:2] == ["page", "both"]
    assert chosen.count("page") == 2, "once to begin with, and once in sixteen pages"
