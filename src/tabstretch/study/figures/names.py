"""How transformations, models, metrics and groups are called where people read them."""

from __future__ import annotations

DISPLAY_NAMES = {
    "stretch_sup": "Stretch (supervised)",
    "stretch_unsup": "Stretch (unsupervised)",
    "minmax": "Min-max",
    "ple": "PLE",
    "ple_t": "PLE-T",
    "quantile": "Quantile",
    "rs_sc": "RS-SC",
    "standard": "Standard",
    "yeo_johnson": "Yeo-Johnson",
    "stretch_within": "Stretch (within folds)",
    "stretch_anchored": "Stretch (anchored)",
    "stretch_conditional": "Stretch (conditional)",
    "stretch_views": "Stretch (three views)",
    "mlp": "MLP",
    "mlp_plr": "MLP-PLR",
    "resnet": "ResNet",
    "ftt": "FT-Transformer",
    "realmlp": "RealMLP",
    "accuracy": "Accuracy",
    "avg_recall": "Average recall",
    "f1": "F1",
    "auc": "AUC",
    "r2": "R²",
    "mae": "MAE",
    "rmse": "RMSE",
    "overall_score": "Overall score",
    "classification_score": "Classification score",
    "regression_score": "Regression score",
    "balanced": "Balanced",
    "category_dominant": "Category dominant",
    "numeric_dominant": "Numeric dominant",
    "all": "All",
    "classification": "Classification",
    "regression": "Regression",
}


def display_name(name: str) -> str:
    """Return the name to print; names of one's own stay as they are."""
    return DISPLAY_NAMES.get(name, name)
