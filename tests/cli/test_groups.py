import inspect
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from bayespoint.cli.groups import Group, expand_groups


def make_point(x: int = 1, y: int = 2):
    return x, y


Point = Annotated[tuple[int, int], Group(make_point)]


def make_circle(center: Point, radius: Annotated[float, typer.Option(help="How large.")] = 1.0):
    return center, radius


Circle = Annotated[tuple, Group(make_circle)]


def show(name: str, circle: Circle, loud: bool = False):
    typer.echo(f"{name} {circle} {loud}")


def test_groups_in_groups_become_options_in_their_order():
    parameters = inspect.signature(expand_groups(show)).parameters
    assert list(parameters) == ["name", "x", "y", "radius", "loud"]
    assert parameters["y"].default == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a"], "a ((1, 2), 1.0) False"),
        (["a", "--y", "5", "--radius", "2", "--loud"], "a ((1, 5), 2.0) True"),
    ],
)
def test_the_command_line_gives_the_verb_one_value_for_a_group(words, expected):
    app = typer.Typer()
    app.command()(expand_groups(show))
    assert CliRunner().invoke(app, words).output == f"{expected}\n"


def test_a_verb_without_groups_is_called_as_it_is():
    assert expand_groups(make_point)(x=3) == (3, 2)
