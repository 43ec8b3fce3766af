"""Workers of a folder job as processes of this machine, which share nothing but its state."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress

from hsd_docparse.batch import Job, work
from hsd_docparse.errors import StateError
from hsd_docparse.isolation import python
from hsd_docparse.state import MOST_ATTEMPTS, State

PROGRAM = "from hsd_docparse.processes import main; main()"
GRACE = 10.0
"""Seconds that workers have to finish their page when the job is stopped."""


class Processes:
    """``count`` workers. They are started with a plain command, as in `hsd_docparse.isolation`,
    and end with their input, so that none outlives this process by more than a page."""

    def __init__(self, job: Job, count: int) -> None:
        self._job = job
        self._count = count
        self._workers: list[subprocess.Popen[bytes]] = []
        self._lost = 0
        self._finished = 0

    def step(self, state: State) -> None:
        """Start workers for those that are missing, when there is something to do. Raises
        `StateError` when they end again and again without finishing anything."""
        ended = [worker for worker in self._workers if worker.poll() is not None]
        self._workers = [worker for worker in self._workers if worker not in ended]
        state.release_dead()
        if ended:
            counts = state.counts()
            finished = counts.done + counts.failed
            self._lost = len(ended) + (self._lost if finished == self._finished else 0)
            self._finished = finished
            # Each of them may have met a document that ends its process, and meet it again.
            if self._lost > MOST_ATTEMPTS * self._count:
                raise StateError(
                    f"The workers end before they convert anything (exit status "
                    f"{ended[-1].returncode}); --debug shows what they say."
                )
        if not state.is_settled(self._job.digest):
            while len(self._workers) < self._count:
                self._workers.append(self._start())

    def _start(self) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            python(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None if self._job.debug else subprocess.DEVNULL,
            bufsize=0,
        )
        assert worker.stdin is not None
        with suppress(BrokenPipeError):  # it is gone, which the next step sees
            worker.stdin.write(pickle.dumps(self._job))
        return worker

    def stop(self) -> None:
        for worker in self._workers:
            assert worker.stdin is not None
            worker.stdin.close()
        end = time.monotonic() + GRACE
        for worker in self._workers:
            try:
                worker.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


def main() -> None:
    # Whoever stops the command stops the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    job: Job = pickle.load(sys.stdin.buffer)
    stopped = threading.Event()

    def listen() -> None:
        os.read(sys.stdin.fileno(), 1)  # returns when the other end is closed
        stopped.set()

    threading.Thread(target=listen, daemon=True).start()
    if job.debug:
        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("hsd_docparse").setLevel(logging.DEBUG)
    else:
        warnings.simplefilter("ignore")
    work(job, stopped)
