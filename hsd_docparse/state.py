"""What a folder job knows about its documents, in an SQLite file that several processes share.

A document is ``waiting``, ``running``, ``done`` or ``failed``. Whoever converts one claims it first
and holds a lock file while it lives. The system frees the lock of a process that ends, however it
ends, so that nobody has to guess from process ids or clocks whether a claim still stands.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from filelock import FileLock, Timeout

from hsd_docparse.errors import StateError

FILE = ".docparse.sqlite"
LOCKS = ".docparse.locks"
MOST_ATTEMPTS = 3
"""Times that a document may end the process that converts it, within a run."""
VERSION = 1
_DOOR = "door"
"""The lock under which other locks are made and swept away, and what all jobs write is written."""
_PATIENCE = 60.0
"""Seconds to wait for another process to finish its transaction."""

_SCHEMA = """
CREATE TABLE job (folder TEXT NOT NULL);
CREATE TABLE documents (
    path TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    settings TEXT NOT NULL,
    digest TEXT,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    worker TEXT,
    writes TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    error TEXT
);
CREATE INDEX documents_by_state ON documents (state, attempts, path);
CREATE TABLE pages (
    path TEXT NOT NULL,
    number INTEGER NOT NULL,
    error TEXT,
    warnings INTEGER NOT NULL,
    PRIMARY KEY (path, number)
) WITHOUT ROWID;
CREATE TABLE files (file TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX files_by_path ON files (path);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    path TEXT NOT NULL,
    state TEXT NOT NULL,
    note TEXT NOT NULL
);
"""


class Signature(NamedTuple):
    """The quick test for a changed file: its size in bytes, and when it was written, in
    nanoseconds since 1970."""

    size: int
    mtime: int


@dataclass(frozen=True)
class Claim:
    """A document that a worker has taken. ``path`` is below the folder, ``name`` that of its output
    below OUT, without suffix; ``attempt`` is 1 where it has not ended a process yet."""

    path: str
    name: str
    signature: Signature
    settings: str
    worker: str
    attempt: int = 1


@dataclass(frozen=True)
class PageOutcome:
    """What became of a page; ``warnings`` is how many it has."""

    number: int
    error: str | None
    warnings: int


@dataclass(frozen=True)
class Outcome:
    """What became of a document. ``signature`` and ``digest`` (of the content) are those that it
    had before it was converted; None where it could not be read at all."""

    signature: Signature | None
    digest: str | None
    pages: int
    seconds: float
    error: str | None = None


class Counts(NamedTuple):
    """Documents in each state, and pages."""

    waiting: int
    running: int
    done: int
    failed: int
    pages: int
    failed_pages: int

    @property
    def documents(self) -> int:
        return self.waiting + self.running + self.done + self.failed


class Event(NamedTuple):
    """A document entered ``state``; ``note`` says why, where there is more to say."""

    id: int
    path: str
    state: str
    note: str


class Lock:
    """Held by a worker while it lives; ``token`` names it in its claims."""

    def __init__(self, out: Path) -> None:
        self.token = uuid4().hex
        self._lock = FileLock(_lock_file(out, self.token))
        with FileLock(_lock_file(out, _DOOR)):
            self._lock.acquire()

    def release(self) -> None:
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)


class State:
    """The state of the job that writes to the folder ``out``; made where it is not there. One
    thread may use it. ``opened`` is the id of the last event before. Raises `StateError` where the
    file cannot be used."""

    def __init__(self, out: Path) -> None:
        self._out = out
        (out / LOCKS).mkdir(exist_ok=True)
        try:
            self._database = sqlite3.connect(out / FILE, timeout=_PATIENCE, isolation_level=None)
            self._database.row_factory = sqlite3.Row
            with self.alone():  # two that make it fail otherwise
                self._open()
            query = "SELECT coalesce(max(id), 0) FROM events"
            self.opened = int(self._database.execute(query).fetchone()[0])
        except sqlite3.Error as error:
            raise StateError(
                f"{out / FILE} cannot be used ({error}); move it away to begin afresh."
            ) from error

    def _open(self) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            script = f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
            self._database.executescript(script)
        elif version != VERSION:
            raise StateError(
                f"{self._out / FILE} was written by another version of docparse; "
                "name another folder with -o, or move that file away."
            )

    def __enter__(self) -> State:
        return self

    def __exit__(self, *exc: object) -> None:
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other jobs of the same ``out`` from doing the same at once."""
        with FileLock(_lock_file(self._out, _DOOR)):
            yield

    def _log(self, path: str, state: str, note: str = "") -> None:
        self._database.execute(
            "INSERT INTO events (time, path, state, note) VALUES (?, ?, ?, ?)",
            (time.time(), path, state, note),
        )

    # The run as a whole

    def begin(self, folder: Path, *, force: bool = False) -> None:
        """Make this the job of ``folder``, and give what failed earlier another try, but for
        documents that ended their process too often. ``force`` tries those too, and takes over
        the results of another folder. Raises `StateError` where they are another folder's."""
        # Whoever killed the last run did not mean its documents; those come last nevertheless.
        self._database.execute(
            "UPDATE documents SET attempts = 1 WHERE attempts > 1 AND state != 'failed'"
        )
        self.release_dead()
        self._sweep()
        name = str(folder.resolve())
        with self._transaction() as database:
            row = database.execute("SELECT folder FROM job").fetchone()
            if row and row["folder"] != name and not force:
                raise StateError(
                    f"{self._out} holds the results of {row['folder']}; name another folder "
                    "with -o, or add --force."
                )
            database.execute("DELETE FROM job")
            database.execute("INSERT INTO job VALUES (?)", (name,))
            rows = database.execute(
                "UPDATE documents SET state = 'waiting', attempts = 0 "
                "WHERE state = 'failed' AND (attempts < ? OR ?) RETURNING path",
                (MOST_ATTEMPTS, force),
            )
            for row in rows.fetchall():
                self._log(row["path"], "waiting", "failed earlier")

    def plan(self, found: Iterable[tuple[str, str, Signature]], settings: str) -> None:
        """Have documents converted that are new, or have another output name, signature or
        settings than before. ``found``: path, output name and signature of each."""
        with self._transaction() as database:
            for path, name, signature in found:
                planned = database.execute(
                    "INSERT INTO documents (path, name, size, mtime, settings, state) "
                    "VALUES (?, ?, ?, ?, ?, 'waiting') ON CONFLICT DO UPDATE SET "
                    "name = excluded.name, size = excluded.size, mtime = excluded.mtime, "
                    "settings = excluded.settings, attempts = 0, "
                    # What runs is converted again when it has finished, see `finish`.
                    "state = iif(state = 'running', 'running', 'waiting') "
                    "WHERE (name, size, mtime, settings) IS NOT "
                    "(excluded.name, excluded.size, excluded.mtime, excluded.settings) "
                    "RETURNING state",
                    (path, name, *signature, settings),
                ).fetchone()
                if planned and planned["state"] == "waiting":
                    self._log(path, "waiting", "new or changed")

    def touched(self, path: str, digest: str, signature: Signature) -> None:
        """A finished document was written again with the content that it had."""
        self._database.execute(
            "UPDATE documents SET size = ?, mtime = ? "
            "WHERE path = ? AND digest = ? AND state = 'done'",
            (*signature, path, digest),
        )

    def again(self, paths: Sequence[str], note: str) -> None:
        """Have finished documents converted once more."""
        with self._transaction() as database:
            for path in paths:
                database.execute(
                    "UPDATE documents SET state = 'waiting', attempts = 0 "
                    "WHERE path = ? AND state = 'done'",
                    (path,),
                )
                self._log(path, "waiting", note)

    def forget(self, paths: Iterable[str]) -> None:
        """Documents that are no longer there. What was written of them stays."""
        with self._transaction() as database:
            for path in paths:
                database.execute(
                    "DELETE FROM documents WHERE path = ? AND state != 'running'", (path,)
                )
                database.execute(
                    "DELETE FROM pages WHERE path = ? AND path NOT IN (SELECT path FROM documents)",
                    (path,),
                )

    # Claims

    def claim(self, worker: str, settings: str, *, fresh: bool = False) -> Claim | None:
        """Take a waiting document for the worker whose lock has the token ``worker``; None when
        none waits under these settings. Documents that ended a process come last, and are left
        alone with ``fresh``."""
        most = 0 if fresh else MOST_ATTEMPTS
        waiting = (
            "SELECT 1 FROM documents "
            "WHERE state = 'waiting' AND settings = ? AND attempts <= ? LIMIT 1"
        )
        if not self._database.execute(waiting, (settings, most)).fetchone():
            return None
        with self._transaction() as database:
            row = database.execute(
                "UPDATE documents SET state = 'running', worker = ?, writes = name, "
                "attempts = attempts + 1, pages = 0, seconds = 0, error = NULL "
                "WHERE path = (SELECT path FROM documents AS it "
                "WHERE state = 'waiting' AND settings = ? AND attempts <= ? AND NOT EXISTS "
                # The name may be that of a document which has since been given another one.
                "(SELECT 1 FROM documents WHERE state = 'running' AND writes = it.name) "
                "ORDER BY attempts, path LIMIT 1) RETURNING path, name, size, mtime, attempts",
                (worker, settings, most),
            ).fetchone()
            if row is None:
                return None
            path, name, size, mtime, attempt = row
            database.execute("DELETE FROM pages WHERE path = ?", (path,))
            self._log(path, "running")
        return Claim(path, name, Signature(size, mtime), settings, worker, attempt)

    def add_page(self, claim: Claim, page: PageOutcome) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?)",
            (claim.path, page.number, page.error, page.warnings),
        )

    def finish(self, claim: Claim, outcome: Outcome) -> None:
        """The claimed document is done or failed; it waits again where it was planned anew, with
        other settings or a changed file, while it ran."""
        size, mtime = outcome.signature or claim.signature
        with self._transaction() as database:
            row = database.execute(
                "UPDATE documents SET worker = NULL, writes = NULL, pages = ?, seconds = ?, "
                "error = ?, digest = ?, state = iif((name, size, mtime, settings) = (?, ?, ?, ?), "
                "?, 'waiting') WHERE path = ? AND state = 'running' AND worker = ? "
                "RETURNING state",
                (
                    *(outcome.pages, outcome.seconds, outcome.error, outcome.digest),
                    *(claim.name, *claim.signature, claim.settings),
                    *("failed" if outcome.error else "done", claim.path, claim.worker),
                ),
            ).fetchone()
            if row is None:
                return  # forgotten, or another's by now
            if row["state"] != "waiting":
                database.execute(
                    "UPDATE documents SET size = ?, mtime = ? WHERE path = ?",
                    (size, mtime, claim.path),
                )
            self._log(claim.path, row["state"], outcome.error or "")

    def release(self, claim: Claim) -> None:
        """Give a document back that was not finished, through no fault of its own."""
        self._end_claims(claim.worker, blame=False, path=claim.path)

    def release_dead(self, *, blame: bool = True) -> None:
        """Release the claims of workers that are gone, and remove what they had half written.
        With ``blame`` a document that has ended `MOST_ATTEMPTS` of them has failed."""
        rows = self._database.execute(
            "SELECT DISTINCT worker FROM documents WHERE state = 'running'"
        )
        for (worker,) in rows.fetchall():
            lock = FileLock(_lock_file(self._out, worker))
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            self._end_claims(worker, blame=blame)
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove the lock files of workers that died idle."""
        with self.alone():
            for path in (self._out / LOCKS).iterdir():
                if path.name != _DOOR:
                    with suppress(Timeout), FileLock(path, timeout=0):
                        path.unlink()

    def _end_claims(self, worker: str, *, blame: bool, path: str | None = None) -> None:
        with self._transaction() as database:
            rows = database.execute(
                "UPDATE documents SET worker = NULL, writes = NULL, attempts = attempts - ?, "
                "state = iif(? AND attempts >= ?, 'failed', 'waiting') "
                "WHERE state = 'running' AND worker = ? AND path = coalesce(?, path) "
                "RETURNING path, state, attempts",
                (not blame, blame, MOST_ATTEMPTS, worker, path),
            ).fetchall()
            for path, state, attempts in rows:
                note = f"ended its process, attempt {attempts}" if blame else "stopped"
                if state == "failed":
                    note = (
                        f"it ended the process that converted it {attempts} times, and was given up"
                    )
                    query = "UPDATE documents SET error = ? WHERE path = ?"
                    database.execute(query, (note, path))
                self._log(path, state, note)
                # Inside the transaction: the next to claim it writes files of the same names.
                for (file,) in database.execute("SELECT file FROM files WHERE path = ?", (path,)):
                    (self._out / f"{file}.part").unlink(missing_ok=True)

    # What was written

    def own(self, path: str, files: Iterable[str]) -> None:
        """Say before they are written that ``files``, below OUT, come from the document."""
        with self._transaction() as database:
            database.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?)", [(file, path) for file in files]
            )

    def owns(self, file: str) -> bool:
        query = "SELECT 1 FROM files WHERE file = ?"
        return self._database.execute(query, (file,)).fetchone() is not None

    # Asking

    def counts(self) -> Counts:
        query = "SELECT state, count(*) FROM documents GROUP BY state"
        states = dict(self._database.execute(query).fetchall())
        query = "SELECT count(*), count(error) FROM pages"
        pages, failed = self._database.execute(query).fetchone()
        waiting, running, done, failures = (
            states.get(state, 0) for state in ("waiting", "running", "done", "failed")
        )
        return Counts(waiting, running, done, failures, pages, failed)

    def is_settled(self, settings: str) -> bool:
        """Whether nothing runs, and nothing waits under ``settings``."""
        query = (
            "SELECT 1 FROM documents WHERE state = 'running' "
            "OR (state = 'waiting' AND settings = ?) LIMIT 1"
        )
        return self._database.execute(query, (settings,)).fetchone() is None

    def documents(self) -> Iterator[sqlite3.Row]:
        """All documents in the order of their paths, with the columns of the table."""
        yield from self._database.execute("SELECT * FROM documents ORDER BY path")

    def failed_pages(self, path: str) -> list[tuple[int, str]]:
        query = "SELECT number, error FROM pages WHERE path = ? AND error IS NOT NULL"
        return [(number, error) for number, error in self._database.execute(query, (path,))]

    def warnings(self, path: str) -> int:
        query = "SELECT coalesce(sum(warnings), 0) FROM pages WHERE path = ?"
        (count,) = self._database.execute(query, (path,)).fetchone()
        return int(count)

    def events(self, after: int = 0) -> list[Event]:
        """What happened, oldest first, after the event with that id."""
        query = "SELECT id, path, state, note FROM events WHERE id > ? ORDER BY id"
        return [Event(*row) for row in self._database.execute(query, (after,))]


def _lock_file(out: Path, token: str) -> str:
    return str(out / LOCKS / token)
