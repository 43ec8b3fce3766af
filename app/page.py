"""The page itself: what is on it, and what happens when somebody uses it.

It holds nothing: documents are `hsd_docparse.jobs`, of which a visitor's session knows the ids.
A timer looks after running jobs, so that nothing waits for anything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from hsd_docparse.app.progress import progress
from hsd_docparse.app.speculation import story
from hsd_docparse.app.viewer import Colour, view

from hsd_docparse.convert import DEADLINE, Mode, Settings
from hsd_docparse.document import Document, Page
from hsd_docparse.export import Outputs
from hsd_docparse.jobs import ENDED, Job, Jobs, Limits, RefusedError, archive
from hsd_docparse.render import FORMATS, render
from hsd_docparse.wording import counted

HERE = Path(__file__).parent
SHOWN = 200_000
"""Characters of a document that a tab shows; the file has all."""
TICK = 0.7
"""Seconds between two looks at running jobs."""
TYPES = [".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".jp2"]
MODES: list[tuple[str, Mode]] = [
    ("lossless: what the target reads", "lossless"),
    ("ensemble: target and draft together", "ensemble"),
    ("near: the draft where the target nearly agrees", "near"),
    ("draft: the pipeline alone, fastest", "draft"),
]
COLOURS: list[tuple[str, Colour]] = [("kind", "kind"), ("accepted or corrected", "verdict")]
MATH: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]


def build(
    jobs: Jobs, *, targets: Sequence[str] = ("mini",), mode: Mode = "lossless",
    deadline: float | None = DEADLINE,
) -> gr.Blocks:  # fmt: skip
    """The page over ``jobs``, which keep pictures. ``targets`` are what a visitor may choose."""

    def own(session: list[str]) -> list[Job]:
        """The visitor's jobs that still exist."""
        found = []
        for id in session:
            try:
                found.append(jobs.job(id))
            except KeyError:  # it was too long ago
                continue
        return found

    def chosen(session: list[str], id: str | None) -> Job | None:
        return next((job for job in own(session) if job.id == id), None)

    def submit(
        files: list[str] | None,
        target: str,
        mode: Mode,
        pages: str | None,
        password: str | None,
        formats: list[str],
        session: list[str],
    ) -> tuple[Any, ...]:
        if not files:
            raise gr.Error("Drop at least one PDF or image first.", print_exception=False)
        settings = Settings(
            target, mode, (pages or "").strip() or None, password or None, deadline=deadline
        )
        outputs = Outputs([name for name in FORMATS if name in formats] or ["md"], figures=True)
        session = [job.id for job in own(session)]
        for file in files:
            path = Path(file)
            try:
                with path.open("rb") as upload:
                    session.append(jobs.submit(path.name, upload, settings, outputs).id)
            except RefusedError as error:
                gr.Warning(str(error))
            path.unlink(missing_ok=True)
        return session, gr.Timer(active=True), None, gr.Button(interactive=True)

    def tick(session: list[str], id: str | None, seen: Any) -> tuple[Any, ...]:
        """Everything that may have changed since the last look; ``seen`` is what it saw."""
        mine = own(session)
        running = any(job.state not in ENDED for job in mine)
        readable = [job for job in mine if job.pages]
        if id not in [job.id for job in readable]:
            id = readable[0].id if readable else None
        job = chosen(session, id)
        now = [job.id for job in readable], job and (job.id, len(job.pages))
        documents = gr.Dropdown(choices=[(j.name, j.id) for j in readable], value=id)
        count = len(job.pages) if job else 1
        page = gr.Number(maximum=count, label=f"Page, of {count}")
        changed = seen is None or now != tuple(seen)
        return (
            progress(mine),
            documents if changed else gr.skip(),
            page if changed else gr.skip(),
            now,
            [job.id for job in mine if job.state in ENDED],
            gr.Timer(active=running),
            gr.Button(interactive=running),
            gr.Column(visible=bool(readable)),
        )

    def cancel(session: list[str]) -> None:
        for job in own(session):
            job.cancel()

    def show_page(
        session: list[str], id: str, number: int | None, colour: Colour
    ) -> tuple[Any, ...]:
        job = chosen(session, id)
        if job is None or not job.pages:
            return (gr.skip(),) * 5
        page = job.pages[min(max(int(number or 1), 1), len(job.pages)) - 1]
        told = story(page)
        alone = _document(job, [page])
        return (
            view(page, job.picture(page.number), colour),
            render(alone, "md"),
            told.words,
            gr.BarPlot(told.calls, x_lim=[0, len(told.calls) + 1]),
            told.seconds,
        )

    def turn(session: list[str], id: str, number: int) -> int:
        job = chosen(session, id)
        return min(number + 1, len(job.pages)) if job else number

    def show_document(session: list[str], id: str) -> tuple[Any, ...]:
        job = chosen(session, id)
        if job is None:
            return (gr.skip(),) * 4
        files = (
            [str(job.output(name)) for name in job.outputs.formats] if job.state == "done" else []
        )
        document = _document(job, job.pages)
        return *(_excerpt(render(document, name)) for name in ("md", "html", "json")), files

    def bundle(session: list[str]) -> Any:
        """The button to all results: made anew once nothing runs any more."""
        mine = own(session)
        done = [job for job in mine if job.state == "done"]
        if not done or any(job.state not in ENDED for job in mine):
            return gr.DownloadButton(value=None, interactive=False)
        path = done[0].folder / "docparse.zip"
        with jobs.writing(done[0]):
            archive(done, path)
        return gr.DownloadButton(value=str(path), interactive=True)

    def forget(session: list[str]) -> None:
        for job in own(session):
            jobs.remove(job.id)

    with gr.Blocks(
        title="docparse",
        analytics_enabled=False,
        fill_width=True,
        delete_cache=(600, int(jobs.limits.kept)),
    ) as page:
        session = gr.State([], delete_callback=forget)
        seen = gr.State(None)
        ended = gr.State([])
        timer = gr.Timer(TICK, active=False)
        gr.Markdown("# docparse\nPDFs, scans and photos become Markdown, HTML and JSON.")
        files = gr.File(
            label="PDFs and images",
            file_count="multiple",
            file_types=TYPES,
            height=140,
            elem_id="files",
        )
        with gr.Accordion("Options", open=False), gr.Row():
            target = gr.Dropdown(list(targets), value=targets[0], label="Target", min_width=140)
            how = gr.Radio(MODES, value=mode, label="Mode", min_width=240)
            pages = gr.Textbox(label="Pages", placeholder="all, or 1-3,7", min_width=140)
            password = gr.Textbox(label="Password", type="password", min_width=140)
            formats = gr.CheckboxGroup(
                list(FORMATS), value=["md", "html", "json"], label="Formats", min_width=240
            )
        with gr.Row():
            start = gr.Button("Convert", variant="primary", elem_id="convert")
            stop = gr.Button(
                "Cancel",
                variant="stop",
                interactive=False,
                scale=0,
                min_width=140,
                elem_id="cancel",
            )
        status = gr.HTML(elem_id="status")
        with gr.Column(visible=False, elem_id="results") as results:
            with gr.Row():
                documents = gr.Dropdown([], label="Document", min_width=200, elem_id="documents")
                back = gr.Button("Back", min_width=70, scale=0)
                number = gr.Number(1, label="Page", minimum=1, precision=0, min_width=100)
                forth = gr.Button("Next", min_width=70, scale=0)
                colour = gr.Radio(COLOURS, value="kind", label="Colour by", min_width=260)
            with gr.Tabs():
                with gr.Tab("Page"):
                    viewer = gr.HTML(
                        elem_id="viewer", js_on_load=(HERE / "static/viewer.js").read_text("utf-8")
                    )
                with gr.Tab("Preview"):
                    preview = gr.Markdown(latex_delimiters=MATH, elem_id="preview")
                with gr.Tab("Markdown"):
                    markdown = gr.Code(language="markdown", wrap_lines=True, max_lines=40)
                with gr.Tab("HTML"):
                    html = gr.Code(language="html", wrap_lines=True, max_lines=40)
                with gr.Tab("JSON"):
                    json = gr.Code(language="json", wrap_lines=True, max_lines=40)
                with gr.Tab("Speculation"):
                    words = gr.Markdown(elem_id="speculation")
                    with gr.Row():
                        calls = gr.BarPlot(
                            x="call", y="tokens", title="Tokens that each target call gave",
                            min_width=300,
                        )  # fmt: skip
                        seconds = gr.BarPlot(
                            x="way", y="seconds", color="part", title="Seconds", min_width=300
                        )
            with gr.Row():
                downloads = gr.File(label="Results", interactive=False, elem_id="downloads")
                everything = gr.DownloadButton(
                    "Download all (.zip)", interactive=False, elem_id="everything"
                )

        choice = [session, documents]
        shown = [viewer, preview, words, calls, seconds]
        texts = [markdown, html, json, downloads]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        start.click(
            submit,
            [files, target, how, pages, password, formats, session],
            [session, timer, files, stop],
            **quiet,
        )
        stop.click(cancel, session, None, **quiet)
        timer.tick(
            tick,
            [session, documents, seen],
            [status, documents, number, seen, ended, timer, stop, results],
            **quiet,
        )
        gr.on(
            [documents.change, number.change, colour.change],
            show_page,
            [*choice, number, colour],
            shown,
            trigger_mode="always_last",
            **quiet,
        )
        documents.change(lambda: 1, None, number, **quiet)
        back.click(lambda at: max(at - 1, 1), number, number, **quiet)
        forth.click(turn, [*choice, number], number, **quiet)
        # Whole documents are written anew when one has ended, and not with every page.
        gr.on([documents.change, ended.change], show_document, choice, texts, **quiet)
        ended.change(bundle, session, everything, **quiet)
    return page


def launch(
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    auth: tuple[str, str] | None = None,
    limits: Limits | None = None,
    browser: bool = False,
    **options: Any,
) -> None:
    """Serve the page until a `KeyboardInterrupt`; ``options`` are those of `build`. ``port``: the
    first that is free from 7860 on, if None. Raises `OSError` where none is."""
    with Jobs(limits, pictures=True) as jobs:
        page = build(jobs, **options)
        page.queue(default_concurrency_limit=8, max_size=256)
        _, address, _ = page.launch(
            **appearance(),
            **serving(jobs, host, port, auth),
            inbrowser=browser,
            prevent_thread_lock=True,
        )
        print(f"docparse listens at {address} until it is interrupted (Ctrl-C).", flush=True)
        try:
            Event().wait()
        finally:
            with redirect_stdout(None):  # it says which port it leaves
                page.close()


def appearance() -> dict[str, Any]:
    """Fonts that every system has, so that nothing is fetched from elsewhere."""
    fonts = ["system-ui", "sans-serif"]
    theme = gr.themes.Default(font=fonts, font_mono=["ui-monospace", "monospace"])
    return {"theme": theme, "css_paths": HERE / "static/page.css", "footer_links": []}


def serving(
    jobs: Jobs, host: str, port: int | None, auth: tuple[str, str] | None
) -> dict[str, Any]:
    return {
        "server_name": host,
        "server_port": port,
        "auth": auth,
        "max_file_size": jobs.limits.bytes,
        "allowed_paths": [],
        "share": False,
        "quiet": True,
        "ssr_mode": False,
        "pwa": False,
    }


def _document(job: Job, pages: Sequence[Page]) -> Document:
    assert job.document is not None
    return replace(job.document, source=job.name, pages=list(pages))


def _excerpt(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}\n\n… {counted(len(text) - SHOWN, 'more character')} in the file."
