"""What a worker keeps between jobs, and what it measures."""

import numpy as np
import pytest

from tabstretch import _conditional
from tabstretch._sharing import TeacherMemory
from tabstretch.study import workspace
from tabstretch.study.datasets import load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.measures import measured
from tabstretch.study.noise import with_noise
from tabstretch.study.subsets import with_fewer_rows
from tabstretch.study.transformations import fit_transformation
from tabstretch.study.workspace import Cache, DatasetRef, dataset_of, prepared_inputs


def test_the_cache_forgets_what_was_used_longest_ago():
    made = []
    cache = Cache(len, limit=3)

    def get(text):
        return cache.get(text, lambda: made.append(text) or text)

    for text in ("a", "b", "a", "c", "d", "a", "b"):
        assert get(text) == text
    assert made == ["a", "b", "c", "d", "b"]  # at "d" the oldest was "b"


def test_the_cache_keeps_the_newest_whatever_its_size():
    cache = Cache(len, limit=1)
    first = cache.get("long", lambda: "long")
    assert cache.get("long", lambda: "other") is first


def test_data_that_is_not_what_it_was(tmp_path):
    with pytest.raises(StudyError, match="the data changed while the study ran: its checksum was 0000"):
        dataset_of(DatasetRef("sklearn:wine", tmp_path, "0000"))
    with pytest.raises(StudyError, match=r"a worker cannot read file:none\.csv"):
        dataset_of(DatasetRef("file:none.csv?target=y", tmp_path, "0000"))


@pytest.mark.parametrize("source", ["sklearn:wine", "sklearn:diabetes"])
def test_fewer_training_rows(source, tmp_path):
    dataset = load_dataset(source, tmp_path)
    fewer = with_fewer_rows(dataset, 50)
    assert fewer.n_rows == {**dataset.n_rows, "train": 50}
    assert fewer.checksum == dataset.checksum
    whole = np.column_stack([dataset.numeric["train"], dataset.y["train"]]).tolist()
    rows = [whole.index(row) for row in np.column_stack([fewer.numeric["train"], fewer.y["train"]]).tolist()]
    assert rows == sorted(set(rows))  # in the order they had, none twice
    fewest = with_fewer_rows(dataset, 20).numeric["train"].tolist()
    assert all(row in fewer.numeric["train"].tolist() for row in fewest)
    assert with_fewer_rows(dataset, 0) is dataset
    assert with_fewer_rows(dataset, dataset.n_rows["train"]) is dataset
    ref = DatasetRef(source, tmp_path, dataset.checksum, train_rows=50)
    np.testing.assert_array_equal(dataset_of(ref).y["train"], fewer.y["train"])


@pytest.mark.parametrize("source", ["sklearn:wine", "sklearn:diabetes"])
def test_noise_is_on_the_training_part_only(source, tmp_path):
    dataset = load_dataset(source, tmp_path)
    noisy = with_noise(dataset, 0.3)
    for part in ("val", "test"):
        np.testing.assert_array_equal(noisy.y[part], dataset.y[part])
    changed = noisy.y["train"] != dataset.y["train"]
    if dataset.classes is None:
        difference = noisy.y["train"] - dataset.y["train"]
        assert difference.std() == pytest.approx(0.3 * dataset.y["train"].std(), rel=0.15)
        assert changed.all()
    else:
        # A third of the new labels are the old ones by chance.
        assert changed.mean() == pytest.approx(0.3 * 2 / 3, abs=0.08)
        more = with_noise(dataset, 0.6).y["train"] != dataset.y["train"]
        assert (changed <= more).all()
    assert with_noise(dataset, 0.0) is dataset
    np.testing.assert_array_equal(with_noise(dataset, 0.3).y["train"], noisy.y["train"])


def test_peak_memory_is_that_of_the_block():
    with measured() as small:
        pass
    with measured() as large:
        np.ones(30_000_000).sum()  # 240 MB
    with measured() as small_again:
        pass
    assert large.peak_memory_mb > small.peak_memory_mb + 150
    assert small_again.peak_memory_mb < large.peak_memory_mb - 150
    assert large.seconds > 0


