"""The general speculative core: drafting and verifying, for any modality.

It imports nothing of the rest of the package and knows no page and no pixel. Start with
`interfaces` (the words) and `engine` (the loop).
"""

from hsd_docparse.speculative.aligned_text import AlignedText, NoDraft
from hsd_docparse.speculative.controllers import Doubling, Fixed
from hsd_docparse.speculative.engine import Request, Statistics, generate, step
from hsd_docparse.speculative.interfaces import (
    Budget,
    Controller,
    Drafter,
    Observer,
    Outcome,
    Processor,
    Scores,
    Stop,
    Target,
    Verdict,
    Verifier,
)
from hsd_docparse.speculative.processors import RepetitionPenalty
from hsd_docparse.speculative.stops import Loop, MaxLength, StopTokens
from hsd_docparse.speculative.tree import DraftTree
from hsd_docparse.speculative.verifiers import Greedy

__all__ = [
    "AlignedText", "Budget", "Controller", "Doubling", "DraftTree", "Drafter", "Fixed", "Greedy",
    "Loop", "MaxLength", "NoDraft", "Observer", "Outcome", "Processor", "RepetitionPenalty",
    "Request", "Scores", "Statistics", "Stop", "StopTokens", "Target", "Verdict", "Verifier",
    "generate", "step",
]  # fmt: skip
