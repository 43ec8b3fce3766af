"""What strangers try."""

from __future__ import annotations

import io
import re
import socket
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser

import pymupdf
import pytest
from fake_parts import fakes
from fastapi.testclient import TestClient
from markdown_it import MarkdownIt
from serving import Served, ended, serving

from hsd_docparse.jobs import Jobs, Limits
from hsd_docparse.service import create_app, upload
from hsd_docparse.service.upload import OVERHEAD

__all__ = ["fakes"]

MOST = 100_000
"""Bytes of an upload."""


@pytest.fixture
def jobs(fakes: None) -> Iterator[Jobs]:
    with Jobs(Limits(bytes=MOST)) as jobs:
        yield jobs


@pytest.fixture
def client(jobs: Jobs) -> TestClient:
    return TestClient(create_app(jobs))


@pytest.fixture
def served(jobs: Jobs) -> Iterator[Served]:
    with serving(create_app(jobs, auth=None)) as served:
        yield served


def form(name: bytes, content: bytes = b"one") -> tuple[bytes, dict[str, str]]:
    """A form whose file has a name that no client library would send."""
    disposition = b'Content-Disposition: form-data; name="file"; filename="' + name + b'"'
    body = b"--x\r\n" + disposition + b"\r\n\r\n" + content + b"\r\n--x--\r\n"
    return body, {"Content-Type": "multipart/form-data; boundary=x"}


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """The status and the rest of what the server sends until it closes."""
    received = b""
    try:
        while block := connection.recv(65536):
            received += block
    except ConnectionError:
        pass  # it closed while there was still something to read for it
    return int(received.split(b" ", 2)[1]), received


@pytest.mark.parametrize(
    "path",
    [
        "/jobs/../../etc/passwd",
        "/jobs/..%2f..%2fetc%2fpasswd",
        "/jobs/%2e%2e/%2e%2e/etc/passwd",
        "/jobs/{id}/result.md/../../../etc/passwd",
        "/jobs/{id}/result.md%2f..%2f..%2finput%2fbook.pdf",
        "/jobs/{id}/result...%2finput%2fbook.pdf",
        "/jobs/{id}/result.%00md",
        "/jobs/{id}/result.part",
        "/jobs/{id}/input/book.pdf",
        "/jobs/{id}%00",
        "/jobs/.",
    ],
)
def test_no_path_leads_out(served: Served, jobs: Jobs, path: str) -> None:
    with served.client() as client:
        url = client.post("/jobs", files={"file": ("book.pdf", b"one")}).json()["url"]
    with served.connect() as connection:  # as it stands: client libraries tidy paths up
        request = f"GET {path.replace('/jobs/{id}', url)} HTTP/1.1\r\n"
        connection.sendall(f"{request}Host: a\r\nConnection: close\r\n\r\n".encode())
        status, text = answer(connection)
    assert status in (400, 404)
    assert b"root:" not in text


@pytest.mark.parametrize(
    "name",
    [
        b"../../../tmp/evil.pdf",
        b"..\\\\..\\\\evil.pdf",
        b"/etc/passwd",
        b"..",
        b"C:\\\\x",
        b"a\0b.pdf",
        b"a\r\nSet-Cookie: evil=1.pdf",
        b"a%0d%0aSet-Cookie: evil=1.pdf",
        b'a\\"; filename=\\"evil.exe',
        b"\xff\xfe.pdf",
        "\u202efdp.exe".encode(),
        "𠀀".encode() * 200 + b".pdf",
        b"a" * 2000,
        b"<script>alert(1)</script>.pdf",
        b"CON.pdf",
        b"book.part",
    ],
)
def test_a_file_name_names_a_file_and_nothing_else(
    client: TestClient, jobs: Jobs, name: bytes
) -> None:
    body, headers = form(name)
    taken = client.post("/jobs", content=body, headers=headers)
    assert taken.status_code == 202, taken.text
    job = ended(client, taken.json()["url"])
    assert job["state"] == "done"
    assert not set(job["name"]) & set('/\\\0\r\n<>"%\u202e')
    archive = client.get(job["archive"])
    for file in (archive, client.get(job["results"]["md"])):
        assert "set-cookie" not in file.headers
        sent = r"attachment; filename(\*=utf-8''[\w.%~-]+|=\"[\w. ()+,=@-]+\")"
        assert re.fullmatch(sent, file.headers["content-disposition"], re.ASCII)
    for path in zipfile.ZipFile(io.BytesIO(archive.content)).namelist():
        assert not path.startswith("/")
        assert ".." not in path.split("/")
    assert {p.name for p in jobs.folder.iterdir()} == {job["id"]}


def test_a_large_upload_is_refused_before_it_is_sent(served: Served, jobs: Jobs) -> None:
    with served.connect() as connection:
        head = "POST /jobs HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        connection.sendall(f"{head}Content-Length: {1 << 40}\r\n\r\n".encode())
        assert answer(connection)[0] == 413
    assert list(jobs.folder.iterdir()) == []


def test_an_upload_without_end_is_cut_off(served: Served, jobs: Jobs) -> None:
    begin, headers = form(b"book.pdf", b"")
    begin = begin[: begin.index(b"\r\n--x--")]
    head = f"POST /jobs HTTP/1.1\r\nHost: a\r\nContent-Type: {headers['Content-Type']}\r\n"
    block = b"a" * 50_000
    sent = 0
    with served.connect() as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        connection.sendall(b"%x\r\n%s\r\n" % (len(begin), begin))
        try:
            while sent < 200 << 20:
                connection.sendall(b"%x\r\n%s\r\n" % (len(block), block))
                sent += len(block)
        except ConnectionError:
            pass
        else:
            raise AssertionError("all of it was taken")
    assert list(jobs.folder.iterdir()) == []


