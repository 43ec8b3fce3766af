"""Drafts files in processes of their own, so that native code which crashes, hangs or eats all
memory costs one page.

Child processes are started with a plain command and not by `multiprocessing`, which would run
the caller's own program again.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Generator
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread

from hsd_docparse.document import Page
from hsd_docparse.errors import InputError
from hsd_docparse.worker import NEXT, Answer, Drafted, Ended, Job

PROGRAM = "from hsd_docparse.worker import main; main()"
_ALLOCATION = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 20),
}
"""Has glibc give freed memory back, which it keeps in pieces otherwise."""
_SAFELY = ["-P"] if sys.version_info >= (3, 11) else []
"""Keeps Python from looking for modules in the current folder."""
_STARTING = 60.0
"""Seconds that a new process may take until it answers, beyond the deadline."""

_idle: list[Worker] = []
_lock = Lock()


class WorkerLostError(Exception):
    """A worker took too long, or died; ``str(error)`` says which. ``killed``: by somebody else, who
    was short of memory perhaps, and not by what it read."""

    def __init__(self, message: str, *, killed: bool = False) -> None:
        super().__init__(message)
        self.killed = killed


def python(program: str) -> list[str]:
    """The command that runs ``program`` in a new Python, which finds its modules where this process
    does, and none beside the documents."""
    path = [entry for entry in sys.path if entry]
    return [sys.executable, *_SAFELY, "-c", f"import sys; sys.path[:] = {path!r}\n{program}"]


class Worker:
    """A child process that drafts one file at a time. ``jobs`` counts what it was asked."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            python(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_ALLOCATION},
            start_new_session=True,
        )
        self._answers = SimpleQueue[Answer | Ended | None]()
        self._fresh = True
        self.jobs = 0
        Thread(target=self._listen, daemon=True).start()

    def ask(self, job: Job) -> None:
        self.jobs += 1
        self._write(pickle.dumps(job))

    def ask_next(self) -> None:
        self._write(NEXT)

    def answer(self, deadline: float) -> Answer | Ended:
        """Waits for the next answer. Raises `WorkerLostError` after ``deadline`` seconds."""
        seconds = min(deadline + (_STARTING if self._fresh else 0), TIMEOUT_MAX)
        self._fresh = False
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            raise WorkerLostError(f"took longer than {deadline:g} s") from None
        if answer is None:
            code = self._process.wait()
            killed = code == -getattr(signal, "SIGKILL", 0)
            raise WorkerLostError(f"crashed its reader (exit status {code})", killed=killed)
        return answer

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process, and what it started."""
        if self.is_alive() and hasattr(os, "killpg"):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            pass  # it is gone, which the next answer tells

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                self._answers.put(pickle.load(self._process.stdout))
        except Exception:  # also half an answer, of a process that was ended while writing
            self._answers.put(None)


def read_isolated(job: Job, deadline: float) -> Generator[Answer]:
    """As `worker.read`, in a process of its own. A page that takes longer than ``deadline``
    seconds, or during which the process dies, has its ``error`` set, and a new process reads on;
    where the process was killed it is tried once more. Raises `InputError` or `PasswordError`, also
    when opening takes too long."""
    waiting: list[int] | None = None
    retried: set[int | None] = set()  # pages; None: opening
    while waiting is None or waiting:
        if waiting is not None:
            job = replace(job, pages=waiting)
        worker = _take()
        done = False
        try:
            worker.ask(job)
            while True:
                answer = worker.answer(deadline)
                if isinstance(answer, Ended):
                    done = not answer.stale
                    if answer.error is not None:
                        raise answer.error
                    if done:
                        return
                    break
                worker.ask_next()  # to be drafted while this one is in use
                if isinstance(answer, Drafted):
                    assert waiting is not None
                    waiting.remove(answer.page.number)
                    yield answer
                elif waiting is None:
                    waiting = list(answer.selected)
                    yield answer
        except WorkerLostError as lost:
            died_idle = waiting is None and worker.jobs > 1 and not worker.is_alive()
            worker.stop()
            page = waiting[0] if waiting else None
            if died_idle:
                continue  # nothing says that it was this file's fault: a new process will
            if lost.killed and page not in retried:
                retried.add(page)
                continue
            if waiting is None:
                raise InputError(f"{job.path} {lost} while it was opened; it is damaged.") from None
            if waiting:
                number = waiting.pop(0)
                message = f"Page {number} of {job.path} {lost}, and was given up."
                yield Drafted(Page(number, 0, 0, error=message))
        finally:
            _give_back(worker) if done else worker.stop()


def _take() -> Worker:
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.is_alive():
                return worker
        return Worker()


def _give_back(worker: Worker) -> None:
    with _lock:
        _idle.append(worker)


def _forget() -> None:
    """After a fork the parent's workers are not the child's, nor is its lock."""
    global _lock
    _lock = Lock()
    _idle.clear()


@atexit.register
def _stop_all() -> None:
    with _lock:
        while _idle:
            _idle.pop().stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
