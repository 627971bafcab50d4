"""The kernel perceptron in dual variables (000, algorithm 1)."""

import numpy as np

from .compiler import njit

# Score of a point that a perceptron gets wrong and visits next. It is larger than the number
# of perceptrons, so it outweighs a point that all of them get wrong but visit later.
NEXT_MISTAKE_SCORE = 1_000_000
# A pass over a row reads so many parts of it side by side: memory is faster with several streams.
N_STREAMS = 4


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
def advance(
    rows, unit, slot, softness, step, y, order, output, count, walk, best, best_count, most
):
    """Learn until a Gram row is missing, all points are right, or `most` mistakes are made.

    rows holds Gram rows in whole units. softness is added to the diagonal of the Gram matrix, a
    value for each point. A mistake adds the Gram row of the point times its step. walk holds the
    position in the order, the number of consecutive points that were right, the number of
    mistakes, and how many points of the order are in use. best holds the training errors and the
    squared length at the end of the best pass. Returns whether a pass was the best so far.
    """
    m = y.shape[0]
    position, right, mistakes, in_use = walk[0], walk[1], walk[2], walk[3]
    better = False
    part = m // N_STREAMS
    out_0, out_1 = output[:part], output[part : 2 * part]
    out_2, out_3 = output[2 * part : 3 * part], output[3 * part : 4 * part]
    while right < in_use and mistakes < most:
        i = order[position]
        if y[i] * output[i] <= 0.0:
            if slot[i] < 0:
                break
            row = rows[slot[i]]
            change = y[i] * step[i]
            factor = np.float32(change * unit)
            row_0, row_1 = row[:part], row[part : 2 * part]
            row_2, row_3 = row[2 * part : 3 * part], row[3 * part : 4 * part]
            for j in range(part):
                out_0[j] += factor * np.float32(row_0[j])
                out_1[j] += factor * np.float32(row_1[j])
                out_2[j] += factor * np.float32(row_2[j])
                out_3[j] += factor * np.float32(row_3[j])
            for j in range(N_STREAMS * part, m):
                output[j] += factor * np.float32(row[j])
            output[i] += change * softness[i]
            count[i] += 1
            mistakes += 1
            right = 0
        else:
            right += 1
        position += 1
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
                break
    walk[0], walk[1], walk[2] = position, right, mistakes
    return better


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
