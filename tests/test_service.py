from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from fake_parts import fakes
from fastapi.testclient import TestClient
from serving import ended, gate, serving, until

from hsd_docparse.convert import Settings
from hsd_docparse.jobs import Jobs, Limits
from hsd_docparse.service import create_app, routes

__all__ = ["fakes", "gate"]

LETTER = Path(__file__).parents[1] / "samples" / "letter.pdf"


@pytest.fixture
def jobs(fakes: None) -> Iterator[Jobs]:
    with Jobs(Limits(pages=5)) as jobs:
        yield jobs


@pytest.fixture
def client(jobs: Jobs) -> TestClient:
    return TestClient(create_app(jobs), raise_server_exceptions=False)


def post(client: Any, words: str, name: str = "book.pdf", **fields: str) -> httpx.Response:
    return client.post("/jobs", files={"file": (name, words.encode())}, data=fields)


def submit(client: Any, words: str, **fields: str) -> str:
    """The address of a job that was taken."""
    answer = post(client, words, **fields)
    assert answer.status_code == 202, answer.text
    return answer.json()["url"]


def told(stream: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The event, id and data of each server-sent event."""
    events = []
    for block in stream.replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if lines:
            events.append((lines["event"], lines.get("id", ""), json.loads(lines["data"])))
    return events


def test_a_document_goes_all_the_way(client: TestClient, jobs: Jobs) -> None:
    taken = post(client, "one figure", formats="md,html,json", figures="true")
    assert taken.status_code == 202
    url = taken.headers["location"]
    job = ended(client, url)
    assert (job["state"], job["name"], job["error"]) == ("done", "book.pdf", None)
    assert (job["pages_done"], job["pages_total"], job["seconds_left"]) == (2, 2, None)
    assert job["results"] == {f: f"{url}/result.{f}" for f in ("md", "html", "json")}
    markdown = client.get(job["results"]["md"])
    assert "ONE" in markdown.text
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.headers["content-disposition"] == 'attachment; filename="book.md"'
    assert client.get(job["results"]["json"]).json()["source"] == "book.pdf"
    for _ in range(2):
        zipped = client.get(job["archive"])
        assert zipped.headers["content-type"] == "application/zip"
        names = zipfile.ZipFile(io.BytesIO(zipped.content)).namelist()
        assert {"book/book.md", "book/book.figures/page-2-fig-1.png"} < set(names)
    assert client.delete(url).status_code == 204
    until(lambda: not list(jobs.folder.iterdir()))
    for path in ("", "/events", "/result.md", "/archive"):
        assert client.get(url + path).status_code == 404
    assert client.delete(url).status_code == 404


def test_html_is_shown_without_any_rights(client: TestClient) -> None:
    url = submit(client, "one", formats="html")
    ended(client, url)
    page = client.get(f"{url}/result.html")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-disposition"].startswith("inline")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none';")


def test_html_holds_its_figures(client: TestClient) -> None:
    url = submit(client, "figure", formats="html,md", figures="true")
    ended(client, url)
    page = client.get(f"{url}/result.html")
    assert '<img src="data:image/png;base64,iVBOR' in page.text
    assert "img-src data:" in page.headers["content-security-policy"]
    assert "](book.figures/page-1-fig-1.png)" in client.get(f"{url}/result.md").text


def test_without_room_nothing_is_taken_and_no_archive_made(fakes: None) -> None:
    with Jobs(Limits(disk=50)) as jobs:
        client = TestClient(create_app(jobs))
        url = submit(client, "one")
        assert ended(client, url)["state"] == "done"
        jobs.job(url.rpartition("/")[2]).size = 51
        for full in (post(client, "two"), client.get(f"{url}/archive")):
            assert full.status_code == 507
            assert "no more room" in full.json()["error"]
            assert full.headers["retry-after"] == "600"
        assert client.delete(url).status_code == 204
        assert post(client, "two").status_code == 202


def test_what_goes_wrong_is_said(client: TestClient) -> None:
    job = ended(client, submit(client, "one refused three"))
    assert job["state"] == "done"
    assert job["failed_pages"] == [{"page": 2, "error": "Page 2 is refused."}]
    job = ended(client, submit(client, "one " * 6))
    assert (job["state"], job["results"], job["archive"]) == ("failed", {}, None)
    assert "6 pages and at most 5" in job["error"]


def test_fields_decide_how_it_is_read(client: TestClient) -> None:
    url = submit(client, "one two three", pages="2-", mode="draft", formats="txt")
    ended(client, url)
    assert client.get(f"{url}/result.txt").text == "two\n\fthree\n"
    assert client.get(f"{url}/result.md").status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"formats": "docx"},
        {"formats": ""},
        {"mode": "fast"},
        {"target": "other/model"},
        {"target": "/tmp"},
        {"pages": "one"},
        {"dpi": "nan"},
        {"dpi": "10000"},
        {"password": "x" * 201},
        {"figures": "maybe"},
        {"colour": "red"},
    ],
)
def test_other_values_are_refused(client: TestClient, jobs: Jobs, fields: dict[str, str]) -> None:
    answer = post(client, "one", **fields)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(next(iter(fields)))
    assert list(jobs.folder.iterdir()) == []


def test_only_the_target_of_the_owner_is_ever_opened(jobs: Jobs) -> None:
    client = TestClient(create_app(jobs, Settings(target="own/model", mode="draft", deadline=7)))
    assert client.get("/version").json()["target"] == "own/model"
    taken = [post(client, "one", **f).json()["id"] for f in ({}, {"target": "none"})]
    settings = [jobs.job(id).settings for id in taken]
    assert [(s.target, s.mode, s.deadline) for s in settings] == [
        ("own/model", "draft", 7),
        ("none", "draft", 7),
    ]
    assert post(client, "one", target="mini").status_code == 422


def test_a_result_that_is_not_ready_is_a_conflict(client: TestClient, gate: Event) -> None:
    url = submit(client, "one")
    for path in ("/result.md", "/archive"):
        assert client.get(url + path).status_code == 409
    gate.set()
    ended(client, url)
    assert client.get(f"{url}/result.md").status_code == 200


def test_a_full_queue_says_to_come_again(gate: Event) -> None:
    with Jobs(Limits(waiting=1)) as jobs:
        client = TestClient(create_app(jobs))
        url = submit(client, "one")
        until(lambda: client.get(url).json()["state"] == "running")
        submit(client, "two")
        full = post(client, "three")
        assert (full.status_code, full.headers["retry-after"]) == (429, "30")
        gate.set()


def test_events_tell_every_page_and_the_end(client: TestClient) -> None:
    url = submit(client, "one refused three")
    *pages, (event, id, job) = told(client.get(f"{url}/events").text)
    assert (event, id, job["state"]) == ("state", "end", "done")
    assert [(id, data["page"], data["error"]) for event, id, data in pages if event == "page"] == [
        ("1", 1, None),
        ("2", 2, "Page 2 is refused."),
        ("3", 3, None),
    ]


@pytest.mark.parametrize(
    ("last", "ids"),
    [("2", ["3", "end"]), ("99999999999999", ["end"]), ("²", ["1", "2", "3", "end"])],
)
def test_who_reconnects_hears_the_rest(client: TestClient, last: str, ids: list[str]) -> None:
    url = submit(client, "one two three")
    ended(client, url)
    answer = client.get(f"{url}/events", headers={"Last-Event-ID": last.encode()})
    assert [id for _, id, _ in told(answer.text)] == ids
    assert client.get(f"{url}/events", headers={"Last-Event-ID": "end"}).status_code == 204


def test_events_of_a_job_that_is_removed_end(gate: Event) -> None:
    with Jobs() as jobs, serving(create_app(jobs)) as served, served.client() as client:
        url = submit(client, "one two")
        with client.stream("GET", f"{url}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: state"
            assert client.delete(url).status_code == 204
            assert '"state":"cancelled"' in "".join(lines)
        gate.set()


def test_listeners_hold_no_thread_and_leave_nothing(
    gate: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "PING", 0.1)
    with Jobs() as jobs, serving(create_app(jobs)) as served, served.client() as client:
        url = submit(client, "one")
        until(lambda: client.get(url).json()["state"] == "running")
        before = threading.active_count()
        listeners = [served.connect() for _ in range(60)]
        for listener in listeners:
            listener.sendall(f"GET {url}/events HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        for listener in listeners:
            received = b""
            while b": ping" not in received:
                received += listener.recv(4096)
        assert threading.active_count() <= before
        assert len(served.server.server_state.tasks) >= 60
        for listener in listeners:
            listener.close()
        until(lambda: not served.server.server_state.tasks)
        gate.set()


@pytest.mark.parametrize(
    "auth",
    [None, ("me", "wrong"), ("you", "secret"), ("", ""), ("me", "secre"), ("me", "geheimß")],
)
def test_without_the_password_nothing_is_told(
    client: TestClient, jobs: Jobs, auth: tuple[str, str] | None
) -> None:
    url = submit(client, "one")
    guarded = TestClient(create_app(jobs, auth=("me", "secret")))
    for method, path in [
        ("POST", "/jobs"),
        ("GET", url),
        ("GET", f"{url}/events"),
        ("GET", f"{url}/result.md"),
        ("GET", f"{url}/archive"),
        ("DELETE", url),
        ("GET", "/jobs/unknown"),
        ("GET", "/version"),
    ]:
        answer = guarded.request(method, path, auth=auth)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Basic realm="docparse"'
        assert set(answer.json()) == {"error"}
    assert guarded.get("/health").status_code == 200
    assert guarded.get(url, auth=("me", "secret")).status_code == 200


def test_errors_have_one_shape(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/nothing").json() == {"error": "Not Found"}
    wrong = client.put("/jobs/x")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, GET")
    assert set(wrong.json()) == {"error"}

    def fail(self: Jobs, id: str) -> None:
        raise ZeroDivisionError("/a/path")

    monkeypatch.setattr(Jobs, "job", fail)
    broken = client.get("/jobs/x")
    assert broken.status_code == 500
    assert broken.json()["error"].startswith("Unexpected ZeroDivisionError;")


def test_a_letter_is_read_over_a_socket() -> None:
    with Jobs() as jobs, serving(create_app(jobs)) as served, served.client() as client:
        with LETTER.open("rb") as file:
            form = {"mode": "draft", "formats": "md,html"}
            url = client.post("/jobs", files={"file": file}, data=form).json()["url"]
        *_, (_, _, job) = told(client.get(f"{url}/events").text)
        assert (job["state"], job["failed_pages"]) == ("done", [])
        expected = LETTER.parents[0] / "output" / "letter.md"
        assert client.get(job["results"]["md"]).text == expected.read_text("utf-8")
