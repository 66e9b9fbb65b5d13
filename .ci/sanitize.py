"""Build every compiled module with sanitizers and run the tests of compiled code with them.

AddressSanitizer, UndefinedBehaviorSanitizer and the assertions of libstdc++ stop the process
at the first error. Planted bugs (`tests/sanitize/planted.pyx`) come first and must stop it.
The build is in `build/sanitize`; the installed package stays as it is. Where there is clang,
it must find nothing to warn about. Without arguments the tests of kernels, trees, learners
and model files run, and the recorded digests of fitted trees are compared (where the data
sets are); else what is named (``python .ci/sanitize.py tests/core digests``).
Needs gcc; `make sanitize` calls it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
SITE = BUILD / "site"
TESTS = [
    *("tests/core", "tests/tree", "tests/learners", "tests/growing"),
    *("tests/estimators/test_persistence.py", "tests/fuzz/test_fuzz.py::test_campaign"),
    "digests",
]
FLAGS = "-D_GLIBCXX_ASSERTIONS -fno-sanitize-recover=all -fno-omit-frame-pointer"
# What each planted bug must be called in the report that ends the process.
PLANTED = {
    "read_behind(4)": "heap-buffer-overflow",
    "overflow(2**31 - 1)": "signed integer overflow",
    "element(4)": "Assertion",
}


def build() -> None:
    """Compile and install into a folder of its own."""
    setup = ["meson", "setup", BUILD, ROOT, "--buildtype=debugoptimized"]
    options = {
        "b_sanitize": "address,undefined",
        "b_lundef": "false",
        "c_args": FLAGS,
        "cpp_args": FLAGS,
        "python.purelibdir": str(SITE),
        "python.platlibdir": str(SITE),
        # The loader chooses among clones before a sanitizer is ready.
        "simd": "false",
        "planted_bugs": "true",
    }
    setup += [f"-D{name}={value}" for name, value in options.items()]
    if (BUILD / "build.ninja").exists():
        setup.append("--reconfigure")
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["meson", "install", "-C", BUILD, "--quiet"], check=True)


def warnings() -> str:
    """What clang says about the sources that Cython made, ours included in them."""
    if shutil.which("clang++") is None:
        return ""
    arguments = ["-fsyntax-only", "-std=c++17", "-Wall", "-Wextra", "-ffp-contract=off"]
    arguments += ["-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
    arguments += [f"-I{ROOT / 'src/omnitree/_core'}"]
    arguments += [f"-I{sysconfig.get_paths()['include']}"]
    said = [
        subprocess.run(
            ["clang++", *arguments, source], capture_output=True, text=True, check=False
        ).stderr
        for source in sorted(BUILD.rglob("*.pyx.cpp"))
    ]
    assert said, f"no sources in {BUILD}"
    return "".join(said)


def environment() -> dict[str, str]:
    """With the run-time libraries of the sanitizers loaded first."""
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    return os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",  # Python keeps what it likes
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "OMNITREE_SANITIZED": str(SITE),
    }


def run(code: str, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """Python with the sanitised package in place of the installed one."""
    start = (
        "import os, sys\n"
        "sys.meta_path = [f for f in sys.meta_path if 'editable' not in "
        "type(f).__module__]\n"
        "sys.path.insert(0, os.environ['OMNITREE_SANITIZED'])\n"
        "import omnitree\n"
        "assert omnitree.__file__.startswith(sys.path[0]), omnitree.__file__\n"
    )
    return subprocess.run(
        [sys.executable, "-c", start + code, *arguments],
        env=environment(),
        cwd=ROOT,
        text=True,
        check=False,
        **options,
    )


def digests() -> int:
    """Compare trees of presets with those of the usual build; 1 if one differs.

    In this process: `tests/test_digests.py` starts one with the installed package.
    """
    code = (
        f"sys.path.insert(0, {str(ROOT / 'benchmarks')!r})\n"
        "import digests\n"
        "if not (digests.find_shared() / 'data').is_dir():\n"
        "    print('digests: left out, need ../shared/data')\n"
        "    sys.exit()\n"
        "sys.exit(digests.main())\n"
    )
    return run(code, "--check", "--only", "preset/*").returncode


def main() -> int:
    """Build, prove that bugs are found, and test."""
    build()
    if said := warnings():
        print(said)
        return 1
    for bug, name in PLANTED.items():
        code = f"from omnitree._core import planted; planted.{bug}; print('alive')"
        done = run(code, capture_output=True)
        if done.returncode == 0 or name not in done.stderr:
            print(f"the planted bug {bug} was not found:\n{done.stderr[-2000:]}")
            return 1
        print(f"planted bug found: {name}")
    chosen = sys.argv[1:] or TESTS
    tests = [name for name in chosen if name != "digests"]
    failed = digests() if "digests" in chosen else 0
    if not tests:
        return failed
    code = "import pytest\nsys.exit(pytest.main(sys.argv[1:]))"
    options = ["-q", "-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider"]
    # These start processes of their own, which would take the installed package.
    options += ["-k", "not interrupt_ends_a_fit"]
    return run(code, *options, *tests).returncode or failed


if __name__ == "__main__":
    sys.exit(main())