def test_a_failure_is_measured_too():
    with pytest.raises(ValueError, match="no"), measured() as measures:
        raise ValueError("no")
    assert measures.seconds > 0


@pytest.mark.parametrize("name", ["stretch_conditional", "stretch_views"])
def test_teachers_are_fitted_once_for_all_numbers_of_bins(name, tmp_path, monkeypatch):
    dataset = load_dataset("sklearn:diabetes", tmp_path)
    alone = {n_bins: fit_transformation(name, dataset, n_bins=n_bins) for n_bins in (2, 16)}
    fits = []

    class Counted(_conditional.FittedTeacher):
        def __init__(self, *args):
            fits.append(args)
            super().__init__(*args)

    monkeypatch.setattr(_conditional, "FittedTeacher", Counted)
    monkeypatch.setattr(workspace, "_teachers", TeacherMemory())
    ref = DatasetRef("sklearn:diabetes", tmp_path, dataset.checksum)
    seconds = []
    for n_bins in (1, 2, 16, 2):
        prepared = prepared_inputs(ref, name, n_bins, 1e9, lambda width, rows: 0.0)
        seconds.append(prepared.fit_seconds)
        if n_bins in alone:
            wanted = alone[n_bins].transform(dataset.numeric["test"])
            np.testing.assert_array_equal(prepared.inputs.numeric["test"], wanted)
    assert len(fits) == 4  # one for each fold
    assert seconds[2] > workspace._teachers.seconds_saved > 0  # the shared ones count
    assert seconds[3] == seconds[1]


def test_a_transformation_is_fitted_once_for_all_workers(tmp_path, monkeypatch):
    """Each worker is a process: here a cache that is empty."""
    dataset = load_dataset("sklearn:diabetes", tmp_path)
    ref = DatasetRef("sklearn:diabetes", tmp_path, dataset.checksum)
    fits = []

    def counted(*args, **kwargs):
        fits.append(args)
        return fit_transformation(*args, **kwargs)

    monkeypatch.setattr(workspace, "fit_transformation", counted)
    monkeypatch.setattr(workspace, "_shelf", None)
    shared = tmp_path / "shared"
    shared.mkdir()
    found = []
    for is_shared in (False, True, True):
        if is_shared:
            workspace.share_fits(shared)
        monkeypatch.setattr(workspace, "_prepared", Cache(lambda prepared: 0))
        found.append(prepared_inputs(ref, "stretch_sup", 16, 1e9, lambda width, rows: 0.0))
    assert len(fits) == 2  # alone, and for all
    alone, first, second = found
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(first.inputs.numeric[part], alone.inputs.numeric[part])
        np.testing.assert_array_equal(second.inputs.numeric[part], alone.inputs.numeric[part])
    assert second.fit_seconds > 0.5 * first.fit_seconds > 0  # it counts, although another had it


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_an_encoding_is_fitted_once_for_all_networks(name, tmp_path, monkeypatch):
    dataset = load_dataset("sklearn:diabetes", tmp_path)
    ref = DatasetRef("sklearn:diabetes", tmp_path, dataset.checksum)
    fits = []

    def counted(*args, **kwargs):
        fits.append(args[0])
        return fit_transformation(*args, **kwargs)

    monkeypatch.setattr(workspace, "fit_transformation", counted)
    monkeypatch.setattr(workspace, "_shelf", None)
    monkeypatch.setattr(workspace, "_prepared", Cache(lambda prepared: 0))
    small, other, large = (
        prepared_inputs(ref, name, 7, 1e9, lambda width, rows, factor=factor: factor * width * rows)
        for factor in (1.0, 2.0, 1e6)
    )
    assert fits == [name, "standard"]
    assert small is other
    assert small.note is None
    assert large.inputs.width == dataset.numeric["train"].shape[1] < small.inputs.width
    assert str(large.note).endswith("standard was used instead")
    assert large.fit_seconds > small.fit_seconds
    again = fit_transformation(
        name, dataset, n_bins=7, memory_limit=1e9, memory=lambda width: 1e6 * width * dataset.n_rows["train"]
    )
    assert again.note == large.note
    np.testing.assert_array_equal(again.transform(dataset.numeric["test"]), large.inputs.numeric["test"])
