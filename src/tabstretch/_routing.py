"""Pass metadata on to the splitter that makes the folds."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing


class SplitterRouting:
    """Routing of metadata for an estimator whose `cv` may be a splitter."""

    cv: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata: `sample_weight` is our own, the splitter gets its own."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        if hasattr(self.cv, "split"):
            mapping = MethodMapping()
            mapping.add(caller="fit", callee="split").add(caller="fit_transform", callee="split")
            router.add(splitter=self.cv, method_mapping=mapping)
        return router

    def _split_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what goes to the splitter: routed if routing is on, else the groups."""
        given = {name: value for name, value in params.items() if value is not None}
        if given and get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **given)
            return dict(routed["splitter"]["split"]) if "splitter" in routed else given
        unknown = sorted(set(given) - {"groups"})
        if unknown:
            raise TypeError(f"{type(self).__name__}.fit() got unexpected arguments {unknown}")
        return given
