"""The general speculative core: drafting and verifying, for any modality.

It imports nothing of the rest of the package and knows no page and no pixel. Start with
`interfaces` (the words) and `engine` (the loop).

    from hsd_docparse.speculative import MaxLength, PromptLookup, generate
    from hsd_docparse.targets.language_model import LanguageModel

    target = LanguageModel(model)  # any causal language model of transformers
    prompt = tokenizer("...").input_ids
    request = generate(target, prompt, PromptLookup(prompt), [MaxLength(200)])
    request.output, request.lossless, request.statistics
"""

from hsd_docparse.speculative.controllers import (
    CostModel,
    Doubling,
    EntropyStop,
    Fixed,
    RejectionThreshold,
)
from hsd_docparse.speculative.drafters import (
    Ahead,
    AlignedText,
    CopySpec,
    ModelDrafter,
    NoDraft,
    Pool,
    PromptLookup,
    Resume,
    SuffixDecoding,
    SuffixTree,
    WeighedText,
)
from hsd_docparse.speculative.engine import Request, Statistics, Stream, generate, run, step, stream
from hsd_docparse.speculative.interfaces import (
    Budget,
    Controller,
    Drafter,
    Observer,
    Outcome,
    Processor,
    Rewindable,
    Scheduler,
    Scores,
    Seconds,
    Stop,
    Target,
    Verdict,
    Verifier,
)
from hsd_docparse.speculative.laws import Dense, Density, Gaussian, Law, Peaked, Point, couple
from hsd_docparse.speculative.processors import FrequencyPenalty, RepetitionPenalty, Vocabulary
from hsd_docparse.speculative.sampling import Sampler
from hsd_docparse.speculative.schedulers import FirstCome, SameLength
from hsd_docparse.speculative.stops import Loop, MaxLength, StopStrings, StopTokens
from hsd_docparse.speculative.tree import DraftTree
from hsd_docparse.speculative.verifiers import (
    Ensemble,
    EntropyAware,
    Greedy,
    HeldBack,
    KlJudge,
    Margin,
    Mixture,
    Sampling,
    Tolerance,
    TopK,
)

__all__ = [
    "Ahead", "AlignedText", "Budget", "Controller", "CopySpec", "CostModel", "Dense", "Density",
    "Doubling", "DraftTree", "Drafter", "Ensemble", "EntropyAware", "EntropyStop", "FirstCome",
    "Fixed", "FrequencyPenalty", "Gaussian", "Greedy", "HeldBack", "KlJudge", "Law", "Loop",
    "Margin", "MaxLength", "Mixture", "ModelDrafter", "NoDraft", "Observer", "Outcome", "Peaked",
    "Point", "Pool", "Processor", "PromptLookup", "RejectionThreshold", "RepetitionPenalty",
    "Request", "Resume", "Rewindable", "SameLength", "Sampler", "Sampling", "Scheduler", "Scores",
    "Seconds", "Statistics", "Stop", "StopStrings", "StopTokens", "Stream", "SuffixDecoding",
    "SuffixTree", "Target", "Tolerance", "TopK", "Verdict", "Verifier", "Vocabulary",
    "WeighedText", "couple", "generate", "run", "step", "stream",
]  # fmt: skip
