"""Networks of the layout pipeline on OpenVINO."""

from __future__ import annotations

from typing import Any


def compile_network(model: Any, threads: int = 0) -> Any:
    """``model``, a path or an OpenVINO model, in bfloat16 where the processor has it.
    ``threads``: 0 for as many as there are cores."""
    import openvino as ov

    core = ov.Core()
    settings: dict[str, Any] = {
        "PERFORMANCE_HINT": "LATENCY",
        # Every page has a size of its own: kernels kept for past sizes only take memory.
        "CPU_RUNTIME_CACHE_CAPACITY": "0",
    }
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        settings["INFERENCE_PRECISION_HINT"] = "bf16"
    return core.compile_model(model, "CPU", settings)
