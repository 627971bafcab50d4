"""Make a library that gives NumPy and SciPy from PyPI another BLAS and LAPACK.

    python benchmarks/other_blas.py OUT.so --lapack FILE ... --lapack64 FILE ...

The wheels call OpenBLAS by names of their own (scipy_dgemm_, scipy_cblas_dgemm64_). OUT.so has all
of these names, and jumps to the functions of the given libraries: those with 32-bit integers for
SciPy, and those with 64-bit integers for NumPy; the first that has a function counts. Use it with
LD_PRELOAD=OUT.so. Needs gcc and nm. Debian's reference libraries, for example, come from
`apt-get download libblas3 liblapack3 libblas64-3 liblapack64-3 libgfortran5 libquadmath0`, and
`dpkg-deb -x` unpacks them.
"""
# ruff: noqa: T201

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import numpy
import scipy

SOURCE = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((visibility("hidden"))) void *slots[%d];
static const char *names[] = {%s};
static const char wide[] = {%s};
static const char *files[] = {%s, 0}, *wide_files[] = {%s, 0};
static void missing(void) { fputs("a function is missing in the other BLAS\\n", stderr); abort(); }
static void *find(const char **files, const char *name) {
    for (; *files; files++) {
        void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL), *found;
        if (!library) { fprintf(stderr, "%%s\\n", dlerror()); abort(); }
        if ((found = dlsym(library, name))) return found;
    }
    return missing;
}
__attribute__((constructor)) static void fill(void) {
    for (int i = 0; i < %d; i++) slots[i] = find(wide[i] ? wide_files : files, names[i]);
}
"""
JUMP = ".globl {name}\n.type {name}, @function\n{name}: jmp *slots+{place}(%rip)\n"


def used_by(package) -> list[str]:
    """Return the names by which the compiled modules of a package call OpenBLAS."""
    modules = map(str, Path(package.__file__).parent.rglob("*.so"))
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", *modules], capture_output=True, text=True, check=True
    )
    return sorted(set(re.findall(r"\bscipy_\w+", listed.stdout)))


def quoted(values) -> str:
    return ", ".join(f'"{value}"' for value in values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--lapack", nargs="+", required=True)
    parser.add_argument("--lapack64", nargs="+", required=True)
    given = parser.parse_args()
    symbols = sorted({*used_by(numpy), *used_by(scipy)})
    is_wide = [name.endswith("64_") for name in symbols]
    plain = [re.sub("(64_)?$", "", name.removeprefix("scipy_"), count=1) for name in symbols]
    # A Fortran name keeps its last underscore: scipy_dgemm_64_ is dgemm_.
    n = len(symbols)
    files = [quoted(Path(f).resolve() for f in some) for some in (given.lapack, given.lapack64)]
    flags = ", ".join(str(int(wide)) for wide in is_wide)
    source = SOURCE % (n, quoted(plain), flags, *files, n)
    jumps = ".text\n" + "".join(
        JUMP.format(name=name, place=8 * i) for i, name in enumerate(symbols)
    )
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder, "table.c"), Path(folder, "jumps.s")]
        for part, text in zip(parts, (source, jumps), strict=True):
            part.write_text(text + '.section .note.GNU-stack,"",@progbits\n' * (text is jumps))
        gcc = ["gcc", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", given.out, *parts, "-ldl"]
        subprocess.run(gcc, check=True)
    print(f"{given.out}: {n} functions")


if __name__ == "__main__":
    main()
