"""The kernel perceptron in dual variables (000, algorithm 1)."""

import numpy as np
from numba import njit

# Score of a point that a perceptron gets wrong and visits next. It is larger than the number
# of perceptrons, so it outweighs a point that all of them get wrong but visit later.
NEXT_MISTAKE_SCORE = 1_000_000
# Mistakes whose Gram rows are added to all outputs in one pass. Gram rows come from main memory,
# which takes half of the time of a pass for each; more at once save little.
MISTAKES_AT_ONCE = 4
# Among so many next points of the order the next mistakes are looked for, with up-to-date outputs.
# A point there costs as much as some 50 in a pass over all, because points of an order are not
# neighbors in memory.
MIN_WINDOW, MAX_WINDOW = 16, 512


@njit(cache=True, nogil=True)
def learn(gram, y, order, margins, max_mistakes):
    """Correct mistakes until none is left or max_mistakes were made.

    margins holds the signed margins at the start and, on return, at the end. Returns how
    often each point was added, and the number of mistakes.
    """
    m = y.shape[0]
    count = np.zeros(m)
    mistakes = 0
    wrong = True
    while wrong:
        wrong = False
        for i in order:
            if margins[i] <= 0.0:
                if mistakes == max_mistakes:
                    return count, mistakes
                wrong = True
                mistakes += 1
                count[i] += 1.0
                row = gram[i]
                for j in range(m):
                    margins[j] += y[i] * y[j] * row[j]
    return count, mistakes


@njit(cache=True, nogil=True)
def advance(rows, slot, softness, step, y, order, output, count, walk, best, best_count, most):
    """Learn until a Gram row is missing, all points are right, or `most` mistakes are made.

    softness is added to the diagonal of the Gram matrix, a value for each point. A mistake adds
    the Gram row of the point times its step. walk holds the
    position in the order, the number of consecutive points that were right,
    the number of mistakes, and how many points of the order are in use. best holds the
    training errors and the squared length at the end of the best pass. Returns whether a
    pass was the best so far.
    """
    position, right, mistakes, in_use = walk[0], walk[1], walk[2], walk[3]
    near = np.empty(MAX_WINDOW)  # outputs at the next points of the order
    wrong = np.empty(MISTAKES_AT_ONCE, dtype=np.int64)  # mistakes that `output` does not know yet
    window = MIN_WINDOW
    better, missing = False, False
    while right < in_use and mistakes < most and not (better or missing):
        first, stop = position, min(position + window, in_use)
        for k in range(first, stop):
            near[k - first] = output[order[k]]
        n = 0
        while position < stop and n < MISTAKES_AT_ONCE and right < in_use and mistakes < most:
            i = order[position]
            if y[i] * near[position - first] <= 0.0:
                missing = slot[i] < 0
                if missing:
                    break
                row = rows[slot[i]]
                change = y[i] * step[i]
                for k in range(position + 1, stop):
                    near[k - first] += change * row[order[k]]
                wrong[n] = i
                n += 1
                count[i] += 1
                mistakes += 1
                right = 0
            else:
                right += 1
            position += 1
        _add_rows(rows, slot, softness, step, y, wrong[:n], output)
        # So many points as contain MISTAKES_AT_ONCE, if mistakes go on as in this window.
        window = MISTAKES_AT_ONCE * (position - first) // max(n, 1) + 1
        window = min(max(window, MIN_WINDOW), MAX_WINDOW)
        if position == in_use:
            position = 0
            errors, square = 0.0, 0.0
            for k in range(in_use):
                j = order[k]
                margin = y[j] * output[j]
                errors += margin <= 0.0
                square += count[j] * step[j] * margin
            if errors < best[0]:
                better = True
                best[0], best[1] = errors, square
                best_count[:] = count
    walk[0], walk[1], walk[2] = position, right, mistakes
    return better


@njit(cache=True, nogil=True)
def _add_rows(rows, slot, softness, step, y, wrong, output):
    """Add the Gram rows of different wrong points, in the digits of adding one after the other."""
    n = wrong.shape[0]
    own = np.empty(n)  # outputs at the wrong points themselves, where softness counts
    for p in range(n):
        own[p] = output[wrong[p]]
        for q in range(n):
            change = y[wrong[q]] * step[wrong[q]]
            own[p] += change * rows[slot[wrong[q]], wrong[p]]
            if p == q:
                own[p] += change * softness[wrong[p]]
    if n == MISTAKES_AT_ONCE:
        a, b, c, d = wrong[0], wrong[1], wrong[2], wrong[3]
        row_a, row_b, row_c, row_d = rows[slot[a]], rows[slot[b]], rows[slot[c]], rows[slot[d]]
        by_a, by_b, by_c, by_d = y[a] * step[a], y[b] * step[b], y[c] * step[c], y[d] * step[d]
        for j in range(output.shape[0]):
            sum_ = output[j] + by_a * row_a[j]
            sum_ += by_b * row_b[j]
            sum_ += by_c * row_c[j]
            output[j] = sum_ + by_d * row_d[j]
    else:
        for q in range(n):
            row = rows[slot[wrong[q]]]
            change = y[wrong[q]] * step[wrong[q]]
            for j in range(output.shape[0]):
                output[j] += change * row[j]
    for p in range(n):
        output[wrong[p]] = own[p]


@njit(cache=True, nogil=True)
def expect_mistakes(y, order, output, walk, window, n_ahead, score):
    """Add one to the score of each wrong point, and more for wrong points that come up next.

    Next are up to n_ahead wrong points within a window of the order. The first of them adds
    NEXT_MISTAKE_SCORE times n_ahead, the last one NEXT_MISTAKE_SCORE.
    """
    for j in range(y.shape[0]):
        score[j] += y[j] * output[j] <= 0.0
    position, in_use = walk[0], walk[3]
    for _ in range(min(window, in_use)):
        i = order[position]
        if y[i] * output[i] <= 0.0:
            score[i] += NEXT_MISTAKE_SCORE * n_ahead
            n_ahead -= 1
            if n_ahead == 0:
                return
        position += 1
        if position == in_use:
            position = 0
