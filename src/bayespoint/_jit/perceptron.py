"""The kernel perceptron in dual variables (000, algorithm 1)."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def learn(gram, y, order, margins, max_mistakes):
    """Correct mistakes until none is left or max_mistakes were made.

    margins enters as the signed margins of the start and leaves as those of the end;
    returns how often each point was added, and the number of mistakes.
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
