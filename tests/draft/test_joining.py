from __future__ import annotations

import pytest

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.joining import in_rows, join_texts


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["a quick", "brown fox"], "a quick brown fox"),
        (["an exam-", "ple of it"], "an example of it"),
        (["state-of-the-", "art models"], "state-of-the-art models"),
        (["the North-", "South axis"], "the North-South axis"),
        (["a range -", "and more"], "a range - and more"),
        (["an $n$-", "dimensional"], "an $n$-dimensional"),
        (["the non-", "$p$ part"], "the non-$p$ part"),
        (["文档解析", "流水线"], "文档解析流水线"),
        (["用 Python", "编写"], "用 Python编写"),
        (["한국어", "문서"], "한국어 문서"),
        (["  padded ", "", " text"], "padded text"),
        ([], ""),
    ],
)
def test_join_texts(texts: list[str], joined: str) -> None:
    assert join_texts(texts) == joined


def test_in_rows_reads_pieces_of_a_row_from_left_to_right() -> None:
    lines = [
        Line("right", Box(50, 11, 90, 21)),
        Line("below", Box(0, 24, 90, 34)),
        Line("left", Box(0, 10, 40, 20)),
    ]
    assert [line.text for line in in_rows(lines)] == ["left", "right", "below"]


def test_pieces_of_a_row_in_arabic_are_read_from_right_to_left() -> None:
    lines = [Line("الثاني", Box(0, 10, 40, 20)), Line("الأول", Box(50, 10, 90, 20))]
    assert [line.text for line in in_rows(lines)] == ["الأول", "الثاني"]
