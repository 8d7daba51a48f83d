"""Take a fitted stretch to ONNX: importing this module teaches skl2onnx to convert it.

The graph works on all columns at once and finds the piece of each value by bisection: each step is a look-up
in one table of all edges, so that its cost grows with the logarithm of the number of bins. It works in double
precision whatever the type of the input, and uses no operator newer than opset 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tabstretch._extras import import_extra
from tabstretch._monotone import careful_slopes
from tabstretch._tables import PieceTable, piece_table
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer

skl2onnx = import_extra("skl2onnx", "onnx")
data_types = import_extra("skl2onnx.common.data_types", "onnx")
numpy_helper = import_extra("onnx.numpy_helper", "onnx")
TensorProto = import_extra("onnx", "onnx").TensorProto

__all__: list[str] = []


class Graph:
    """A graph to which nodes are added one after the other."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def add(
        self, kind: str, *inputs: str | NDArray[Any], output: str | None = None, **attributes: Any
    ) -> str:
        """Add a node, whose inputs are names or constants, and return the name of its output."""
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        output = output or self._scope.get_unique_variable_name(kind.lower())
        self._container.add_node(
            kind, names, [output], name=self._scope.get_unique_operator_name(kind), **attributes
        )
        return output

    def _constant(self, array: NDArray[Any]) -> str:
        name = self._scope.get_unique_variable_name("constant")
        tensor = numpy_helper.from_array(np.ascontiguousarray(array))
        self._container.add_initializer(name, tensor.data_type, list(array.shape), tensor)
        return str(name)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the transform of a fitted stretch to a graph."""
    stretch, graph = operator.raw_operator, Graph(scope, container)
    table = piece_table(stretch.maps_)
    parts = [graph.add("Cast", part.full_name, to=TensorProto.DOUBLE) for part in operator.inputs]
    inputs = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    if len(stretch.views_) > 1:
        columns = np.repeat(np.arange(stretch.n_features_in_), len(stretch.views_))
        inputs = graph.add("Gather", inputs, columns, axis=1)
    outputs = _stretched(graph, inputs, table)
    result = operator.outputs[0]
    double = isinstance(result.type, data_types.DoubleTensorType)
    if np.isinf(table.high).any():  # extrapolated outputs may be too large for their type
        largest = np.full(1, np.finfo(np.float64 if double else np.float32).max, dtype=np.float64)
        outputs = graph.add("Max", graph.add("Min", outputs, largest), -largest)
    outputs = graph.add("Where", graph.add("IsNaN", inputs), inputs, outputs)
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    graph.add("Cast", outputs, output=result.full_name, to=kind)


def _stretched(graph: Graph, inputs: str, table: PieceTable) -> str:
    """Add the pieces of all columns; what becomes of NaN does not matter."""
    inputs = _scaled(graph, inputs, table.edge_scale)
    inputs = graph.add("Max", graph.add("Min", inputs, table.high[None]), table.low[None])
    piece, n_slots = _find_piece(graph, inputs, table)
    missing = n_slots - table.bins.shape[1]
    bins = table.bins.copy()
    for map_bins, n_bins in zip(bins, table.n_bins, strict=True):
        map_bins[:n_bins, 2] = careful_slopes(map_bins[: n_bins + 1])
    bins = np.pad(bins, [(0, 0), (0, missing), (0, 0)], mode="edge").reshape(-1, 4)
    left, value, slope = (graph.add("Gather", column, piece, axis=0) for column in bins.T[:3])
    outputs = graph.add("Add", value, graph.add("Mul", graph.add("Sub", inputs, left), slope))
    return _scaled(graph, outputs, table.output_scale)


def _scaled(graph: Graph, numbers: str, scale: NDArray[np.float64]) -> str:
    return numbers if np.all(scale == 1.0) else graph.add("Mul", numbers, scale[None])


def _find_piece(graph: Graph, inputs: str, table: PieceTable) -> tuple[str, int]:
    """Add a bisection; return the place of each input's piece in the flattened table, and its row length."""
    n_maps, n_pieces = table.edges.shape
    n_steps = int(np.ceil(np.log2(n_pieces)))
    n_slots = 2**n_steps
    edges = np.pad(table.edges, [(0, 0), (0, n_slots - n_pieces)], constant_values=np.inf).ravel()
    piece: Any = n_slots * np.arange(n_maps)[None]
    for step in range(n_steps):
        further = graph.add("Add", piece, np.array(n_slots >> (step + 1)))
        below = graph.add("Less", inputs, graph.add("Gather", edges, further, axis=0))
        piece = graph.add("Where", below, piece, further)
    return piece, n_slots


def shape(operator: Any) -> None:
    """Declare the type and the shape of the output."""
    stretch, first = operator.raw_operator, operator.inputs[0]
    check_is_fitted(stretch, "maps_")
    if any(isinstance(part.type, data_types.StringTensorType) for part in operator.inputs):
        raise ValueError(f"{type(stretch).__name__} takes numbers, the input has text")
    n_columns = sum(part.type.shape[1] or 0 for part in operator.inputs if len(part.type.shape) == 2)
    if n_columns not in (0, stretch.n_features_in_):
        raise ValueError(
            f"{type(stretch).__name__} was fitted on {stretch.n_features_in_} columns, "
            f"the input has {n_columns}"
        )
    double = any(isinstance(part.type, data_types.DoubleTensorType) for part in operator.inputs)
    kind = data_types.DoubleTensorType if double else data_types.FloatTensorType
    operator.outputs[0].type = kind([first.type.shape[0], len(stretch.maps_)])


for _class in (StretchTransformer, SupervisedStretchTransformer):
    skl2onnx.update_registered_converter(_class, f"Tabstretch{_class.__name__}", shape, convert)
