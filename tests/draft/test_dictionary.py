from hsd_docparse.draft.dictionary import dictionary_for


def test_the_language_is_that_of_the_common_words():
    german = dictionary_for(["der", "Hund", "und", "die", "Katze", "sind", "nicht", "hier"])
    assert german is not None
    assert german.frequency("nicht") > german.frequency("Katze") > 0


def test_a_text_without_common_words_is_english_where_english_knows_it():
    english = dictionary_for(["total", "change", "cash", "thank", "welcome"])
    assert english is not None
    assert english.frequency("COMPANY") > english.frequency("hardware") > 0


def test_an_unknown_language_and_a_few_words_have_no_dictionary():
    assert dictionary_for(["zlotwe", "grapsi", "vuurenz", "kolderz", "mipsek"]) is None
    assert dictionary_for(["the", "price"]) is None
