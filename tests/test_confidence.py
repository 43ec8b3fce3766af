"""Confidence is the share of words that are right; ``python -m benchmarks.confidence`` measures it
on many pages."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from PIL import Image, ImageFilter

from benchmarks.confidence import calibration_error, fitted, judge, reliability
from benchmarks.known_pages import known_pages, passages, picture, typeset
from hsd_docparse import parse
from hsd_docparse.confidence import CERTAINTY, RIGHT, Word, of_lines, of_regions, words_of
from hsd_docparse.document import Box, Line, Region

BOX = Box(0, 0, 100, 10)


def test_a_surer_word_never_has_less_chance() -> None:
    assert all(a < b for a, b in pairwise(CERTAINTY))
    chances = [Word("word", c).chance for c in np.linspace(0, 1, 500)]
    assert all(0 <= a <= b <= 1 for a, b in pairwise(chances))
    assert len(RIGHT) == len(CERTAINTY)


def test_a_word_is_as_sure_as_its_least_sure_character() -> None:
    line = Line("ab 好c", BOX, [0.5, 1.0, 0.1, 0.9, 0.7], "ocr")
    assert words_of(line) == [("ab", 0.5), ("好", 0.9), ("c", 0.7)]


def test_characters_without_a_meaning_are_wrong() -> None:
    sound = of_lines([Line("all is well here", BOX)])
    assert of_lines([Line("all is w\ufffdll here", BOX)]) == pytest.approx(0.75 * sound)
    assert of_lines([Line("\uf0b7 all is well", BOX)]) == sound  # a bullet


def test_a_page_counts_words_and_not_regions() -> None:
    long, short = Line("one two three", BOX), Line("four", BOX)
    regions = [
        Region("text", BOX, lines=[long], confidence=1.0),
        Region("text", BOX, lines=[short], confidence=0.6),
        Region("figure", BOX, confidence=0.0),
    ]
    assert of_regions(regions) == pytest.approx(0.9)
    assert of_regions([]) == 1.0


def test_a_blurred_copy_is_less_sure(tmp_path: Path) -> None:
    pdf, _ = typeset(random.Random(0), passages(held=True))
    sharp = Image.fromarray(picture(pdf))
    said = []
    for radius in (0, 2, 3):
        sharp.filter(ImageFilter.GaussianBlur(radius)).save(tmp_path / "page.png")
        (page,) = parse(tmp_path / "page.png", mode="draft", deadline=None).pages
        said.append(page.confidence)
    assert said[0] > said[1] > said[2]


def test_regions_are_right_as_often_as_they_say(tmp_path: Path) -> None:
    pages = []
    for known in known_pages(1, held=True, kinds=["clean", "coarse", "faxed", "text layer"]):
        path = tmp_path / f"page{known.suffix}"
        path.write_bytes(known.data)
        (page,) = parse(path, mode="draft", deadline=None).pages
        pages.append(judge(page, known.words))
        right = fmean(word.right for word in pages[-1])
        assert page.confidence == pytest.approx(right, abs=0.1), known.name
    assert calibration_error(reliability(pages, calibrated=True)) < 0.06


def test_the_fitted_map_rises_whatever_it_is_fitted_to() -> None:
    from benchmarks.confidence import Judged

    rng = random.Random(0)
    words = [Judged(0, "x", rng.random(), None, rng.random() < 0.5) for _ in range(200)]
    certainty, right = fitted(words)
    assert all(a < b for a, b in pairwise(certainty))
    assert all(a < b for a, b in pairwise(right))
