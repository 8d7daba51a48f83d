"""Take a fitted stretch to PyTorch: a layer that does the transform on tensors, and may learn on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tabstretch._base import strictly_increasing
from tabstretch._extras import import_extra
from tabstretch._monotone import MonotoneMap
from tabstretch._tables import PieceTable, fitted_stretch, piece_table

torch = import_extra("torch", "torch")
Module: Any = torch.nn.Module

__all__ = ["StretchLayer"]

_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_EXPONENT = 709.0  # of e, whose power is a float


class DoubleModule(Module):
    """A module whose buffers of numbers stay float64 when it changes its type; its parameters follow."""

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        tables = {id(buffer) for buffer in self.buffers(recurse=False)}

        def apply(tensor: Any) -> Any:
            changed = fn(tensor)
            if id(tensor) in tables and changed.dtype != tensor.dtype:
                return tensor.to(changed.device)
            return changed

        return super()._apply(apply, recurse)


class StretchLayer(DoubleModule):
    """The transform of a fitted stretch, as a layer of a network.

    It takes tensors of shape (..., n_features) of any floating type and returns (..., n_outputs) of the
    same type, with the outputs in the order of the estimator's `get_feature_names_out`. NaN stays NaN.
    Gradients flow to the input, by the slope of the piece it is in.

    The work is done in float64 whatever the type of the input, and the tables stay float64 when the network
    changes its type: the output is the estimator's but for rounding. (Apple's GPUs have no float64: keep the
    layer on the CPU there.)

    Make it from an estimator with `from_estimator`.

    Parameters
    ----------
    maps : sequence of MonotoneMap
        The map of each output column: all views of the first input column, then of the second, and so on.
    n_views : int, default=1
        How many outputs each input column has.
    learnable : bool, default=False
        Whether the widths of the bins are parameters: `table.shift` is added to the logarithms of the fitted
        widths, and a softmax makes widths of them. It starts at zero, that is at the fitted stretch,
        and weight decay pulls it back there. The maps stay increasing and keep their ends.

    Examples
    --------
    >>> import torch
    >>> from tabstretch import StretchTransformer
    >>> from tabstretch.torch import StretchLayer
    >>> stretch = StretchTransformer(n_bins=2, value_weight=0).fit([[0.0], [1.0], [9.0]])
    >>> layer = StretchLayer.from_estimator(stretch)
    >>> layer(torch.tensor([[0.5], [5.0], [float("nan")]]))
    tensor([[0.2500],
            [0.7500],
            [   nan]])
    """

    def __init__(self, maps: Sequence[MonotoneMap], *, n_views: int = 1, learnable: bool = False) -> None:
        super().__init__()
        if n_views < 1 or len(maps) == 0 or len(maps) % n_views:
            raise ValueError(f"maps must be {n_views} for each input column, got {len(maps)}")
        layout = piece_table(maps)
        self.n_features = len(maps) // n_views
        self.n_views = n_views
        self.out_of_range = [map_.out_of_range for map_ in maps]
        self.has_values = [len(map_.edges) > 0 for map_ in maps]
        first_piece = np.arange(len(maps)) * layout.edges.shape[1]
        self.register_buffer("edges", torch.from_numpy(layout.edges))
        self.register_buffer("first_piece", torch.from_numpy(first_piece[:, None]), persistent=False)
        for name in ("low", "high", "edge_scale", "output_scale"):
            self.register_buffer(name, torch.from_numpy(getattr(layout, name)[:, None]))
        self.table = LearnableTable(layout) if learnable else FixedTable(layout)

    @classmethod
    def from_estimator(cls, estimator: Any, *, learnable: bool = False) -> Self:
        """Make the layer of a fitted estimator.

        Parameters
        ----------
        estimator : StretchTransformer, SupervisedStretchTransformer or TableStretch
            Fitted. Of a table, the layer takes the numeric columns alone.
        learnable : bool, default=False
            Whether the widths of the bins are parameters.
        """
        stretch = fitted_stretch(estimator)
        return cls(stretch.maps_, n_views=len(stretch.views_), learnable=learnable)

    def forward(self, x: Any) -> Any:
        """Return the stretched columns of `x`."""
        if not isinstance(x, torch.Tensor):
            raise TypeError(
                f"x must be a tensor, got {type(x).__name__}: torch.as_tensor(x) makes one of an array, "
                "torch.as_tensor(x.to_numpy()) of a data frame"
            )
        if x.ndim == 0 or x.shape[-1] != self.n_features or not x.is_floating_point():
            raise ValueError(
                f"x must be a floating-point tensor of shape (..., {self.n_features}), "
                f"got {x.dtype} of shape {tuple(x.shape)}"
            )
        # Columns first: each has its own edges to search.
        columns = x.reshape(-1, self.n_features).t().contiguous().double()
        if self.n_views > 1:
            columns = columns.repeat_interleave(self.n_views, dim=0)
        missing = columns.isnan()
        # NaN takes a detour, or its gradient would be NaN where the output is masked later.
        inputs = torch.where(missing, self.edges[:, :1], columns * self.edge_scale).clamp(self.low, self.high)
        piece = (torch.searchsorted(self.edges, inputs.detach(), right=True) - 1).clamp(min=0)
        pieces = torch.nn.functional.embedding(piece + self.first_piece, self.table().flatten(0, 1))
        left, value, slope, right = pieces.unbind(-1)
        outputs = value + (inputs - left) * slope
        # The smaller of the two, but always with the gradient of the slope.
        outputs = torch.where(outputs > right, right + (outputs - outputs.detach()), outputs)
        limits = torch.finfo(x.dtype)
        outputs = (outputs * self.output_scale).clamp(limits.min, limits.max)
        outputs = torch.where(missing, torch.nan, outputs).to(x.dtype)
        return outputs.t().reshape(*x.shape[:-1], len(self.edges)).contiguous()

    def maps(self) -> list[MonotoneMap]:
        """Return the map of each output column as it is now, after whatever was learned."""
        tensors = (self.edges, self.table()[..., 1], self.edge_scale, self.output_scale)
        arrays = (tensor.numpy(force=True) for tensor in tensors)
        maps = []
        for mode, has_values, edges, values, edge_scale, output_scale in zip(
            self.out_of_range, self.has_values, *arrays, strict=True
        ):
            kept = np.isfinite(edges)
            outputs = strictly_increasing(values[kept] * output_scale)
            # Edges that scaling has made equal, the smallest numbers beside the largest, become neighbours.
            inputs = strictly_increasing(edges[kept] / edge_scale) if has_values else edges[:0]
            maps.append(MonotoneMap(inputs, outputs, mode))
        return maps

    def extra_repr(self) -> str:
        """Return sizes, for printing."""
        return f"n_features={self.n_features}, n_views={self.n_views}"


class FixedTable(DoubleModule):
    """Pieces that stay as they are."""

    def __init__(self, layout: PieceTable) -> None:
        super().__init__()
        self.register_buffer("bins", torch.from_numpy(layout.bins))

    def forward(self) -> Any:
        """Return the left edge, its output, the slope and the right output of every piece."""
        return self.bins


class LearnableTable(DoubleModule):
    """Pieces whose widths are parameters."""

    def __init__(self, layout: PieceTable) -> None:
        super().__init__()
        left, value, slope, right = np.moveaxis(layout.bins, -1, 0)
        last = layout.n_bins[:, None]
        number = np.arange(left.shape[1])
        bin_ = np.clip(np.minimum(number, last - 1), 0, None)  # past the last edge its slope goes on
        span = np.take_along_axis(value, last, axis=1) - value[:, :1]
        rises = np.diff(value, axis=1, append=value[:, -1:])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log_widths = np.where(number < last, np.log(rises / span), -np.inf)
        log_widths[last[:, 0] == 0] = 0.0  # a constant has no bins; its softmax must be a number all the same
        buffers = {
            "left": left,
            "start": value[:, :1],
            "span": span,
            "end": value[:, -1:],
            "past_end": number >= last,
            "right_end": right[:, -1:],
            "bin": bin_,
            "log_widths": log_widths,
            "slopes": slope,
        }
        for name, array in buffers.items():
            self.register_buffer(name, torch.from_numpy(np.ascontiguousarray(array)))
        self.shift = torch.nn.Parameter(torch.zeros(log_widths.shape))

    def forward(self) -> Any:
        """Return the left edge, its output, the slope and the right output of every piece."""
        # A softmax and its running sum, in one: torch.compile (2.13, on CPUs) gets the gradient of
        # softmax(...).cumsum(...) wrong, mixing up rows.
        shift = self.shift.double()
        logits = self.log_widths + shift
        largest = logits.amax(dim=1, keepdim=True).detach()
        sums = (logits - largest).exp().cumsum(dim=1)
        total = sums[:, -1:]
        values = torch.cat([self.start, self.start + self.span * (sums / total)[:, :-1]], dim=1)
        values = torch.where(self.past_end, self.end, values.clamp(max=self.end))
        # By how much each bin has grown. (The slope for each unit of its width overflows in the shortest.)
        growth = (shift - largest).gather(1, self.bin).clamp(max=_LARGEST_EXPONENT).exp() / total
        slopes = (self.slopes * growth).clamp(max=_LARGEST)
        rights = torch.cat([values[:, 1:], values[:, -1:]], dim=1)
        rights = torch.where(self.past_end, self.right_end, rights)
        return torch.stack([self.left, values, slopes, rights], dim=-1)
