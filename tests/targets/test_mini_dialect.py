"""The dialect of docparse-mini, and pages written and read in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import tiny_mini

from hsd_docparse.document import Box, Line, Page, Region
from hsd_docparse.draft.recognizer import GLYPH, Reading
from hsd_docparse.draft.tables import Cell, to_html
from hsd_docparse.targets.mini.certainty import certainty, weigh
from hsd_docparse.targets.mini.coverage import is_written_in
from hsd_docparse.targets.mini.dialect import (
    CODE,
    EOS,
    H1,
    JOIN,
    LI,
    SPECIAL,
    TABLE,
    TD,
    TR,
    DialectLine,
    Gaze,
    Hint,
    P,
)
from hsd_docparse.targets.mini.pages import PageLines, grid, read_page, seam, write_region
from hsd_docparse.targets.mini.places import Places
from hsd_docparse.targets.mini.vision import anchored, geometry, visual_order
from hsd_docparse.targets.weighed import TEXT_LAYER


def test_marks_have_the_ids_that_their_names_say() -> None:
    tokenizer = tiny_mini.dialect().tokenizer
    assert [tokenizer.token_to_id(mark) for mark in SPECIAL] == list(range(len(SPECIAL)))
    assert (EOS, H1, TD) == (0, 5, 14)


def test_writing_and_reading_are_inverse() -> None:
    dialect = tiny_mini.dialect()
    lines = [
        DialectLine(3, H1, dialect.encode("Über uns")),
        DialectLine(0, P, dialect.encode("exam")),
        DialectLine(1, 0, dialect.encode("ple 例"), glued=True),
        DialectLine(2, TABLE, dialect.encode("a")),
        DialectLine(5, TD, dialect.encode("1")),
    ]
    assert dialect.read([*dialect.write(lines), EOS, 99]) == lines


def test_a_gaze_counts_characters_and_starts_anew_at_a_pointer() -> None:
    dialect = tiny_mini.dialect()
    gaze = Gaze()
    for token in [dialect.vocabulary + 2, P, *dialect.encode("né例"), JOIN]:
        gaze = dialect.advance(gaze, token)
    assert gaze == Gaze(2, 3, seen=frozenset({2}))
    gaze = dialect.advance(gaze, dialect.vocabulary + 5)
    assert gaze == Gaze(5, 0, seen=frozenset({2, 5}))


def test_a_gaze_knows_how_much_of_a_character_is_written() -> None:
    """The tiny dialect writes byte by byte; a stray byte counts as a character of its own."""
    dialect = tiny_mini.dialect()
    gaze = Gaze(0)
    states = []
    for token in dialect.encode("é例x"):
        gaze = dialect.advance(gaze, token)
        states.append((gaze.character, gaze.inner, gaze.left))
    assert states == [(0, 1, 1), (1, 0, 0), (1, 1, 2), (1, 2, 1), (2, 0, 0), (3, 0, 0)]
    stray = dialect.advance(Gaze(0, 4), dialect.of_byte[0x8B])
    assert (stray.character, stray.inner) == (5, 0)
    broken = dialect.advance(dialect.advance(Gaze(0), dialect.of_byte[0xE4]), dialect.of_byte[0x41])
    assert (broken.character, broken.inner, broken.left) == (1, 0, 0)


def test_every_character_has_a_token_that_starts_with_it() -> None:
    dialect = tiny_mini.dialect()
    text = "ab é例"
    pieces = [dialect.bytes[token] for token in dialect.starting([text, ""])[0]]
    assert pieces == [character.encode()[:1] for character in text]


def test_hints_say_the_draft_s_marks_and_order_with_furniture_last() -> None:
    lines = page_lines(drafted())
    assert lines.hints.tolist() == [
        [Hint.FURNITURE, 6], [H1, 0], [P, 1], [Hint.GOES_ON, 2], [TABLE, 3], [TD, 4], [TR, 5]
    ]  # fmt: skip
    sight = lines.sight(lines.of_region[2])
    assert sight.hints.tolist() == [[P, 0], [Hint.GOES_ON, 1]]
    assert len(sight.readings) == len(sight.geometry) == 2


def test_visual_order_knows_rows_and_no_columns() -> None:
    boxes = [Box(100, 11, 190, 21), Box(0, 30, 90, 40), Box(0, 10, 90, 20), Box(100, 30, 190, 40)]
    assert visual_order(boxes) == [2, 0, 1, 3]


def test_geometry_does_not_depend_on_the_unit() -> None:
    boxes = [Box(10, 10, 90, 20), Box(10, 25, 50, 45)]
    scaled = [box.scaled(3) for box in boxes]
    one = geometry(boxes, Box(0, 0, 100, 200))
    assert np.allclose(one, geometry(scaled, Box(0, 0, 300, 600)))
    assert np.allclose(one[0, :4], [0.1, 0.05, 0.9, 0.1])


def test_only_known_scripts_are_covered() -> None:
    assert is_written_in("L’année 1984, où α vaut 3", ["LATIN"])
    assert is_written_in("12.50 %", ["LATIN"])
    assert not is_written_in("Текст на русском", ["LATIN"])
    assert not is_written_in("表格識別 OCR", ["LATIN"])
    assert is_written_in("表格", [])


def test_seams() -> None:
    assert seam("an exam-", "ple of") == ("an exam", True)
    assert seam("state-of-the-", "Art") == ("state-of-the-", True)
    assert seam("one", "two") == ("one", False)
    assert seam("文字", "認識") == ("文字", True)
    assert seam("last", "") == ("last", False)


def page_lines(regions: list[Region]) -> PageLines:
    page = Page(1, 200, 300, regions)
    found = [(line, i) for i, region in enumerate(regions) for line in region.lines]
    blank = Reading("", [], np.zeros((0, GLYPH), np.float32))
    of_region: list[list[int]] = [[] for _ in regions]
    for place, (_, region) in enumerate(found):
        of_region[region].append(place)
    lines = [line for line, _ in found]
    seen = PageLines(
        page, lines, [line.box for line in lines],
        [anchored(blank, line.text, line.probabilities) for line in lines],
        [region for _, region in found], of_region,
    )  # fmt: skip
    seen.drafts = [write_region(seen, i, tiny_mini.dialect()) for i in range(len(regions))]
    return seen


def row(y: float, *texts: str) -> list[Line]:
    return [Line(text, Box(60.0 * i, y, 60.0 * i + 50, y + 10)) for i, text in enumerate(texts)]


def drafted() -> list[Region]:
    table = "<table><tr><td>Item</td><td>Price</td></tr><tr><td></td><td>2 €</td></tr></table>"
    return [
        Region("page_number", Box(0, 0, 9, 9), "7", lines=row(0, "7")),
        Region("title", Box(0, 20, 50, 30), "Prices", 1, row(20, "Prices")),
        Region(
            "text",
            Box(0, 40, 50, 60),
            "They are exempt.",
            0,
            row(40, "They are ex-") + row(50, "empt."),
        ),
        Region("figure", Box(0, 70, 50, 90)),
        Region(
            "table", Box(0, 100, 120, 130), table, 0, row(100, "Item", "Price") + row(120, "2 €")
        ),
    ]


def test_a_draft_comes_back_accepted_with_its_figures_and_furniture() -> None:
    dialect = tiny_mini.dialect()
    lines = page_lines(drafted())
    written = [line for i in lines.readable for line in lines.drafts[i]]
    regions = read_page(lines, dialect.read(dialect.write(written)), dialect)
    assert [(r.kind, r.text) for r in regions] == [(r.kind, r.text) for r in drafted()]
    assert [r.provenance for r in regions] == ["draft", "accepted", "accepted", "draft", "accepted"]
    assert regions[4].box == Box(0, 100, 120, 130)


def test_another_order_another_word_and_a_dropped_line_are_corrections() -> None:
    dialect = tiny_mini.dialect()
    lines = page_lines(drafted()[1:3])
    output = [
        DialectLine(1, P, dialect.encode("They art ex")),
        DialectLine(2, 0, dialect.encode("empt."), glued=True),
    ]
    (region,) = read_page(lines, output, dialect)
    assert (region.kind, region.text, region.provenance) == (
        "text",
        "They art exempt.",
        "corrected",
    )
    assert [line.text for line in region.lines] == ["They art ex", "empt."]


def test_a_table_with_another_word_keeps_the_draft_s_cells() -> None:
    dialect = tiny_mini.dialect()
    lines = page_lines(drafted())
    block = [replace(line) for line in lines.drafts[4]]
    block[2].tokens = dialect.encode("3 < 4")
    (region,) = [r for r in read_page(lines, block, dialect) if r.kind == "table"]
    assert region.text == drafted()[4].text.replace("2 €", "3 &lt; 4")
    assert region.provenance == "corrected"


def test_cells_find_their_columns_by_their_place() -> None:
    def cell(row: int, x0: float, x1: float, text: str) -> Cell:
        return Cell(row, 0, Box(x0, 20 * row, x1, 20 * row + 10), text=text)

    cells = grid(
        [
            cell(0, 70, 160, "Results"),
            cell(1, 0, 50, "Name"), cell(1, 70, 90, "min"), cell(1, 130, 160, "max"),
            cell(2, 0, 20, "a"), cell(2, 140, 160, "7"),
        ]
    )  # fmt: skip
    assert to_html(cells) == (
        '<table><tr><td></td><td colspan="2">Results</td></tr>'
        "<tr><td>Name</td><td>min</td><td>max</td></tr>"
        "<tr><td>a</td><td></td><td>7</td></tr></table>"
    )


def test_drafts_are_spelled_as_the_eye_reads_and_come_back_as_they_were() -> None:
    region = Region(
        "text", Box(0, 0, 90, 10), "a\u2011b 5\u202f%", lines=row(0, "a\u2011b 5\u202f%")
    )
    lines = page_lines([region])
    assert tiny_mini.dialect().decode(lines.drafts[0][0].tokens) == "a-b 5 %"
    (read,) = read_page(lines, lines.drafts[0], tiny_mini.dialect())
    assert (read.text, read.provenance) == ("a\u2011b 5\u202f%", "accepted")


def test_the_pipeline_is_sure_of_text_and_leaves_structure_to_the_model() -> None:
    dialect = tiny_mini.dialect()
    blank = Reading("", [], np.zeros((0, GLYPH), np.float32))
    readings = [anchored(blank, "ab", [0.8, 0.6])] * 2
    following = DialectLine(1, 0, dialect.encode("ab"), glued=True)
    written = [DialectLine(0, P, dialect.encode("ab")), following]
    tokens = [*dialect.write(written), EOS]
    sure = certainty(tokens, readings, dialect)
    # Pointer, mark, "a", "b", the sign that both lines are one word, pointer, where a mark might
    # stand, "b", end.
    assert sure == [0.0, 0.0, 0.8, 0.6, 0.0, 0.0, 0.0, 0.6, 0.0]


def test_a_block_of_another_kind_with_the_same_words_keeps_the_formulas_of_its_draft() -> None:
    line = replace(*row(0, "Let x0 be"), latex="Let $x_{0}$ be")
    region = Region("text", Box(0, 0, 90, 10), "Let $x_{0}$ be", lines=[line])
    lines = page_lines([region])
    (written,) = lines.drafts[0]
    (read,) = read_page(lines, [replace(written, mark=H1)], tiny_mini.dialect())
    assert (read.kind, read.text, read.provenance) == ("title", "Let $x_{0}$ be", "corrected")
    other = replace(written, tokens=tiny_mini.dialect().encode("Let xO be"))
    assert read_page(lines, [other], tiny_mini.dialect())[0].text == "Let xO be"


def test_blocks_in_other_pieces_keep_the_formulas_of_the_lines_that_say_the_same() -> None:
    texts = ["Let x0 be a num-", "ber above y1", "and z2 too."]
    latex = ["Let $x_{0}$ be a num-", "ber above $y_{1}$", "and $z_{2}$ too."]
    lines = [
        replace(row(20 * i, text)[0], latex=known)
        for i, (text, known) in enumerate(zip(texts, latex, strict=True))
    ]
    drafted = [
        Region("text", Box(0, 0, 90, 30), "", lines=lines[:2]),
        Region("text", Box(0, 40, 90, 50), "", lines=lines[2:]),
    ]
    page = page_lines(drafted)
    first, second, third = (line for written in page.drafts for line in written)
    assert second.glued
    (whole,) = read_page(page, [first, second, replace(third, mark=0)], tiny_mini.dialect())
    assert whole.text == "Let $x_{0}$ be a number above $y_{1}$ and $z_{2}$ too."
    other = replace(third, mark=0, tokens=tiny_mini.dialect().encode("and 22 too."))
    (whole,) = read_page(page, [first, second, other], tiny_mini.dialect())
    assert whole.text == "Let $x_{0}$ be a number above $y_{1}$ and 22 too."
    assert [line.latex for line in whole.lines] == [*latex[:2], None]


def test_lines_behind_a_formula_that_is_not_seen_open_a_block() -> None:
    formula = Region("formula", Box(0, 20, 90, 30), "x=1")
    before, after = (Region("text", Box(0, y, 90, y + 10), lines=row(y, "and")) for y in (0, 40))
    assert page_lines([before, formula, after]).behind_formulas == {1}
    assert page_lines([before, after]).behind_formulas == frozenset()
    seen = replace(formula, lines=row(20, "x = 1"))
    assert page_lines([before, seen, after]).behind_formulas == frozenset()


def test_a_pointer_a_mark_and_a_word_of_the_same_length_say_where_the_draft_goes_on() -> None:
    dialect = tiny_mini.dialect()
    v = dialect.vocabulary
    draft = [v, H1, *dialect.encode("Ab"), v + 2, P, *dialect.encode("cde"), v + 1, 15 + 5, EOS]
    places = Places(draft, dialect)
    assert places(0, [v + 2]) == draft.index(v + 2) + 1  # another line first
    assert places(1, [v, P]) == 2  # another mark
    assert places(1, [v, *dialect.encode("A")]) == 3  # none
    assert places(6, [v + 2, LI]) == 6 + (draft[6] < len(SPECIAL))
    assert places(2, [v, H1, *dialect.encode("X")]) == 3  # another letter
    assert places(4, [v, H1, *dialect.encode("Abc")]) == 4  # the line goes on
    assert places(None, dialect.encode("x")) is None
    # A line that in the draft goes on with line 2 and in the output opens a block.
    assert places(0, [v + 1]) == len(draft) - 2
    assert places(len(draft) - 2, [v + 1, P]) == len(draft) - 2
    assert places(0, [v + 9]) is None


def test_whatever_the_grammar_allows_becomes_regions() -> None:
    lines = page_lines(drafted())
    text = tiny_mini.dialect().encode("x")
    rng = np.random.default_rng(0)
    for _ in range(200):
        order = rng.permutation(len(lines.lines))[: int(rng.integers(1, 8))]
        marks = rng.choice([0, P, H1, LI, CODE, TABLE, TR, TD], len(order))
        output = [
            DialectLine(
                int(line), int(mark), text if rng.random() < 0.8 else [], rng.random() < 0.2
            )
            for line, mark in zip(order, marks, strict=True)
        ]
        regions = read_page(lines, output, tiny_mini.dialect())
        held = [line.box for region in regions for line in region.lines]
        assert {lines.boxes[line.line] for line in output} <= set(held)


def test_a_weighed_draft_knows_its_characters_its_tables_and_its_text_layer() -> None:
    dialect = tiny_mini.dialect()
    regions = drafted()[1:]
    title = regions[0].lines[0]
    title.source, title.probabilities = "ocr", [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    lines = page_lines(regions)
    tokens = [t for i in lines.readable for t in dialect.write(lines.drafts[i])]
    draft = weigh(tokens, lines, dialect)
    assert draft.tokens == tokens
    # A pointer, a mark, and the test dialect's token a byte.
    assert draft.probabilities[:9] == [0, 0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0]
    assert draft.probabilities[10] == TEXT_LAYER
    table = draft.exact.index(True)
    assert tokens[table : table + 2] == [dialect.vocabulary + 3, TABLE]
    assert all(draft.exact[table:])
    euro = len(tokens) - len("€".encode())
    assert draft.probabilities[euro:] == [TEXT_LAYER] * 3
