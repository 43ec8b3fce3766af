import numpy as np

from hsd_docparse.draft.recognizer import GLYPH, Reading
from hsd_docparse.targets.mini.vision import anchored, pointed_at
from hsd_docparse.targets.weighed import TEXT_LAYER


def read(text: str) -> Reading:
    """Glyph i of a reading holds i in every place."""
    glyphs = np.arange(len(text), dtype=np.float32)[:, None].repeat(GLYPH, axis=1)
    return Reading(text, [0.5] * len(text), glyphs)


def test_the_characters_of_the_draft_have_the_glyphs_of_those_that_the_eye_saw():
    reading = anchored(read("l xbc"), "1 abbc", [0.9] * 6)
    assert (reading.text, reading.probabilities) == ("1 abbc", [0.9] * 6)
    # "x" was written "ab": one of the two has the glyph, the other that beside it.
    assert reading.glyphs[:, 0].tolist() == [0, 1, 2, 2, 3, 4]


def test_what_the_file_states_is_as_sure_as_a_text_layer():
    assert anchored(read("O"), "∅", []).probabilities == [TEXT_LAYER]


def test_a_line_in_which_the_eye_saw_nothing_has_its_characters_all_the_same():
    reading = anchored(read(""), "ab", [])
    assert reading.text == "ab"
    assert not reading.glyphs.any()
    assert reading.glyphs.shape == (2, GLYPH)


def test_gazes_know_the_lines_of_their_row_that_were_pointed_at():
    seen = pointed_at([[frozenset(), frozenset({1})], [frozenset({0, 9})]], most=2)
    # Line 9 is past the last one.
    assert seen.tolist() == [[[0, 0], [0, 1]], [[1, 0], [0, 0]]]
