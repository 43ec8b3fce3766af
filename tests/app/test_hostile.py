"""What strangers may try: nothing but their own results can be read, and no document acts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

import httpx
import pytest
from browser import needs_browser, served
from fake_parts import fakes
from playwright.sync_api import Page, expect

from hsd_docparse.document import Box, Region
from hsd_docparse.document import Page as DocumentPage
from hsd_docparse.jobs import Limits

__all__ = ["fakes"]

ROOT = Path(__file__).parents[2]
TRAPS = [
    "<script>window.caught = 1</script>",
    '"><img src=x onerror="window.caught = 2">',
    "${window.caught = 3} {{constructor.constructor('window.caught = 4')()}} {{value}} ${value}",
    "[click](javascript:window.caught=5) <a href='javascript:window.caught=6'>x</a>",
    "<iframe srcdoc='<script>parent.caught = 7</script>'></iframe>",
]


@pytest.fixture
def address(fakes: None) -> Iterator[str]:
    with served() as address:
        yield address


@needs_browser
def test_no_document_acts_in_the_page(
    visitor: Page, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trapped(page: object, *, dpi: float = 150) -> DocumentPage:
        texts = [Region("text", Box(10, 10, 60, 40), trap) for trap in TRAPS]
        table = "".join(f"<tr><td>{trap}</td></tr>" for trap in TRAPS)
        tables = [Region("table", Box(10, 10, 60, 40), f"<table>{table}</table>")]
        marks = [Region("formula", Box(1, 1, 9, 9), rf"\href{{{trap}}}{{x}}") for trap in TRAPS]
        return DocumentPage(1, 100, 50, [*texts, *tables, *marks], warnings=TRAPS, error=TRAPS[1])

    monkeypatch.setattr("hsd_docparse.draft.draft_page", trapped)
    monkeypatch.setattr(
        "hsd_docparse.sharing.verify_pages", lambda target, shown, **_: [page for _, page in shown]
    )
    name = tmp_path / "x<img src=x onerror=window.caught=8>.pdf"
    name.write_text("one")
    visitor.on("dialog", lambda dialog: pytest.fail(dialog.message))
    visitor.goto(address)
    visitor.set_input_files("#files input[type=file]", name)
    visitor.get_by_role("button", name="Convert").click()
    expect(visitor.locator("#viewer .reading").first).to_contain_text("window.caught = 3")
    for tab in ("Preview", "Markdown", "HTML", "JSON", "Speculation"):
        visitor.get_by_role("tab", name=tab, exact=True).click()
        visitor.wait_for_timeout(300)
        for link in visitor.locator("a[href^='javascript']").all():
            link.click()
    assert visitor.evaluate("window.caught") is None


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        str(ROOT / "pyproject.toml"),
        "pyproject.toml",
        "../../../../etc/passwd",
        "/proc/self/environ",
    ],
)
def test_no_file_of_the_machine_can_be_read(address: str, path: str) -> None:
    for prefix in ("/gradio_api/file=", "/file=", "/gradio_api/file/", "/static/", "/assets/"):
        answer = httpx.get(f"{address}{prefix}{path}")
        assert answer.status_code in (403, 404), prefix


def test_results_of_others_cannot_be_read_by_path(address: str, tmp_path: Path) -> None:
    with NamedTemporaryFile(prefix="docparse-", suffix=".md") as secret:
        answer = httpx.get(f"{address}/gradio_api/file={secret.name}")
    assert answer.status_code == 403


def test_events_take_no_file_that_was_not_uploaded(address: str) -> None:
    config = httpx.get(f"{address}/config").json()
    assert not [d for d in config["dependencies"] if d.get("api_visibility") == "public"]
    submit = next(d["id"] for d in config["dependencies"] if len(d["inputs"]) == 7)
    foreign = [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]
    body = {
        "data": [foreign, "mini", "draft", "", "", ["md"], None],
        "fn_index": submit,
        "session_hash": "x",
    }
    assert httpx.post(f"{address}/gradio_api/queue/join", json=body).status_code == 200
    with httpx.stream("GET", f"{address}/gradio_api/queue/data?session_hash=x") as stream:
        for line in stream.iter_lines():
            if "process_completed" in line:
                assert '"success":false' in line
                break
    assert Path("/etc/passwd").exists()


def test_an_upload_that_is_too_large_is_refused(fakes: None) -> None:
    with served(Limits(bytes=1000)) as address:
        files = {"files": ("large.pdf", b"x" * 5000)}
        answer = httpx.post(f"{address}/gradio_api/upload", files=files)
    assert answer.status_code == 413


def test_visitors_without_the_password_see_nothing(fakes: None) -> None:
    with served(auth=("me", "secret")) as address:
        assert httpx.get(f"{address}/config").status_code == 401
        refused = httpx.post(f"{address}/login", data={"username": "me", "password": "guess"})
        assert refused.status_code == 400
        with httpx.Client(base_url=address) as client:
            client.post("/login", data={"username": "me", "password": "secret"})
            assert client.get("/config").status_code == 200
