"""What pdftotext finds in a searchable PDF, beside what the result says."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from hsd_docparse.convert import Settings
from hsd_docparse.document import Document
from hsd_docparse.export import Outputs, exporting, output_path
from hsd_docparse.render import render

SAMPLES = Path(__file__).parents[3] / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".pdf", ".tif", ".jpg"))
LEAST = 0.99

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[☐☑☒]|[{_UNSPACED}]|[^\W{_UNSPACED}]+")

pytestmark = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="there is no pdftotext on this machine"
)


def words(text: str) -> Counter[str]:
    """Runs of letters and digits, as a search finds them; characters of scripts without spaces,
    and marks of check boxes, are a word each."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text)))


def plain(document: Document) -> str:
    """What ``document`` says to a reader: a formula its characters, and not their LaTeX."""
    for page in document.pages:
        for region in page.regions:
            if region.kind == "formula" and region.lines:
                region.text = "\n".join(line.text for line in region.lines)
    return render(document, "txt")


def recall(expected: Counter[str], found: Counter[str]) -> float:
    return 1 - (expected - found).total() / expected.total()


def test_a_word_that_is_missing_is_seen() -> None:
    expected = words("the lamp and the 塔 ☐ ﬁn")
    assert expected == Counter(["the", "the", "lamp", "and", "塔", "☐", "fin"])
    assert recall(expected, words("the lamp and 塔 ☐ fin")) == pytest.approx(6 / 7)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_the_words_of_the_result_are_found(file: Path, tmp_path: Path) -> None:
    base = tmp_path / file.stem
    with exporting(file, base, Settings(mode="draft"), Outputs(("pdf",))) as (conversion, reads):
        document = conversion.document
        document.pages = [read.page for read in reads]
    command = ["pdftotext", output_path(base, "pdf"), "-"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = words(plain(document))
    assert recall(expected, words(found)) >= LEAST, expected - words(found)
