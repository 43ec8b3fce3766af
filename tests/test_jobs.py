from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_parts import fakes

from hsd_docparse import isolation, worker
from hsd_docparse.convert import Settings
from hsd_docparse.document import Page
from hsd_docparse.export import Outputs
from hsd_docparse.jobs import (
    ENDED,
    FullError,
    Job,
    Jobs,
    Limits,
    TooLargeError,
    TooManyError,
    archive,
    safe_name,
)

__all__ = ["fakes"]


@pytest.fixture
def jobs(fakes: None) -> Iterator[Jobs]:
    with Jobs(Limits(bytes=1000, pages=5), pictures=True) as jobs:
        yield jobs


def submit(jobs: Jobs, words: str, name: str = "book.pdf", *formats: str) -> Job:
    outputs = Outputs(formats or ("md",), figures=True)
    return jobs.submit(name, io.BytesIO(words.encode()), Settings(), outputs)


def ended(job: Job) -> Job:
    seen, end = 0, time.monotonic() + 20
    while job.state not in ENDED and time.monotonic() < end:
        seen = job.wait(seen, 1)
    assert job.state in ENDED
    return job


def test_a_document_is_converted_page_by_page(jobs: Jobs) -> None:
    job = ended(submit(jobs, "one bug figure", "book.pdf", "md", "json"))
    assert (job.state, job.total, job.error) == ("done", 3, None)
    assert [page.number for page in job.pages] == [1, 2, 3]
    assert "ONE" in job.output("md").read_text()
    assert len(json.loads(job.output("json").read_text())["pages"]) == 3
    assert job.picture(1)
    assert not job.picture(2)
    with job.busy:
        assert not job.input.exists()
    with pytest.raises(KeyError):
        job.output("html")


def test_a_broken_document_says_its_name_and_no_path(jobs: Jobs) -> None:
    job = ended(submit(jobs, "", "../../empty.pdf"))
    assert (job.state, job.error) == ("failed", "empty.pdf is empty.")
    assert list(job.base.parent.iterdir()) == []


def test_nothing_that_is_read_holds_a_path_of_the_server(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(job: worker.Job, deadline: float) -> Iterator[worker.Answer]:
        yield worker.Opened(1, [1], {})
        broken = Page(
            1, 0, 0, error=f"Page 1 of {job.path} was given up.", warnings=[str(job.path)]
        )
        yield worker.Drafted(broken)

    monkeypatch.setattr(isolation, "read_isolated", lost)
    job = ended(submit(jobs, "one", "book.pdf", "json"))
    document = json.loads(job.output("json").read_text())
    assert document["source"] == "book.pdf"
    assert job.pages[0].error == "Page 1 of book.pdf was given up."
    assert str(jobs.folder) not in str(document)


def test_regions_are_kept_in_memory_only_for_who_shows_them(fakes: None, jobs: Jobs) -> None:
    assert ended(submit(jobs, "one")).pages[0].regions
    with Jobs() as plain:
        job = ended(submit(plain, "one"))
        assert not job.pages[0].regions
        assert "ONE" in job.output("md").read_text()


def test_limits_are_kept(jobs: Jobs) -> None:
    with pytest.raises(TooLargeError, match="larger than 1,000 bytes"):
        submit(jobs, "word " * 300)
    assert list(jobs.folder.iterdir()) == []
    job = ended(submit(jobs, "one " * 6))
    assert job.error == "book.pdf has 6 pages and at most 5 are taken; choose some of them."


def test_a_full_queue_takes_no_more(fakes: None) -> None:
    with Jobs(Limits(waiting=0)) as jobs, pytest.raises(TooManyError, match="try again later"):
        submit(jobs, "one")


def test_results_take_no_more_than_the_disk_may_hold(fakes: None) -> None:
    with Jobs(Limits(disk=500)) as jobs:
        small = ended(submit(jobs, "one"))
        with small.busy:
            pass  # it is measured then
        assert 0 < small.size < 100
        assert small.picture(1) is None
        large = ended(submit(jobs, "figure " * 10))
        assert (large.state, large.error) == (
            "failed",
            "There is no more room for results; remove some, or try again later.",
        )
        assert len(large.pages) < 10
        with pytest.raises(FullError):
            submit(jobs, "one")
        jobs.remove(large.id)
        assert ended(submit(jobs, "one")).state == "done"


def test_uploads_that_come_in_take_places_too(fakes: None) -> None:
    class Upload(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            with pytest.raises(TooManyError):
                submit(jobs, "two")
            return super().read(size)

    with Jobs(Limits(waiting=1)) as jobs:
        ended(jobs.submit("one.pdf", Upload(b"one"), Settings(), Outputs()))
        ended(submit(jobs, "two"))


def test_a_cancelled_job_leaves_no_output(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel_first(job: Job, *read: object) -> None:
        job.cancel()

    monkeypatch.setattr(Job, "_add", cancel_first)
    job = ended(submit(jobs, "one two three"))
    with job.busy:
        assert list(job.base.parent.iterdir()) == []
    assert job.state == "cancelled"


def test_a_removed_job_is_gone(jobs: Jobs) -> None:
    job = ended(submit(jobs, "one"))
    with job.busy:
        pass
    jobs.remove(job.id)
    with pytest.raises(KeyError):
        jobs.job(job.id)
    assert not job.folder.exists()


def test_a_job_removed_while_its_folder_is_written_to_is_gone_after(jobs: Jobs) -> None:
    job = ended(submit(jobs, "one"))
    with jobs.writing(job):
        jobs.remove(job.id)
        assert job.folder.exists()
    assert not job.folder.exists()


def test_what_ended_long_ago_is_removed(fakes: None) -> None:
    with Jobs(Limits(kept=0.1)) as jobs:
        folder = ended(submit(jobs, "one")).folder
        end = time.monotonic() + 10
        while folder.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert not folder.exists()


def test_nothing_stays_of_a_server_that_ended(fakes: None) -> None:
    with Jobs() as jobs:
        submit(jobs, "one " * 100)
    assert not jobs.folder.exists()


def test_an_archive_holds_each_document_in_a_folder(jobs: Jobs, tmp_path: Path) -> None:
    documents = [submit(jobs, "figure", name, "md", "txt") for name in ("a.pdf", "b/a.png")]
    broken = submit(jobs, "", "empty.pdf")
    for job in (*documents, broken):
        ended(job)
    archive([*documents, broken], tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as zipped:
        files = sorted(name for name in zipped.namelist() if not name.endswith("/"))
    one = ["a.figures/page-1-fig-1.png", "a.md", "a.txt"]
    assert files == [f"a.png/{name}" for name in one] + [f"a/{name}" for name in one]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\scan 1.tif", "scan 1.tif"),
        (".hidden", "hidden"),
        ("..", "document"),
        ("", "document"),
        ("a\0b<script>.pdf", "a_b_script_.pdf"),
        ("日本語.pdf", "日本語.pdf"),
        ("x" * 300 + ".pdf", "x" * 60 + ".pdf"),
        ("𠀀" * 300 + "." + "𠀀" * 300, "𠀀" * 45 + "." + "𠀀" * 2),
        ("a\r\nSet-Cookie: b.pdf", "a_Set-Cookie_ b.pdf"),
    ],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe
