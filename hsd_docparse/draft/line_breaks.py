"""Line breaks that an author made, as in addresses, verse and labels with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hsd_docparse.document import Line
from hsd_docparse.draft.joining import BROKEN, is_right_to_left, is_unspaced, join_texts
from hsd_docparse.draft.paragraphs import beside, bounds, font_size

_SPARE = 1.5
"""Font sizes of room beside the next word: text set ragged breaks a little sooner than it must."""
_ALIGNED = 0.3
"""Font sizes within which two rows end at one edge, as prose does beside a picture..."""
_NARROW = 8.0
"""... unless they are shorter than this many font sizes, in which no prose is set."""
_MOST = 0.5
"""Share of a paragraph's breaks; with so many made on purpose, all of them were."""

Row = list[Line]


def join_paragraph(lines: Sequence[Line], texts: Sequence[str] | None = None) -> str:
    """Text of ``lines`` as one paragraph, in which breaks that were made on purpose are kept.
    ``texts`` say the lines otherwise than they do themselves."""
    texts = [line.text for line in lines] if texts is None else texts
    parts: list[list[str]] = [[]]
    for text, broken in zip(texts, kept_breaks(lines), strict=True):
        parts[-1].append(text)
        if broken:
            parts.append([])
    return "\n".join(filter(None, map(join_texts, parts)))


def kept_breaks(lines: Sequence[Line]) -> list[bool]:
    """For each of a paragraph's ``lines``, in reading order, whether the break after it was made
    on purpose: the next row's first word would have fitted before it. Wrapped text breaks only
    where it must."""
    kept: set[int] = set()
    to_left = is_right_to_left("".join(line.text for line in lines))
    for rows in _columns(lines):
        ends = [bounds(row).x0 if to_left else -bounds(row).x1 for row in rows]
        whole = [i for i, row in enumerate(rows[:-1]) if _is_whole(row[-1])]
        early = [i for i in whole if _is_early(i, rows, ends)]
        if early and len(early) >= _MOST * (len(rows) - 1):
            early = whole
        kept |= {id(rows[i][-1]) for i in early}
    return [id(line) in kept for line in lines]


def _columns(lines: Sequence[Line]) -> Iterator[list[Row]]:
    """Rows of one column each: a paragraph may go on at the top of the next."""
    rows: list[Row] = []
    for line in lines:
        if rows and beside(rows[-1][-1], line):
            rows[-1].append(line)
        elif rows and line.box.y0 < rows[-1][-1].box.y0:
            yield rows
            rows = [[line]]
        else:
            rows.append([line])
    yield rows


def _is_early(i: int, rows: Sequence[Row], ends: Sequence[float]) -> bool:
    """Whether the first word below row ``i`` would have fitted on it."""
    last, first = rows[i][-1], rows[i + 1][0]
    size = max(font_size(last), font_size(first))
    beside_picture = bounds(rows[i]).width > _NARROW * size and any(
        abs(ends[i] - end) < _ALIGNED * size for end in [*ends[max(0, i - 1) : i], ends[i + 1]]
    )
    if beside_picture:
        return False
    return ends[i] - min(ends) > first_word_width(first) + _SPARE * size


def _is_whole(line: Line) -> bool:
    """Whether ``line`` runs across the page and ends with a whole word."""
    return line.box.width > line.box.height and not BROKEN.search(line.text)


def first_word_width(line: Line) -> float:
    """Width of the first word of ``line``, in page units."""
    text = line.text.strip()
    word = 1 if text and is_unspaced(text[0]) else len(text.split(maxsplit=1)[0]) if text else 0
    return line.box.width * word / max(1, len(text))
