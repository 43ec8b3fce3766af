"""Verifiers: from the target's scores to what is emitted."""

from hsd_docparse.speculative.verifiers.ensemble import Ensemble
from hsd_docparse.speculative.verifiers.entropy_aware import EntropyAware
from hsd_docparse.speculative.verifiers.greedy import Greedy
from hsd_docparse.speculative.verifiers.held_back import HeldBack
from hsd_docparse.speculative.verifiers.lenient import KlJudge, Margin, Tolerance, TopK
from hsd_docparse.speculative.verifiers.mixture import Mixture
from hsd_docparse.speculative.verifiers.sampling import Sampling

__all__ = [
    "Ensemble", "EntropyAware", "Greedy", "HeldBack", "KlJudge", "Margin", "Mixture", "Sampling",
    "Tolerance", "TopK",
]  # fmt: skip
