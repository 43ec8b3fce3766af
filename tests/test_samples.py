"""The documents under samples/, read by the pipeline and by the weights that ship."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz import fuzz

from hsd_docparse import parse
from hsd_docparse.hsd import read
from hsd_docparse.render import render
from hsd_docparse.sources import DamagedPage, open_source
from hsd_docparse.speculative import AlignedText, Request, run
from hsd_docparse.targets.mini import open_mini
from hsd_docparse.targets.mini.target import MiniTarget

SAMPLES = Path(__file__).parent.parent / "samples"
NAMES = sorted(path.stem for path in (SAMPLES / "expected").glob("*.md"))
FILES = {path.stem: path for path in SAMPLES.iterdir() if path.stem in NAMES and path.is_file()}
LEAST = 40
"""Letters of a block that is looked for: shorter ones stand in more than one place."""


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"<[^>]*>", " ", text)).lower()


def out_of_order(expected: str, output: str) -> list[str]:
    """Blocks of ``expected`` that ``output`` has before the block that should precede them."""
    whole = letters(output)
    reached, late = 0, []
    for block in re.split(r"\n\s*\n", expected):
        wanted = letters(block)
        if len(wanted) < LEAST or block.startswith(("$$", "<table", "```")):
            continue
        found = fuzz.partial_ratio_alignment(wanted, whole, score_cutoff=80)
        if found is None:
            continue
        if found.dest_start < reached:
            late.append(block)
        reached = max(reached, found.dest_start)
    return late


def test_every_sample_has_its_truth_and_its_output() -> None:
    assert len(NAMES) >= 8
    assert sorted(FILES) == NAMES
    assert sorted(path.stem for path in (SAMPLES / "output").glob("*.md")) == NAMES


def test_the_measure_of_order_sees_two_blocks_change_places() -> None:
    one, two = (
        "The first block has more than forty letters in it.",
        "So does the other one, which should stand below it.",
    )
    assert out_of_order(f"{one}\n\n{two}", f"{one}\n\n{two}") == []
    assert out_of_order(f"{one}\n\n{two}", f"{two}\n\n{one}") == [two]


@pytest.mark.parametrize("name", ["letter", "paper", "languages", "slides"])
def test_the_draft_reads_in_order(name: str) -> None:
    output = render(parse(FILES[name], mode="draft"), "md")
    expected = (SAMPLES / "expected" / f"{name}.md").read_text("utf-8")
    assert out_of_order(expected, output) == []
    assert fuzz.ratio(letters(expected), letters(output)) > 80


@pytest.fixture(scope="module")
def mini() -> MiniTarget:
    return open_mini()


def test_lossless_is_the_plain_greedy_output_whatever_the_draft(mini: MiniTarget) -> None:
    from hsd_docparse.draft import draft_page

    with open_source(FILES["letter"]) as source:
        opened = next(source.pages())
        assert not isinstance(opened, DamagedPage)
        page, image = draft_page(opened), opened.render(150)
    plain = read(mini, image, page, "none")
    assert plain.finished == "stop"
    for stages in ("page", "both"):
        assert read(mini, image, page, stages).output == plain.output
    inputs = mini.page_inputs(image, page)
    rng = np.random.default_rng(0)
    text = plain.output
    drafts = {
        "empty": [],
        "shuffled": rng.permutation(text).tolist(),
        "truncated": text[: len(text) // 3],
        "wrong": rng.integers(16, mini.dialect.vocabulary, len(text)).tolist(),
        "another language": mini.dialect.encode("Der schnelle braune Fuchs springt. " * 20),
    }
    for draft in drafts.values():
        (state,) = mini.open([inputs])
        rules = mini.processors(inputs)
        request = Request(state, AlignedText([draft]), mini.stops(inputs), processors=rules)
        run(mini, [request])
        assert request.output == text


def test_lossless_says_how_it_was_obtained(mini: MiniTarget) -> None:
    document = parse(FILES["letter"], target=mini)
    (page,) = document.pages
    assert page.error is None
    assert page.speculation is not None
    assert page.speculation.lossless
    assert page.speculation.page_calls < page.speculation.tokens / 4
    assert {region.provenance for region in page.regions} >= {"accepted"}
    expected = (SAMPLES / "expected" / "letter.md").read_text("utf-8")
    assert out_of_order(expected, render(document, "md")) == []


@pytest.mark.parametrize("name", ["paper", "report", "slides", "invoice"])
def test_the_model_reads_every_page_in_order(name: str, mini: MiniTarget) -> None:
    document = parse(FILES[name], target=mini)
    warnings = [warning for page in document.pages for warning in page.warnings]
    assert not [warning for warning in warnings if "shows its draft" in warning]
    expected = (SAMPLES / "expected" / f"{name}.md").read_text("utf-8")
    output = render(document, "md")
    assert out_of_order(expected, output) == []
    assert fuzz.ratio(letters(expected), letters(output)) > 80
