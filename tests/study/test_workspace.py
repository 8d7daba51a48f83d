"""What a worker keeps between jobs, and what it measures."""

import numpy as np
import pytest

from tabstretch.study.datasets import load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.measures import measured
from tabstretch.study.noise import with_noise
from tabstretch.study.workspace import Cache, DatasetRef, dataset_of


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
