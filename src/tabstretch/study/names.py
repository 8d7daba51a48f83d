"""The names that plans use, importable without PyTorch or Optuna."""

from __future__ import annotations

MODELS = ("mlp", "mlp_plr", "resnet", "ftt", "realmlp")

PAPERS_TRANSFORMATIONS = (
    "stretch_sup",
    "stretch_unsup",
    "minmax",
    "ple",
    "ple_t",
    "quantile",
    "rs_sc",
    "standard",
    "yeo_johnson",
)
OUR_TRANSFORMATIONS = ("stretch_within", "stretch_anchored", "stretch_conditional", "stretch_views")
TRANSFORMATIONS = PAPERS_TRANSFORMATIONS + OUR_TRANSFORMATIONS
