"""Drafting while the target verifies (PEARL, arXiv 2408.11850)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from hsd_docparse.speculative.drafters.model import ModelDrafter
from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.tree import DraftTree


class Ahead:
    """Lets ``drafter`` go on drafting in a thread while its last draft is verified.

    If the whole draft is accepted and the bonus is what was drafted ahead, the next proposal is
    there already (the paper's post-verify phase); otherwise it is taken back like any rejected
    draft. ``most`` atoms are drafted ahead: about as many as one target call takes time for.
    Both models compute at once, so this pays where each leaves cores to the other.
    """

    def __init__(self, drafter: ModelDrafter, most: int = 4) -> None:
        self.drafter = drafter
        self.most = most
        self.thread = ThreadPoolExecutor(1)
        self.working: Future[None] | None = None

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        self._wait()
        tree = self.drafter.propose(output, budget)
        end = len(output) + len(tree) + self.most
        self.working = self.thread.submit(self.drafter.extend, end)
        return tree

    def observe(self, outcome: Outcome[int]) -> None:
        self.drafter.observe(outcome)

    def close(self) -> None:
        self._wait()
        self.thread.shutdown()
        self.drafter.close()

    def _wait(self) -> None:
        if self.working is not None:
            self.working.result()
            self.working = None
