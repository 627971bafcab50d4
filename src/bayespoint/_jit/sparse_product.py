"""The product of a dense and a sparse matrix."""

import numpy as np
from llvmlite import ir  # numba's compiler
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from .compiler import njit

# Numbers in a vector of the largest processors; the compiler divides it for smaller ones.
LANES = 16
# Vectors of sums that stay in registers while a row is added up: as many as possible, or fewer for
# what is left. One sum after the other would wait for the processor to finish the last one.
WIDE, NARROW = 6, 2
# Results for so many rows are copied to the output together, where they are neighbors.
ROWS_PER_TILE = 16
BYTES_PER_CACHE_LINE = 64


def _adder(n_vectors):
    """Return a function for compiled code that adds up so many vectors of a row."""

    @intrinsic
    def add(typing_context, left, column, indices, data, start, stop, total, to):
        return _add(n_vectors, left, column, indices, data, start, stop, total, to)

    return add


def _add(n_vectors, *arguments):
    """Return the signature of the sum of a row, and a function that writes its code.

    Adds data[k] * left[indices[k], column + j] to total[to + j], for k from start to stop and j up
    to n_vectors * LANES. Compilers keep sums in memory if there are as many as here, which takes
    three times as long.
    """

    def write(context, builder, signature, values):
        left, indices, data, total = (
            make_array(signature.args[n])(context, builder, values[n]) for n in (0, 2, 3, 6)
        )
        column, start, stop, to = (values[n] for n in (1, 4, 5, 7))
        vector = ir.VectorType(ir.FloatType(), LANES)
        integer = start.type
        width = builder.extract_value(left.shape, 1)

        def place(array, index, part=0):
            index = builder.add(index, integer(LANES * part))
            pointer = builder.gep(array.data, [index])
            return builder.bitcast(pointer, vector.as_pointer())

        def load(pointer):
            value = builder.load(pointer)
            value.align = 4
            return value

        before = [load(place(total, to, j)) for j in range(n_vectors)]
        begin = builder.block
        head, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        k = builder.phi(integer)
        sums = [builder.phi(vector) for _ in range(n_vectors)]
        builder.cbranch(builder.icmp_signed("<", k, stop), body, end)
        builder.position_at_end(body)
        index = builder.sext(builder.load(builder.gep(indices.data, [k])), integer)
        factor = builder.load(builder.gep(data.data, [k]))
        unset, first = vector(ir.Undefined), ir.IntType(32)(0)
        factor = builder.insert_element(unset, factor, first)
        same = ir.VectorType(ir.IntType(32), LANES)([0] * LANES)
        factor = builder.shuffle_vector(factor, unset, same)
        row = builder.add(builder.mul(index, width), column)
        fused = {"flags": ("contract",)}
        after = [
            builder.fadd(builder.fmul(factor, load(place(left, row, j)), **fused), sums[j], **fused)
            for j in range(n_vectors)
        ]
        following = builder.add(k, integer(1))
        builder.branch(head)
        for phi, old, new in zip([k, *sums], [start, *before], [following, *after], strict=True):
            phi.add_incoming(old, begin)
            phi.add_incoming(new, body)
        builder.position_at_end(end)
        for j in range(n_vectors):
            builder.store(sums[j], place(total, to, j)).align = 4
        return context.get_dummy_value()

    kinds = [types.intp if isinstance(a, types.Integer) else a for a in arguments]
    return types.void(*kinds), write


_add_wide, _add_narrow, _add_one = _adder(WIDE), _adder(NARROW), _adder(1)


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_product(left, starts, indices, data, out):
    """Add left.T @ right.T to out, for dense, contiguous left and sparse right.

    right is divided into groups of columns, each in CSR form: group g of row i has the entries
    from starts[g, i] to starts[g, i + 1] of indices and data. left has a multiple of LANES
    columns; the last ones may be more than the rows of out, and are ignored. A group takes part
    in all rows before the next one, so that its rows of left stay in the fastest cache. The
    digits of a result depend only on its column of left and its row of right.
    """
    n, width = starts.shape[1] - 1, left.shape[1]
    memory = np.zeros(n * width + LANES, dtype=np.float32)
    first = -(memory.ctypes.data // 4) % (BYTES_PER_CACHE_LINE // 4)
    column = 0
    while column < width:
        n_vectors = (width - column) // LANES
        for g in range(len(starts)):
            for i in range(n):
                start, stop = starts[g, i], starts[g, i + 1]
                to = first + i * width + column
                if n_vectors >= WIDE:
                    _add_wide(left, column, indices, data, start, stop, memory, to)
                elif n_vectors >= NARROW:
                    _add_narrow(left, column, indices, data, start, stop, memory, to)
                else:
                    _add_one(left, column, indices, data, start, stop, memory, to)
        column += LANES * (WIDE if n_vectors >= WIDE else min(n_vectors, NARROW))
    total = memory[first : first + n * width].reshape(n, width)
    for tile in range(0, n, ROWS_PER_TILE):
        for r in range(len(out)):
            for i in range(tile, min(tile + ROWS_PER_TILE, n)):
                out[r, i] += total[i, r]
