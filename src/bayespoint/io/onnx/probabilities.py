"""Distribution functions from elementary operators, and the probabilities of classes.

onnxruntime has no error function in double precision.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ...fitting.power_link import MIN_FLOORS, PowerLink
from ...fitting.probabilities import JUST_ABOVE_HALF, MAX_PROBABILITY, MIN_PROBABILITY
from .graph import Value

# (1 + 2 x) erfcx(x) is a smooth function of (x - 3.75) / (x + 3.75) (Shepherd and Laframboise,
# 1981). A polynomial of this degree leaves an error of 2e-15 in Phi.
_ERFCX_CENTER = 3.75
_ERFCX_DEGREE = 20
# Larger outputs have a tail whose logarithm is not finite.
_MAX_OUTPUT = 1e100
# Halve angles this many times; then this many terms of the series of atan are enough.
_ANGLE_HALVINGS = 3
_ATAN_TERMS = 12
# Fits choose at most eight degrees of freedom; the graph has as many terms as a file asks for.
_MAX_DF = 10
# log(1 + exp(z)) is z to double precision above this, and exp(z) to enough digits below minus half.
_SOFTPLUS_LIMIT = 36.0


def polynomial(x: Value, coefficients) -> Any:
    """Return sum_k coefficients[k] x^k."""
    *rest, last = (float(c) for c in coefficients)
    value: Any = last
    for c in reversed(rest):
        value = x * value + c if c else x * value
    return value


def normal_tail(a: Value, degree: int = _ERFCX_DEGREE) -> Value:
    """Return Phi(-a) for a >= 0."""
    exponent, factor = _normal_parts(a, degree)
    return exponent.exp() * factor


def log_normal_tail(a: Value) -> Value:
    """Return log Phi(-a) for a >= 0, however large."""
    exponent, factor = _normal_parts(a, _ERFCX_DEGREE)
    return exponent + factor.log()


def _normal_parts(a: Value, degree: int) -> tuple[Value, Value]:
    """Return -a^2 / 2 and f with Phi(-a) = exp(-a^2 / 2) f."""
    a = a.at_most(_MAX_OUTPUT)
    x = a * math.sqrt(0.5)
    series = polynomial(1 - 2 * _ERFCX_CENTER / (x + _ERFCX_CENTER), _scaled_erfcx(degree) / 2)
    return a * a * -0.5, series / (1 + 2 * x)


def _scaled_erfcx(degree: int) -> np.ndarray:
    """Return (1 + 2 x) erfcx(x) as coefficients of powers of (x - center) / (x + center)."""

    def function(t):
        x = _ERFCX_CENTER * (1 + t) / (1 - t)
        return (1 + 2 * x) * special.erfcx(x)

    chebyshev = np.polynomial.chebyshev.chebinterpolate(function, degree)
    return np.polynomial.chebyshev.cheb2poly(chebyshev)


def student_tail(a: Value, df: float) -> Value:
    """Return P(T > a) for a >= 0, Student's t with 1 or an even number of degrees of freedom.

    For an even number the tail is algebraic. Let u = df / (df + a^2), S the first df / 2 terms of
    the series of (1 - u)^(-1/2), and A = sqrt(1 - u) S; then twice the tail is 1 - A. To avoid
    cancellation it is computed as (1 - A^2) / (1 + A): the numerator is a polynomial with positive
    coefficients and without powers below u^(df / 2).
    """
    if df == 1:
        return _cauchy_tail(a)
    if not 0 < df <= _MAX_DF or df % 2:
        raise ValueError(
            "Student's t can be exported with 1 degree of freedom or an even number of at most "
            f"{_MAX_DF}, but probit_df_ is {df:g}."
        )
    half = int(df) // 2
    series = special.binom(np.arange(half) - 0.5, np.arange(half))
    squared = np.polynomial.polynomial.polymul(series, series)
    above = -np.polynomial.polynomial.polymul(squared, [1, -1])[half:]
    u, root = df / (df + a * a), a / (df + a * a).sqrt()
    numerator = polynomial(u, np.r_[np.zeros(half), above])
    return numerator * 0.5 / (1 + root * polynomial(u, series))


def _cauchy_tail(a: Value) -> Value:
    """Return atan(1 / a) / pi."""
    tangent = 1 / (a + (1 + a * a).sqrt())  # tangent of half the angle
    for _ in range(_ANGLE_HALVINGS - 1):
        tangent = tangent / (1 + (1 + tangent * tangent).sqrt())
    series = [(-1) ** k / (2 * k + 1) for k in range(_ATAN_TERMS)]
    return tangent * polynomial(tangent * tangent, series) * (2**_ANGLE_HALVINGS / math.pi)


def _tail(output: Value, df: float, label_noise: float) -> Value:
    """Return the probability of the less probable side."""
    tail = normal_tail(abs(output)) if df == np.inf else student_tail(abs(output), df)
    tail = tail.at_most(0.5)  # even after rounding
    return label_noise + (1 - 2 * label_noise) * tail if label_noise else tail


def two_classes(output: Value, df: float = np.inf, label_noise: float = 0.0) -> Value:
    """Return the two columns of `probabilities.two_classes` of one column of outputs."""
    less = _tail(output, df, label_noise).at_least(float(MIN_PROBABILITY))
    more = (1 - less).at_least(float(JUST_ABOVE_HALF))
    return _both((output > 0.0).where(more, less))


def _both(positive: Value) -> Value:
    """Return the probabilities of both classes from that of the second."""
    return positive.op("Neg").op("Add", 1.0).op("Concat", positive, axis=1)


def exactly_one(output: Value, df: float = np.inf, label_noise: float = 0.0) -> Value:
    """Return `probabilities.exactly_one` of the outputs of all classes."""
    tail = _tail(output, df, label_noise)
    never_zero = label_noise > 0 or df < np.inf
    log_tail = tail.log() if never_zero else log_normal_tail(abs(output))
    log_odds = (1 - tail).log() - log_tail
    return _never_zero((output > 0.0).where(log_odds, -log_odds).op("Softmax", axis=1))


def _never_zero(probability: Value) -> Value:
    """Return probabilities that are never 0 or 1."""
    clipped = probability.at_least(float(MIN_PROBABILITY))
    return (clipped / clipped.sum(1)).at_most(float(MAX_PROBABILITY))


def power_probabilities(output: Value, n_classes: int, link: PowerLink) -> Value:
    """Return `power_link.power_probabilities` of predicted codes."""
    if n_classes > 2:
        powers = _log_positive(output + 1 / n_classes, link.floor) * link.power
        return _never_zero(powers.op("Softmax", axis=1))
    log_odds = _log_positive(0.5 + output, link.floor) - _log_positive(0.5 - output, link.floor)
    positive = 1 / (1 + (log_odds * -link.power).exp())
    positive = positive.at_least(float(MIN_PROBABILITY)).at_most(float(MAX_PROBABILITY))
    return _both((output > 0.0).where(positive.at_least(float(JUST_ABOVE_HALF)), positive))


def _log_positive(F: Value, floor: float) -> Value:
    """Return log(log(1 + exp(F / floor))).

    ONNX has no log1p: far below zero it is z - exp(z) / 2, far above log(z).
    """
    z = (F * (1 / floor)).at_least(MIN_FLOORS)
    exp = z.at_most(_SOFTPLUS_LIMIT).exp()
    middle = (1 + exp).log()
    softplus = (z > _SOFTPLUS_LIMIT).where(z, middle).at_least(float(MIN_PROBABILITY)).log()
    return (z < -_SOFTPLUS_LIMIT / 2).where(z - exp * 0.5, softplus)
