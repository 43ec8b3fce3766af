"""Stops, and what the loop guard lets pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from hsd_docparse.speculative import Loop, MaxLength, Stop, StopStrings, StopTokens


def stopped_at(stop: Stop[str], text: Iterable[str]) -> int | None:
    """The length at which a growing output ends."""
    output: list[str] = []
    for atom in text:
        output.append(atom)
        if stop.ends(output, len(output)):
            return len(output)
    return None


def test_stop_tokens_and_length() -> None:
    assert StopTokens([5, 6]).ends([1, 6], 2)
    assert StopTokens([5, 6]).ends([1, 6, 1], 2), "only output[:length] counts"
    assert not StopTokens([5, 6]).ends([6, 1], 2)
    assert not MaxLength(3).ends([1, 1], 2)
    assert MaxLength(3).ends([1, 1, 1], 3)


@pytest.mark.parametrize("unit", ["a", "ab", "abc", "The same sentence. ", "x" * 40 + "y" * 24])
def test_a_loop_is_stopped_wherever_it_starts(unit: str) -> None:
    for start in ("", "Some text that is honest before it. "):
        end = stopped_at(Loop(), start + unit * 300)
        assert end is not None
        assert end - len(start) <= 128 + 8 * len(unit)


def test_a_unit_that_is_too_long_is_not_looked_for() -> None:
    unit = [str(i) for i in range(65)]
    assert stopped_at(Loop(), unit * 30) is None
    assert stopped_at(Loop(longest=65), unit * 30) is not None


ROW = "|0|0|0|0|0|0|\n"
HONEST: dict[str, Sequence[str]] = {
    "leader": "Introduction " + "." * 100 + " 7\n",
    "contents": "".join(f"Chapter {i} " + "." * 60 + f" {i * 7}\n" for i in range(30)),
    "zeros": "| | a | b |\n|-|-|-|\n" + "".join(f"| {i} |" + " 0 |" * 9 + "\n" for i in range(40)),
    "same rows": ROW * 12 + "|1|0|0|0|0|0|\n" + ROW * 12,
    "form": ["<tr>", *["<td>", "</td>"] * 3, "</tr>"] * 15 + ["</table>"],
    "rule": "-" * 80 + "\n" + "Text.\n" + "-" * 80,
    "refrain": "".join("Lalala, " * 6 + f"verse {i}.\n" for i in range(20)),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_text_is_not_a_loop(name: str) -> None:
    assert stopped_at(Loop(), HONEST[name]) is None


def test_only_the_end_counts() -> None:
    looped = list("ab" * 200)
    assert Loop().ends(looped, len(looped))
    assert Loop().ends([*looped, "c"], len(looped))
    assert not Loop().ends([*looped, "c"], len(looped) + 1)


def spelled(text: str) -> list[int]:
    return list(text.encode())


def text_of(ids: list[int]) -> str:
    return bytes(ids).decode(errors="replace")


@pytest.mark.parametrize("string", ["end", "。", "né", "end of it all"])
def test_stop_strings_of_several_tokens_end_with_the_one_that_completes_them(string: str) -> None:
    text = "Ein Satz, né avec des accents — fin。The end of it all, and more"
    stop = StopStrings([string], text_of)
    output = spelled(text)
    ends = [n for n in range(1, len(output) + 1) if stop.ends(output, n)]
    at = text.index(string)
    assert ends[0] == len(spelled(text[: at + len(string)]))
    assert stop.trimmed(output) == text[:at]


def test_one_stop_may_be_given_alone() -> None:
    assert StopTokens(7).ends([1, 7], 2)
    assert not StopTokens(7).ends([7, 1], 2)
    assert not StopStrings("END", text_of).ends(spelled("the E"), 5)
    assert StopStrings("END", text_of).ends(spelled("the END"), 7)


def test_stops_that_make_no_sense_are_refused() -> None:
    for wrong in ([], "", [""]):
        with pytest.raises(ValueError, match="at least one character"):
            StopStrings(wrong, text_of)
    with pytest.raises(ValueError, match="at least one atom"):
        MaxLength(0)
