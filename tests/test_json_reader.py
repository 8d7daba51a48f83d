"""Reading a file: damaged, tampered with, newer or no stretch at all, it says so and names the place."""

import copy
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fitted import FRAME, Y
from fuzz import cases
from hypothesis import given
from hypothesis import strategies as st

import tabstretch
from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch
from tabstretch._json import parse_json
from tabstretch._loading import from_document
from tabstretch._saving import to_document, to_text

_X = FRAME[["normal", "ties"]]
PLAIN = to_document(StretchTransformer(3).fit(_X))
VIEWS = to_document(
    SupervisedStretchTransformer(3, variation="within_fold", output="views", cv=2).fit(_X, Y > 0)
)
TABLE = to_document(TableStretch(StretchTransformer(3)).fit(_X.assign(city="Oslo")))
DOCUMENTS = (PLAIN, VIEWS, TABLE)


def changed(place: tuple[Any, ...], value: Any, document: dict[str, Any] = PLAIN) -> dict[str, Any]:
    """The document with another value in one place."""
    document = copy.deepcopy(document)
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


EDGES = ("columns", 1, "maps", "blend", "edges")
VALUES = (*EDGES[:-1], "values")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("format",), "csv", 'not a stretch: .* "format": "tabstretch"'),
        (("version",), 2, r"written by a newer tabstretch \(format version 2\); upgrade"),
        (("version",), 0, "version must be a whole number from 1 to 1, got 0"),
        (("version",), "1", "version must be .* got '1'"),
        (("version",), True, "version must be .* got True"),
        (("colour",), 1, r"the document has keys that mean nothing: \['colour'\]"),
        (("estimator",), "Pickle", r"estimator must be one of .* got 'Pickle'"),
        (("estimator",), ["StretchTransformer"], "estimator must be one of"),
        (("parameters",), [], r"parameters must be an object, got \[\]"),
        (("parameters", "colour"), 1, "parameters has keys that mean nothing"),
        (("parameters", "n_bins"), 0, "parameters.n_bins must be a whole number from 1 to .*, got 0"),
        (("parameters", "n_bins"), 1.5, "parameters.n_bins must be a whole number .* got 1.5"),
        (("parameters", "n_bins"), [3], "n_bins must be one number for each of 2 columns"),
        (("parameters", "n_bins"), 10**30, "n_bins must be a whole number"),
        (("parameters", "n_jobs"), 0, "n_jobs must be a whole number other than 0"),
        (("parameters", "value_weight"), -1, "parameters.value_weight must be a finite number from 0"),
        (("parameters", "feature_range"), [1, 0], "feature_range must go from a smaller to a larger"),
        (("parameters", "feature_range"), "01", "feature_range must be an array"),
        (("parameters", "feature_range"), [0, 1, 2], "feature_range must be a pair"),
        (("parameters", "output"), "both", "output must be one of"),
        (("omitted",), {"teacher": "x"}, "omitted has keys that mean nothing"),
        (("omitted",), {"n_jobs": 3}, "omitted.n_jobs must be a string, got 3"),
        (("written_by",), None, "written_by must be a string"),
        (("target",), {}, "target must be null for a StretchTransformer"),
        (("table",), ["normal"], r"table must be .*the columns \['normal', 'ties'\] among them"),
        (("table",), ["normal", "ties", "ties"], "table must be an array of names that differ"),
        (("out_of_range",), "wrap", "out_of_range must be one of"),
        (("views",), ["rank"], r"views must be \['blend'\] or \['value', 'rank'\], got \['rank'\]"),
        (("views",), ["value", "rank"], r"columns\[0\] \('normal'\).maps lacks the keys \['value', 'rank'\]"),
        (("columns",), [], "columns must be an array of at least one column"),
        (("columns",), None, "columns must be an array, got None"),
        (("columns", 0, "name"), None, r"columns\[0\].name must be a string"),
        (("columns", 0, "name"), 7, r"columns\[0\].name must be a string"),
        (("columns", 1, "name"), "normal", r"columns\[1\].name must be a name that no other .* got 'normal'"),
        (("columns", 0, "fallback"), 7, r"columns\[0\] \('normal'\).fallback must be a string"),
        (EDGES, [0, 1], r"columns\[1\] \('ties'\).maps.blend: values must be as many as edges"),
        (EDGES, [3, 2, 1, 0], r"columns\[1\] \('ties'\).maps.blend: edges must be strictly increasing"),
        ((*EDGES, 2), "3", r"columns\[1\] \('ties'\).maps.blend.edges\[2\] must be a finite number, got '3'"),
        ((*EDGES, 2), True, r"edges\[2\] must be a finite number, got True"),
        ((*EDGES, 2), None, r"edges\[2\] must be a finite number, got None"),
        ((*EDGES, 2), [1], r"edges\[2\] must be a finite number"),
        ((*EDGES, 2), float("inf"), r"edges\[2\] must be a finite number, got inf"),
        ((*EDGES, 2), 10**400, r"edges\[2\] must be a finite number"),
        ((*VALUES, 1), 1.5, "values must be strictly increasing"),
        ((*VALUES, 1), 0.1, r"columns\[1\] \('ties'\).widths\[0\] does not lead to the values"),
        ((*VALUES, 0), -1, "widths.* does not lead to the values"),
        (("columns", 1, "widths"), [0.5, 0.5], r"widths must hold 3 numbers, got 2"),
        (("columns", 1, "widths"), [0.5, 0.6, 0.7], r"widths must sum to 1, got 1.8"),
        (("columns", 1, "widths"), [1.5, -0.5, 0.0], r"widths\[1\] must be a finite number from 0 to inf"),
        (("columns", 1, "row_shares"), [0, 0, 0], r"row_shares must sum to 1"),
        (("columns", 1, "row_shares"), [0, 1e308, 1e308], r"row_shares must sum to 1, got inf"),
        (("columns", 1, "variation"), [1.0], r"variation must hold 3 numbers"),
        (("columns", 1, "marginal_variation"), [], r"marginal_variation must hold 3 numbers"),
        (("columns", 1, "shrinkage"), 2, r"shrinkage must be a finite number from 0 to 1, got 2"),
        (("columns", 1, "interaction"), "high", r"interaction must be a finite number from 0 to 1"),
        (("columns", 1, "maps"), {}, r"maps lacks the keys \['blend'\]"),
    ],
)
def test_what_is_wrong_is_named(place: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_document(changed(place, value))


CLASSES = ("target", "classes")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("target",), None, "target must be an object, got None"),
        (("target", "type"), "colour", "target.type must be one of"),
        (("target", "type"), "continuous", "target.classes must be null for a continuous target"),
        (CLASSES, None, "target.classes must be an array"),
        (CLASSES, [], "target.classes must be one list of labels for a binary target"),
        ((*CLASSES, 0, "dtype"), "O8,O8", r"target.classes\[0\].dtype must be a type of labels"),
        ((*CLASSES, 0, "labels"), [1], r"target.classes\[0\].labels\[0\] must be a label of type bool"),
        (
            (*CLASSES, 0),
            {"dtype": "str", "labels": ["a", "a"]},
            r"labels must be an array of labels that differ",
        ),
        (
            (*CLASSES, 0),
            {"dtype": "int8", "labels": [2, 1]},
            r"labels that differ, in their order, got \[2, 1\]",
        ),
        ((*CLASSES, 0), {"dtype": "int8", "labels": [1, 999]}, r"labels\[1\] must be a label of type int8"),
        (
            (*CLASSES, 0),
            {"dtype": "float16", "labels": [1e9]},
            r"labels\[0\] must be a label of type float16",
        ),
        ((*CLASSES, 0), {"dtype": "str", "labels": [7]}, r"labels\[0\] must be a label of type str"),
        (("parameters", "teacher"), {"class": "os.system"}, "teacher must be null"),
        (("parameters", "cv"), 1, "cv must be a whole number from 2"),
        (("parameters", "random_state"), -1, "random_state must be a whole number from 0"),
        (("parameters", "n_neighbors"), "many", "n_neighbors must be a finite number from 1"),
        (("parameters", "shrinkage"), 2, "shrinkage must be a finite number from 0 to 1"),
        (("parameters", "variation"), "large", "variation must be one of"),
        (("parameters", "target_type"), "odd", "target_type must be one of"),
        (("parameters", "teacher_rows"), 1, "teacher_rows must be a whole number from 2"),
        (("columns", 0, "maps", "rank", "values", 3), 7.0, "the same output range, got .* upper ends"),
    ],
)
def test_what_is_wrong_with_a_target_or_a_view_is_named(
    place: tuple[Any, ...], value: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        from_document(changed(place, value, VIEWS))


@pytest.mark.parametrize("key", PLAIN)
def test_a_missing_key_is_named(key: str) -> None:
    document = {name: value for name, value in PLAIN.items() if name != key}
    with pytest.raises(ValueError, match=key):
        from_document(document)


def test_a_parameter_that_is_missing_has_its_default() -> None:
    document = changed(("parameters",), {})
    assert from_document(document).get_params() == StretchTransformer().get_params()


def test_columns_that_clash_with_views_are_refused() -> None:
    document = to_document(TableStretch(StretchTransformer(3, output="views")).fit(_X))
    with pytest.raises(ValueError, match=r"\['ties_rank'\] have the names of views"):
        from_document(changed(("table",), ["normal", "ties", "ties_rank"], document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("\x80\x04\x95", "not JSON"),
        ("[1, 2", "not JSON: .* line 1 column"),
        ("[]", "not a stretch"),
        ("7", "not a stretch"),
        ("null", "not a stretch"),
        ('{"format": "tabstretch", "version": NaN}', "not JSON: NaN is no number"),
        ('{"format": "tabstretch", "version": -Infinity}', "not JSON: -Infinity is no number"),
        ('{"a": 1, "a": 1}', "the key 'a' stands more than once"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('{"format": "tabstretch", "version": ' + "9" * 5000 + "}", "cannot be loaded"),
        ('{"format": "tabstretch", "version": 1e999}', "version must be a whole number"),
    ],
)
def test_text_that_is_no_document(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message) as raised:
        tabstretch.load(path)
    assert f"{path} cannot be loaded: " in str(raised.value)


def test_a_value_may_be_deeply_nested_where_a_number_should_be() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    with pytest.raises(ValueError, match=r"edges\[0\] must be a finite number"):
        from_document(changed((*EDGES, 0), deep))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        tabstretch.load("nowhere.json")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(p for key, item in inner for p in paths(item, (*path, key)))]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = scalars | st.sampled_from(["auto", "clip", "blend", 0.5, 1, 1e308, -1e308, 5e-324, 10**400])
anything = st.recursive(
    values, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
)


@st.composite
def mutants(draw: Any) -> dict[str, Any]:
    """Documents with some values replaced, removed, doubled or moved elsewhere."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths(document)))
        inner: Any = document
        for key in path[:-1]:
            inner = inner[key]
        match draw(st.sampled_from(["replace", "nudge", "remove", "double", "move"])):
            case "nudge" if isinstance(inner[path[-1]], float):
                inner[path[-1]] *= 1 + draw(st.sampled_from([1e-16, 1e-12, -1e-10, 1e-3]))
            case "remove":
                del inner[path[-1]]
            case "double" if isinstance(inner, list):
                inner.insert(path[-1], copy.deepcopy(inner[path[-1]]))
            case "move":
                other: Any = document
                for key in draw(st.sampled_from(paths(document))):
                    other = other[key]
                inner[path[-1]] = copy.deepcopy(other)
            case _:
                inner[path[-1]] = draw(anything)
    return document


@cases(500, nightly=15_000)
@given(mutants())
def test_a_mutant_is_a_valid_stretch_or_an_error(document: dict[str, Any]) -> None:
    try:
        loaded = from_document(document)
    except ValueError:
        return
    stretch = getattr(loaded, "stretch_", loaded)
    for map_ in stretch.maps_:
        assert np.all(np.diff(map_.edges) > 0)
        assert np.all(np.diff(map_.values) > 0)
    X = np.random.default_rng(0).normal(size=(50, stretch.n_features_in_))
    output = stretch.set_output(transform="default")._forward[-1](X)
    assert np.isfinite(output).all()
    assert np.all(np.diff(output[np.argsort(X[:, 0]), 0]) >= 0)
    assert from_document(json.loads(to_text(to_document(loaded)))).get_params().keys()


@cases(300)
@given(mutants())
def test_the_schema_refuses_nothing_that_loads(document: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((files("tabstretch") / "schemas" / "map-1.json").read_text())
    try:
        from_document(document)
    except ValueError:
        return
    jsonschema.Draft202012Validator(schema).validate(document)


@cases(300)
@given(st.sampled_from(DOCUMENTS), st.data())
def test_a_damaged_text_is_an_error_or_a_document(document: dict[str, Any], data: Any) -> None:
    text = to_text(document)
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start, min(start + 20, len(text))))
    text = text[:start] + data.draw(st.text(max_size=5)) + text[stop:]
    try:
        from_document(parse_json(text))
    except ValueError:
        return
