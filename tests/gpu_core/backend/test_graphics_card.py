# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver says becomes a clear word: no driver, no card, too old, broken, little memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taffeta.gpu_core.backend.cuda import load_nvrtc
from taffeta.gpu_core.backend.graphics_card import MIB, Card, Driver, ask, diagnose, with_numbers

CARD = Card("NVIDIA GeForce RTX 3080 Ti", 12288 * MIB, (8, 6))
GOOD = Driver(True, 12040, cards=(CARD,))

#: As `nvidia-smi --query-gpu=name,driver_version,memory.total,memory.free --format=csv,noheader,nounits` prints it.
TWO_CARDS = "NVIDIA GeForce GTX 1050 Ti, 550.54.14, 4096, 2131\nNVIDIA GeForce RTX 3080 Ti, 550.54.14, 12288, 600\n"
NO_ANSWER = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124\n"
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)


def test_a_card_that_can_be_used_has_no_problem():
    found = diagnose(GOOD, "linux")
    assert (found.problem, found.warning, found.cuda) == ("", "", "12.4")


CASES = {
    "no driver": (Driver(), "No NVIDIA driver is installed"),
    "no card": (Driver(True, 12040, error=100, error_text="no CUDA-capable device is detected"), "finds no card"),
    "no card, no error": (Driver(True, 12040), "finds no card"),
    "driver too old": (replace(GOOD, cuda=11040, release="470.57.02"), "470.57.02 is too old: it knows CUDA 11.4"),
    "mismatch": (Driver(True, 12040, error=803), "do not belong together"),
    "broken": (Driver(True, 12040, error=999, error_text="unknown error"), "does not start: unknown error"),
    "card too old": (replace(GOOD, cards=(Card("Tesla K40c", 11441 * MIB, (3, 5)),)), "Tesla K40c is too old"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_in_the_way_is_named_with_a_remedy(case):
    driver, expected = CASES[case]
    found = diagnose(driver, "linux")
    assert expected in found.problem
    assert found.remedy


def test_an_old_driver_is_named_before_what_it_fails_with():
    assert "too old" in diagnose(Driver(True, 11040, error=999), "linux").problem


def test_a_mac_has_no_cuda():
    assert "macOS" in diagnose(GOOD, "darwin").problem


def test_the_release_and_the_free_memory_of_each_card_come_from_the_program():
    driver = with_numbers(replace(GOOD, cards=(CARD, replace(CARD, name="NVIDIA GeForce GTX 1050 Ti"))), TWO_CARDS)
    assert driver.release == "550.54.14"
    assert [card.free for card in driver.cards] == [600 * MIB, 2131 * MIB]


def test_little_memory_is_warned_of_and_no_problem():
    found = diagnose(with_numbers(GOOD, TWO_CARDS), "linux")
    assert not found.problem
    assert "600 of 12288 MiB are free on NVIDIA GeForce RTX 3080 Ti" in found.warning


@pytest.mark.parametrize("output", ["", "No devices were found\n", NO_ANSWER, NO_DRIVER, "Card, 550.1, [N/A], [N/A]\n"])
def test_a_program_that_only_complains_adds_no_numbers(output):
    driver = with_numbers(GOOD, output)
    assert driver.cards == GOOD.cards
    assert driver.release in ("", "550.1")


def test_a_machine_without_a_driver_says_so():
    driver = ask()
    if driver.installed:
        pytest.skip("this machine has an NVIDIA driver")
    assert diagnose(driver, "linux").problem == "No NVIDIA driver is installed"


def test_the_pinned_libraries_compile_cupys_own_headers_without_a_toolkit():
    load_nvrtc()
    from cupy import _environment
    from cupy._core import core
    from cupy.cuda import nvrtc

    folders = [*_environment._get_include_dir_from_conda_or_wheel(*nvrtc.getVersion()), core._get_header_dir_path()]
    assert len(folders) == 2, "CuPy finds no headers that belong to this NVRTC"
    source = '#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\nextern "C" __global__ void nothing() {}'
    program = nvrtc.createProgram(source, "nothing.cu", [], [])
    options = [*core._get_cccl_include_options(), *(f"-I{folder}" for folder in folders), "--std=c++17", "-arch=sm_80"]
    nvrtc.compileProgram(program, options)
    assert nvrtc.getCUBIN(program)
