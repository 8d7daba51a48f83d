"""Files that appear whole or not at all."""

import os
from pathlib import Path

import pytest

from tabstretch._files import written_whole


def test_the_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    with written_whole(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.parent == tmp_path
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["map.json"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), written_whole(path) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["map.json"]


def test_a_link_stays_a_link_and_modes_follow_the_mask(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    old = os.umask(0o022)
    try:
        with written_whole(tmp_path / "link") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(old)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_where_there_is_no_place_for_it(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a directory: give the name of a file"):  # noqa: SIM117
        with written_whole(tmp_path):
            pass
    with pytest.raises(FileNotFoundError, match="does not exist: create it first"):  # noqa: SIM117
        with written_whole(tmp_path / "nowhere" / "map.json"):
            pass
