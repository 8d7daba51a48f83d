"""
Serving with ONNX
=================

``import tabstretch.onnx`` teaches skl2onnx to convert a stretch, alone or in a pipeline. What comes out runs
wherever ONNX does, without Python or scikit-learn. ONNX has no search in sorted arrays: the graph finds the
bin of a value by bisection, so that many bins cost little more than few.
"""

# %%
# A pipeline, converted: the model of floats, as it would be served, and the predictions of both.

import time

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import skl2onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline

import tabstretch.onnx  # noqa: F401  # registers the converters
from tabstretch import StretchTransformer, SupervisedStretchTransformer

rng = np.random.default_rng(0)
X = rng.lognormal(size=(4000, 4)).astype(np.float32)
y = np.tanh(2 * (X[:, 0] - 1)) + 0.1 * X[:, 1] + 0.1 * rng.normal(size=len(X))


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


stretch = SupervisedStretchTransformer(variation="within_fold")
pipe = make_pipeline(stretch, MLPRegressor(early_stopping=True, random_state=0)).fit(X, y)
served = session(skl2onnx.to_onnx(pipe, X[:1])).run(None, {"X": X})[0].ravel()
print(f"largest difference of predictions: {np.abs(served - pipe.predict(X)).max():.1e}")

# %%
# The naive graph, for comparison: it adds up, over all bins, how far a value has come in each. That is as
# exact, and needs a number for every value and every bin.


def naive_model(stretch):
    left = np.array([map_.edges[:-1] for map_ in stretch.maps_])
    length = np.array([np.diff(map_.edges) for map_ in stretch.maps_])
    slope = np.array([np.diff(map_.values) for map_ in stretch.maps_]) / length
    constants = {"axis": np.array([2]), "left": left, "length": length, "slope": slope, "zero": np.zeros(1)}
    nodes = [
        helper.make_node("Unsqueeze", ["X", "axis"], ["x"]),
        helper.make_node("Sub", ["x", "left"], ["beyond"]),
        helper.make_node("Max", ["beyond", "zero"], ["come"]),
        helper.make_node("Min", ["come", "length"], ["inside"]),
        helper.make_node("Mul", ["inside", "slope"], ["parts"]),
        helper.make_node("ReduceSum", ["parts", "axis"], ["Y"], keepdims=0),
    ]
    place = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, len(left)]) for name in "XY"]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "naive", place[:1], place[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


# %%
# Both on one thread, best of five, with more and more bins.


def nanoseconds_per_value(run):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run.run(None, {"X": rows})
        times.append(time.perf_counter() - start)
    return min(times) / rows.size * 1e9


rows = X[:1000].astype(np.float64)
all_bins = [4, 16, 64, 256, 1024]
costs = {"bisection": [], "naive": []}
for n_bins in all_bins:
    stretch = StretchTransformer(n_bins).fit(X.astype(np.float64))
    for name, model in {
        "bisection": skl2onnx.to_onnx(stretch, rows[:1]),
        "naive": naive_model(stretch),
    }.items():
        run = session(model)
        difference = np.abs(run.run(None, {"X": rows})[0] - stretch.transform(rows)).max()
        costs[name].append(nanoseconds_per_value(run))
        print(f"{n_bins:>5} bins, {name:<10} {costs[name][-1]:>8.0f} ns a value, difference {difference:.0e}")

# %%

figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
axis.loglog(all_bins, costs["bisection"], "o-", color="#0072B2", label="bisection, as tabstretch exports it")
axis.loglog(all_bins, costs["naive"], "s--", color="#E69F00", label="naive: every value against every bin")
axis.set(title="a stretch in onnxruntime, one thread", xlabel="bins", ylabel="nanoseconds a value")
axis.set_xticks(all_bins, all_bins, minor=False)
axis.minorticks_off()
axis.legend()
plt.show()

# %%
# The served outputs equalled those of scikit-learn but for rounding; the naive graph was as fast or faster
# with few bins, and far slower with many, where the bisection cost little more.
