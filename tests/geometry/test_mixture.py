"""The mixture of kernels: a slow twin, what each term sees, weights as repeated rows."""

import numpy as np
import pytest

from bayespoint.geometry.mixture import TERMS, Mixture, distance, fit_views, term_names


def table(n=40, seed=0):
    """Return points with a number, an outlier, a code of three values, and a flag."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[0, 1] = 1e6
    X[:, 2] = rng.integers(3, size=n)
    X[:, 3] = rng.integers(2, size=n)
    return X


def slow_ranks(column, new):
    """Return the ranks of new values among a column by counting, in units of their deviation."""

    def rank(x):
        return (np.sum(column < x) + np.sum(column == x) / 2) / len(column)

    known = np.array([rank(x) for x in column])
    return (np.array([rank(x) for x in new]) - known.mean()) / known.std()


def test_the_kernel_is_the_sum_that_its_docstring_writes():
    X = table()
    views = fit_views(X)
    names = term_names(views)
    rng = np.random.default_rng(1)
    weights, gammas = rng.dirichlet(np.ones(len(names))), rng.uniform(0.1, 1, len(names))
    ranks = np.column_stack([slow_ranks(c, c) if j < 3 else c for j, c in enumerate(X.T)])
    slow = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            measured = {
                "rbf": np.sum((x - y) ** 2),
                "laplacian": np.sum(np.abs(x - y)),
                "local": np.sum(np.abs(x - y)),
                "rank_rbf": np.sum((ranks[i] - ranks[j]) ** 2),
                "rank_laplacian": np.sum(np.abs(ranks[i] - ranks[j])),
                "overlap": np.sum(x[2:] != y[2:]),
            }
            values = [
                w * np.exp(-g * measured[n]) for n, w, g in zip(names, weights, gammas, strict=True)
            ]
            slow[i, j] = sum(values)
    mixture = Mixture(names, weights, gammas, views)
    np.testing.assert_allclose(mixture.matrix(X, X), slow, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(slow), 1.0, rtol=1e-12)


def test_an_outlier_is_not_far_away_by_rank():
    X = table()
    views = fit_views(X)
    assert distance(TERMS["laplacian"], views, X, X).max() > 1e5
    assert distance(TERMS["rank_laplacian"], views, X, X).max() < 20


def test_new_points_are_ranked_between_training_points_and_not_beyond_them():
    X = np.arange(10.0)[:, None]
    views = fit_views(X)
    seen = views.see("rank", np.array([[-5.0], [0.0], [0.5], [9.0], [50.0]]))[:, 0]
    assert seen[0] == seen[1] < seen[2] < seen[3] == seen[4]
    assert seen[2] == pytest.approx(views.see("rank", X)[:2, 0].mean())


def test_ranks_of_many_values_are_those_of_some_of_them():
    X = np.random.default_rng(0).normal(size=(3000, 1))
    views = fit_views(X)
    assert len(views.knots[0]) == 256
    exact = slow_ranks(X[:, 0], X[:200, 0])
    # The rank jumps by at most 3000 / 255 values between two knots.
    step = 3000 / 255 / 3000 * np.sqrt(12)
    assert np.abs(views.see("rank", X[:200])[:, 0] - exact).max() < 1.1 * step


def test_terms_that_see_nothing_of_their_own_are_left_out():
    flags = np.random.default_rng(0).integers(2, size=(30, 3)).astype(float)
    assert term_names(fit_views(flags)) == ["rbf", "laplacian", "local", "overlap"]
    numbers = np.random.default_rng(0).normal(size=(30, 3))
    assert term_names(fit_views(numbers)) == [
        "rbf",
        "laplacian",
        "local",
        "rank_rbf",
        "rank_laplacian",
    ]


def test_a_whole_weight_counts_as_equal_rows():
    X = table()
    weight = np.random.default_rng(2).integers(1, 4, len(X))
    once, repeated = fit_views(X, weight.astype(float)), fit_views(np.repeat(X, weight, axis=0))
    for a, b in zip(once.ranks, repeated.ranks, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert once.categories.tolist() == repeated.categories.tolist() == [2, 3]


def test_many_coordinates_give_the_same_squared_distances():
    X = np.random.default_rng(0).normal(size=(30, 40))
    views = fit_views(X)
    slow = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    np.testing.assert_allclose(distance(TERMS["rbf"], views, X, X), slow, atol=1e-12)


@pytest.mark.parametrize("n_coordinates", [3, 30])
def test_points_almost_at_infinity_are_far_from_all_others(n_coordinates):
    X = np.random.default_rng(0).normal(size=(10, n_coordinates))
    far = np.where(np.arange(n_coordinates) % 2, -1e200, 1e200)[None]
    found = distance(TERMS["rbf"], fit_views(X), far, np.vstack([X, far / 2]))
    np.testing.assert_array_equal(found, np.inf)


def test_categories_are_the_same_in_single_and_double_precision():
    X = np.random.default_rng(0).integers(5, size=(30, 3)) / 10 - 0.7
    views = fit_views(X)
    expected = np.sum(X[:, None] != X[None], axis=2)
    single = X.astype(np.float32)
    for a, b in [(X, X), (single, X), (X, single), (single, single)]:
        np.testing.assert_array_equal(distance(TERMS["overlap"], views, a, b), expected)
    # A value between two categories is another one.
    assert np.all(distance(TERMS["overlap"], views, X + 0.01, X) == 3)
