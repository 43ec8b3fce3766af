import numpy as np

from hsd_docparse.draft.doubts import settled
from hsd_docparse.draft.recognizer import GLYPH, Reading

ENGLISH = "She asked for the price of the hammer and was told that it is on the list"
GERMAN = "Der Mann und die Frau sagen nicht, das ist von den Kindern mit dem Hund"


def line(text, others=None, spaces=None, sure=0.6):
    doubtful = others or {}
    probabilities = [sure if i in doubtful else 0.99 for i in range(len(text))]
    glyphs = np.arange(len(text), dtype=np.float32)[:, None].repeat(GLYPH, axis=1)
    return Reading(text, probabilities, glyphs, doubtful, spaces or {})


def texts(*readings):
    return [reading.text for reading in settled(readings)]


def test_what_looks_like_a_word_becomes_it():
    doubted = line("Our compary pays", {9: {"n": 0.2}})
    assert texts(line(ENGLISH), doubted)[1] == "Our company pays"


def test_a_word_keeps_its_case():
    assert texts(line(ENGLISH), line("COMPaRY", {5: {"n": 0.2}}))[1] == "COMPaNY"


def test_a_long_s_read_as_f_is_an_s():
    doubted = line("das felbst find", {4: {"s": 0.1}, 11: {"s": 0.03}})
    assert texts(line(GERMAN), doubted)[1] == "das selbst sind"


def test_names_and_abbreviations_stay():
    name, unit = line("Mr Haruto", {5: {"v": 0.3}}), line("Amt", {1: {"n": 0.06}})
    assert texts(line(ENGLISH), name, unit)[1:] == ["Mr Haruto", "Amt"]


def test_words_stay_where_the_language_is_unknown():
    foreign = "zlotwe grapsi vuuren kolder mipsek"
    assert texts(line(foreign), line("compary", {5: {"n": 0.2}}))[1] == "compary"


def test_glued_words_are_parted_where_the_network_saw_something_of_a_space():
    seen = line("noticeoftermination", spaces={6: 0.2, 8: 0.04})
    unseen = line("noticeoftermination")
    assert texts(line(ENGLISH), seen, unseen)[1:] == ["notice of termination", unseen.text]


def test_parts_of_glued_words_keep_their_glyphs():
    parted = settled([line(ENGLISH), line("statesthat", spaces={6: 0.3})])[1]
    assert parted.text == "states that"
    assert parted.probabilities[6] == 0.3
    assert parted.glyphs[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9]


def test_a_space_that_was_nearly_read_parts_figures_from_what_follows():
    assert texts(line("53300KL", spaces={5: 0.38})) == ["53300 KL"]
    assert texts(line("29/12/201711:41", spaces={10: 0.41})) == ["29/12/2017 11:41"]
    assert texts(line("VE05", spaces={2: 0.1})) == ["VE05"]


def test_such_a_space_parts_no_letters():
    assert texts(line("V-February", spaces={5: 0.41})) == ["V-February"]


def test_a_faint_decimal_point_is_no_space():
    assert texts(line("6 00", {1: {"": 0.1, ".": 0.02}})) == ["6.00"]
    assert texts(line("0010 9010", {4: {"": 0.02}})) == ["0010 9010"]


def test_words_are_found_after_a_space_was_written():
    doubted = line("No7 compary", {9: {"n": 0.2}}, {2: 0.4})
    assert texts(line(ENGLISH), doubted)[1] == "No 7 company"


def test_parts_of_a_word_come_together_where_the_longer_is_none():
    assert texts(line(ENGLISH), line("is m ainly especi ally so"))[1] == "is mainly especially so"


def test_words_that_would_make_another_stay_apart():
    assert (
        texts(line(ENGLISH), line("a or b and c, in to U.P Iss"))[1]
        == "a or b and c, in to U.P Iss"
    )


def test_a_speck_over_a_letter_is_no_accent():
    speck = line("TRÚST 5", {2: {"U": 0.3}})
    assert texts(line("5 6 7"), speck)[1] == "TRUST 5"


def test_an_accent_that_the_page_shows_stays():
    assert texts(line("le café"), line("caf\u00e9", {3: {"e": 0.3}}))[1] == "café"


def test_a_voiced_kana_stays():
    assert texts(line("\u304c", {0: {"\u304b": 0.3}})) == ["\u304c"]


def test_a_letter_whose_other_case_has_two_characters_keeps_its_own():
    read = settled([line(ENGLISH), line("compa\u0130y", {5: {"n": 0.3}})])[1]
    assert len(read.text) == len(read.probabilities) == len(read.glyphs)


def test_a_slashed_zero_is_a_zero():
    zero = settled([line("θ", {0: {"0": 0.31}}, sure=0.46)])[0]
    assert zero.text == "0"
    assert zero.confidence > 0.7


def test_a_greek_letter_among_letters_stays():
    assert texts(line("sin θ", {4: {"0": 0.3}})) == ["sin θ"]
