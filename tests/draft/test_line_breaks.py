"""Breaks that an author made stay; those of wrapped text go."""

from __future__ import annotations

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.line_breaks import join_paragraph

WIDTH = 5.0
"""Page units a character, in a font of size 10."""


def rows(*texts: str, x0: float = 50.0, right: float | None = None) -> list[Line]:
    lines = []
    for i, text in enumerate(texts):
        width = WIDTH * len(text)
        left = x0 if right is None else right - width
        lines.append(Line(text, Box(left, 14.0 * i, left + width, 14.0 * i + 11), size=10.0))
    return lines


def broken(*texts: str) -> str:
    return "\n".join(texts)


def test_breaks_go_by_what_the_page_shows_and_not_by_what_is_written() -> None:
    lines = rows(
        "Where any word of x fits", "x is long, and so it goes on", "to the end of the row"
    )
    texts = [line.text.replace("x", r"$\mathcal{X}_{\text{all}}$") for line in lines]
    assert join_paragraph(lines, texts) == join_paragraph(lines).replace(
        "x", r"$\mathcal{X}_{\text{all}}$"
    )


def test_labels_and_values_keep_their_lines() -> None:
    texts = "Reign: 1 October 959 to 8 July 975", "Born: 943", "Died: 975", "House: Wessex"
    assert join_paragraph(rows(*texts)) == broken(*texts)


def test_an_address_keeps_its_lines_also_where_a_long_word_follows() -> None:
    texts = (
        "Underhill & Sons",
        "4 The Quay",
        "Stratford-upon-Avon CV37 6BB",
        "Great Britain and Northern Ireland",
    )
    assert join_paragraph(rows(*texts)) == broken(*texts)


def test_wrapped_text_is_one_line() -> None:
    texts = (
        "The pier was closed in the winter of that year,",
        "and nobody walked on it until the",  # a long word follows
        "recommendations of the inspectors had been fol-",
        "lowed in full.",
    )
    assert join_paragraph(rows(*texts)) == (
        "The pier was closed in the winter of that year, and nobody walked on it until the "
        "recommendations of the inspectors had been followed in full."
    )


def test_a_short_row_within_wrapped_text_ends_a_line() -> None:
    texts = (
        "The pier was closed in the winter of that year,",
        "and nobody walked on it until it was safe again.",
        "Then it rained.",
        "In spring the iron was found to be rusty, and it",
        "took until June to replace all that had to go.",
    )
    assert join_paragraph(rows(*texts)).count("\n") == 1


def test_text_beside_a_picture_is_one_line() -> None:
    texts = (
        "The pier was closed for",  # beside a picture up to here
        "the winter of that year",
        "and nobody walked on it until it was safe again, which",
        "took until June of the year after it, or even longer.",
    )
    assert "\n" not in join_paragraph(rows(*texts))


def test_right_to_left_text_ends_at_the_left() -> None:
    texts = "شارع الملك فيصل رقم اثنا عشر", "القاهرة", "مصر"
    assert join_paragraph(rows(*texts, right=400.0)) == broken(*texts)


def test_a_paragraph_in_two_columns_does_not_break_between_them() -> None:
    left = rows("The pier was closed in the winter", "of that year, and")
    right = rows("nobody walked on it until it was", "safe again.", x0=300.0)
    assert "\n" not in join_paragraph([*left, *right])


def test_pieces_of_one_row_stay_on_it() -> None:
    label, value = Line("Total:", Box(50, 0, 80, 11)), Line("12.50", Box(200, 0, 225, 11))
    below = Line("Due: at once, please, and in cash", Box(50, 14, 215, 25))
    assert join_paragraph([label, value, below]).startswith("Total: 12.50")
