"""Slow twins in 50 digits: label regression, and the fixed point of expectation propagation."""

import mpmath as mp
import numpy as np

DIGITS = 50


def exact(values):
    """Return an array as a matrix of mpmath; double precision becomes exact numbers."""
    values = np.asarray(values, dtype=float)
    return mp.matrix(values.tolist() if values.ndim == 2 else [[v] for v in values.tolist()])


def doubles(values):
    return np.array([float(v) for v in values])


def regression(K, codes, softness, across):
    """Return predicted codes at new and at left-out points, and the log evidence.

    The labels are numbers with noise; new points have the kernel values `across`. Each left-out
    point is predicted by a solution without it.
    """
    with mp.workdps(DIGITS):
        K, y, across, noise = exact(K), exact(codes), exact(across), mp.mpf(float(softness))
        m = K.rows
        C = K + noise * mp.eye(m)
        coef = mp.lu_solve(C, y)
        left_out = []
        for i in range(m):
            rest = [j for j in range(m) if j != i]
            part = mp.matrix([[C[j, k] for k in rest] for j in rest])
            found = mp.lu_solve(part, mp.matrix([y[j] for j in rest]))
            left_out.append(mp.fsum(K[i, j] * found[n] for n, j in enumerate(rest)))
        misfit = mp.fsum(y[i] * coef[i] for i in range(m))
        scale = misfit / m  # the most probable variance of the codes
        evidence = -(misfit / scale + m * mp.log(2 * mp.pi * scale) + mp.log(mp.det(C))) / 2
        return doubles(across * coef), doubles(left_out), float(evidence)


def propagation(K, signs, softness, across, max_sweeps=3000):
    """Return standardized outputs at new and at left-out points, and the log evidence.

    The textbook algorithm, one site after the other, until nothing moves any more.
    """
    with mp.workdps(DIGITS):
        s = mp.mpf(float(softness))
        A, across = (exact(K) + s * mp.eye(len(signs))) / (1 + s), exact(across) / (1 + s)
        y, m = [mp.mpf(float(v)) for v in signs], len(signs)
        tau, nu = [mp.mpf(0)] * m, [mp.mpf(0)] * m
        cov, mean = A.copy(), [mp.mpf(0)] * m
        for _ in range(max_sweeps):
            largest = mp.mpf(0)
            for i in range(m):
                M, V = _cavity(mean[i], cov[i, i], tau[i], nu[i])
                z = y[i] * M / mp.sqrt(V)
                slope = mp.npdf(z) / mp.ncdf(z)
                left = 1 - slope * (slope + z)  # variance after the step, in units of V
                new_tau = (1 / left - 1) / V
                new_nu = (M + y[i] * slope * mp.sqrt(V)) / (V * left) - M / V
                more, kick = new_tau - tau[i], new_nu - nu[i]
                moved = max(abs(more) * V, abs(kick - more * mean[i]) * mp.sqrt(V))
                largest = max(largest, moved)
                column = [cov[j, i] for j in range(m)]
                factor = 1 + more * column[i]
                step = (kick - more * mean[i]) / factor
                mean = [mean[j] + column[j] * step for j in range(m)]
                for j in range(m):
                    for k in range(m):
                        cov[j, k] -= column[j] * column[k] * more / factor
                tau[i], nu[i] = new_tau, new_nu
            if largest < mp.mpf(10) ** -25:
                break
        else:
            raise AssertionError(f"after {max_sweeps} sweeps sites still move by {largest}")
        coef = mp.lu_solve(A, mp.matrix(mean))
        cavities = [_cavity(mean[i], cov[i, i], tau[i], nu[i]) for i in range(m)]
        typical = mp.mpf(float(np.median(doubles(V for _, V in cavities))))
        left_out = [M / mp.sqrt(V) for M, V in cavities]
        evidence = mp.fsum(nu[i] * mean[i] for i in range(m)) / 2
        evidence -= mp.log(mp.det(mp.eye(m) + A * mp.diag(tau))) / 2
        for i, (M, V) in enumerate(cavities):
            q = 1 + tau[i] * V
            evidence += mp.log(mp.ncdf(y[i] * M / mp.sqrt(V))) + mp.log(q) / 2
            evidence -= (nu[i] ** 2 * V + 2 * nu[i] * M - tau[i] * M**2) / q / 2
        return doubles(across * coef / mp.sqrt(typical)), doubles(left_out), float(evidence)


def _cavity(mean, variance, tau, nu):
    V = 1 / (1 / variance - tau)
    return V * (mean / variance - nu), V


def nearly_singular(m, gap, seed=0):
    """Return an rbf kernel whose points come in pairs at a distance, labels, and new points."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(((m + 1) // 2, 2)).repeat(2, axis=0)[:m]
    X[1::2] += gap * rng.standard_normal(X[1::2].shape)
    new = rng.standard_normal((5, 2))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(m) > 0, 1, -1)
    y[0] = -y[1] if gap > 1e-3 else y[1]

    def kernel(A, B):
        return np.exp(-np.sum((A[:, None] - B) ** 2, axis=-1) / 2)

    return kernel(X, X), y, kernel(new, X)