def test_the_largest_upload_is_taken_and_no_larger(client: TestClient, jobs: Jobs) -> None:
    for size, status in [(MOST, 202), (MOST + 1, 413), (MOST + OVERHEAD + 1, 413)]:
        answer = client.post("/jobs", files={"file": ("a.pdf", b"a" * size)})
        assert answer.status_code == status
        chunked, headers = form(b"a.pdf", b"a" * size)
        blocks = iter([chunked[:1000], chunked[1000:]])
        assert client.post("/jobs", content=blocks, headers=headers).status_code == status
    assert len(list(jobs.folder.iterdir())) == 2


def test_forms_of_another_kind_are_refused(client: TestClient, jobs: Jobs) -> None:
    file = ("a.pdf", b"one")
    assert client.post("/jobs", files=[("file", file), ("file", file)]).status_code == 400
    fields = {f"f{n}": "" for n in range(100)}
    assert client.post("/jobs", files={"file": file}, data=fields).status_code == 400
    long = {"password": "x" * 10_000}
    assert client.post("/jobs", files={"file": file}, data=long).status_code == 400
    assert client.post("/jobs", json={"file": "one"}).status_code == 422
    assert client.post("/jobs", data={"file": "one"}).status_code == 422
    assert client.post("/jobs").status_code == 422
    for kind in ("", "; boundary=", "; boundary=y", "; boundary=x; charset=undefined"):
        headers = {"Content-Type": f"multipart/form-data{kind}"}
        broken = client.post("/jobs", content=form(b"a\xff.pdf")[0], headers=headers)
        assert broken.status_code in (400, 422), kind
        assert set(broken.json()) == {"error"}
    assert list(jobs.folder.iterdir()) == []


def test_an_upload_that_stalls_or_breaks_off_holds_nothing(
    served: Served, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "STALLED", 0.3)
    body, headers = form(b"a.pdf")
    head = f"POST /jobs HTTP/1.1\r\nHost: a\r\nContent-Type: {headers['Content-Type']}\r\n"
    begin = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-5]
    with served.connect() as connection:
        connection.sendall(begin)
        assert answer(connection)[0] == 408
    with served.connect() as connection:
        connection.sendall(begin)
    with served.client() as client:
        assert client.get("/health").status_code == 200
    assert list(jobs.folder.iterdir()) == []


def test_who_has_no_password_uploads_nothing(jobs: Jobs) -> None:
    with (
        serving(create_app(jobs, auth=("me", "secret"))) as served,
        served.connect() as connection,
    ):
        head = "POST /jobs HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        connection.sendall(f"{head}Content-Length: 1000\r\n\r\n".encode())
        assert answer(connection)[0] == 401


def test_pages_of_other_sites_are_refused(jobs: Jobs) -> None:
    client = TestClient(create_app(jobs, hosts=("localhost", "[::1]")))
    files = {"file": ("a.pdf", b"one")}
    for host, status in [("localhost:8000", 202), ("[::1]:8000", 202), ("evil.example", 400)]:
        assert client.post("/jobs", files=files, headers={"Host": host}).status_code == status
    for site, status in [("none", 202), ("same-origin", 202), ("cross-site", 403)]:
        headers = {"Host": "localhost", "Sec-Fetch-Site": site, "Origin": "https://evil.example"}
        taken = client.post("/jobs", files=files, headers=headers)
        assert taken.status_code == status
        assert "access-control-allow-origin" not in taken.headers


class Active(HTMLParser):
    """Collects what would act."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "svg", "a", "img", "form", "link"):
            self.found.append(tag)
        self.found += [name for name, value in attrs if name.startswith("on") or name == "href"]


def hostile_pdf() -> bytes:
    evil = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "[click [me] now](javascript:alert(1))",
        '<a href="javascript:alert(1)">click me</a>',
        "[ref]: javascript:alert(1)",
        "the cost $x_1<img src=x onerror=alert(1)>$ of [ref]",
        "</title></style><svg/onload=alert(1)>",
    )
    document = pymupdf.open()
    page = document.new_page()
    for row, text in enumerate(evil):
        page.insert_text((72, 100 + 40 * row), text, fontsize=11)
    for row in range(4):
        for column in range(3):
            cell = pymupdf.Rect(
                72 + 150 * column, 450 + 30 * row, 222 + 150 * column, 480 + 30 * row
            )
            page.draw_rect(cell)
            page.insert_text((cell.x0 + 4, cell.y0 + 18), evil[column], fontsize=7)
    document.set_metadata({"title": "</title><script>alert(1)</script>", "author": evil[1]})
    return document.tobytes()


def test_a_document_cannot_inject_what_acts() -> None:
    with Jobs() as jobs:
        client = TestClient(create_app(jobs))
        name = '"><img src=x onerror=alert(1)>.pdf'
        fields = {"mode": "draft", "formats": "html,md"}
        taken = client.post("/jobs", files={"file": (name, hostile_pdf())}, data=fields)
        job = ended(client, taken.json()["url"])
        assert job["failed_pages"] == []
        page = client.get(job["results"]["html"]).text
        markdown = client.get(job["results"]["md"]).text
    assert "alert(1)" in page
    assert "<table>" in page
    active = Active()
    active.feed(page)
    assert active.found == []
    active.feed(MarkdownIt("commonmark", {"html": True}).render(markdown))
    assert active.found == []
