import numpy as np

from bayespoint.solvers.propagation.sites import likelihood, match_moments
from ep_problems import textbook_site


def test_site_is_the_textbooks_where_that_is_benign(rng):
    M, V = rng.standard_normal(50), rng.uniform(0.5, 2, 50)
    y = rng.choice([-1.0, 1.0], 50)
    for eta in [0.0, 0.05, 0.3]:
        found = match_moments(*likelihood(y, M, V, eta))
        log_Z, precision, shift = np.transpose(
            [textbook_site(*case, eta) for case in zip(M, V, y, strict=True)]
        )
        np.testing.assert_allclose(likelihood(y, M, V, eta)[0], log_Z, rtol=1e-12)
        # Subtracting two inverses of numbers near one has an error of a few times 1e-16.
        np.testing.assert_allclose(found.precision, precision, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(found.shift, shift, rtol=1e-10, atol=1e-13)


def test_sites_far_on_the_wrong_side_are_finite():
    # The textbook formula computes the variance as V - V here.
    M, V, y = np.array([-1e3, -40.0, 40.0]), np.ones(3), np.ones(3)
    found = match_moments(*likelihood(y, M, V, 0.0))
    assert np.isfinite(found).all()
    assert np.all(found.precision >= 0)
