import pytest

from papers_stand_ins import make_folder


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    make_folder(folder)
    return folder
