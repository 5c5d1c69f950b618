# SPDX-License-Identifier: GPL-3.0-or-later
"""The libraries that are shipped: whole, the same bytes each time, and the same bits as one built on this machine."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taffeta.benchmarks.balloon import pinched_balloon
from taffeta.extension import BUILD, ZIG_CACHES, cross_build, cross_compiler, kernels
from taffeta.gpu_core.backend import build
from taffeta.gpu_core.backend.cpu import CpuBackend
from taffeta.gpu_core.backend.signatures import CHUNK, signatures
from taffeta.gpu_core.scene.edges import Cords
from taffeta.gpu_core.scene.fabrics import COTTON
from taffeta.gpu_core.scene.scene import Scene
from taffeta.gpu_core.simulator import Simulator
from taffeta.gpu_core.solvers.parameters import NdbParameters
from taffeta.gpu_core.solvers.sums import DotProduct
from taffeta.tests.gpu_core.small_scene import every_field, sewn_tube, small_scene
from taffeta.tests.gpu_core.swinging import swinging

SOURCE = str(Path(__file__).with_name("replay_kernels.cpp"))
#: First bytes of a library. Windows' is not here: zig takes minutes for its C library, seconds for the others'.
MAGIC = {"linux-x64": b"\x7fELF", "macos-arm64": b"\xcf\xfa\xed\xfe", "macos-x64": b"\xcf\xfa\xed\xfe"}
#: Kernels that are not replayed, and why.
NOT_REPLAYED = {
    "pair_distance": "no solver launches it: tests compare it with ipctk",
    "place_flagged": "the CUDA backend's alone: NumPy selects on the CPU",
}
WINE = shutil.which("wine64", path=f"{os.environ['PATH']}:/usr/lib/wine")  # where Debian's wine64 leaves it


class Recorder(CpuBackend):
    """Remembers each kernel's last launch that had something to do: arguments before, arguments after."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.launches: dict[str, tuple[int, list[Any], list[Any]]] = {}

    def sequence(self, launches):
        steps = [(launch, CpuBackend.sequence(self, [launch])) for launch in launches]

        def run() -> None:
            for item, step in steps:
                parameters = signatures()[item.kernel].parameters
                before = [np.copy(item.arguments[parameter.name]) for parameter in parameters]
                step()
                if item.elements > 0:
                    # what a kernel only reads may be the array that it writes as well, which a replay cannot know
                    after = [
                        old if parameter.constant else np.copy(item.arguments[parameter.name])
                        for old, parameter in zip(before, parameters, strict=True)
                    ]
                    self.launches[item.kernel] = item.elements, before, after

        return run


def tied(scene: Scene) -> Scene:
    """With a cord across, which pulls."""
    (cloth,) = scene.cloths
    return replace(scene, cloths=(replace(cloth, cords=Cords(np.int32([[0, 19]]), np.array([0.1]))),))


@pytest.fixture(scope="module")
def recorded() -> Recorder:
    """Drapes with contact, self-collision and friction, each in another way, and what garments have besides: kernels on
    arrays that mean something."""
    recorder = Recorder()
    plain = small_scene(8, 12)
    rubbing = replace(plain.cloths[0], material=COTTON.material, thickness=COTTON.contact_thickness)
    baseline = small_scene(3, 6)  # of its log barrier: the logarithm is ours, and alike everywhere
    cotton = replace(plain, cloths=(rubbing,))  # its yarns rub, as those of every preset
    for scene, parameters in (
        (plain, None),
        (cotton, None),
        (replace(cotton, settings=replace(cotton.settings, preset="paper")), None),
        (cotton, NdbParameters(system="constant", start="warm")),
        (replace(baseline, settings=replace(baseline.settings, solver="pd_ipc")), None),
        (replace(small_scene(3, 5), fields=every_field()), None),
        (pinched_balloon(60), None),
        (swinging(4), None),
        (swinging(3), NdbParameters(system="constant")),
        (tied(sewn_tube(4, 6)), None),
    ):
        simulator = Simulator(scene, recorder, parameters)
        for _ in range(min(11, scene.settings.frames - 1)):
            simulator.advance_frame()
    many = DotProduct(recorder, CHUNK**2 + 1)  # vertices, so that their sum has a stage that smaller meshes do not need
    many.product["partial"][:] = np.random.default_rng(1).normal(size=CHUNK + 1)
    recorder.run(many.used("negative_total", negative=np.zeros(1, np.int32)))
    return recorder


@pytest.mark.parametrize("platform", MAGIC)
def test_a_library_is_the_same_bytes_each_time_and_names_no_path(platform, tmp_path):
    first = kernels(platform)
    second = tmp_path / "another place" / first.name
    cross_build(platform, second)
    content = first.read_bytes()
    assert content == second.read_bytes()
    assert content.startswith(MAGIC[platform])
    assert b"taffeta_kernel" in content
    assert not re.search(rb"/build/|\.cpp|/tm[p]/|/hom[e]/", content)
    assert str(BUILD).encode() not in content


def test_a_library_of_other_sources_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "SHIPPED", tmp_path)
    monkeypatch.setenv("TAFFETA_BUILD", str(tmp_path / "built"))
    shipped = tmp_path / build.file_name("release", build.machine())
    shipped.touch()
    assert build.library() == shipped
    assert build.is_shipped(shipped)
    source = build.cpu_source()
    monkeypatch.setattr(build, "cpu_source", lambda: source + "// another\n")
    built = build.library()
    assert built.parent == tmp_path / "built"
    assert not build.is_shipped(built)
    CpuBackend(1, built)


@pytest.mark.skipif(build.machine() not in MAGIC, reason="no library is shipped for this machine")
def test_the_shipped_library_gives_the_bits_of_one_built_here():
    results = []
    for path in (None, kernels(build.machine())):
        simulator = Simulator(small_scene(8, 12), CpuBackend(2, path))
        reports = [simulator.advance_frame() for _ in range(7)]
        assert max(report.contacts for report in reports) > 0
        results.append(simulator.state())
    built, shipped = results
    assert [name for name in built if not np.array_equal(built[name], shipped[name])] == []


def test_all_kernels_are_recorded_but_those_with_a_reason(recorded):
    assert set(signatures()) - set(recorded.launches) == set(NOT_REPLAYED)


@pytest.mark.skipif(WINE is None, reason="wine is not installed")
def test_the_windows_library_gives_the_bits_of_linux(recorded, tmp_path):
    library = kernels("windows-x64")
    program = tmp_path / "replay_kernels.exe"
    # The library's own flags: for others zig compiles Windows' whole C library a second time.
    flags = [flag for flag in (*build.COMMON_FLAGS, *build.FLAGS["release"], "-s") if flag != "-shared"]
    zig = [*cross_compiler("windows-x64"), *flags, SOURCE, "-o", str(program), *build.LIBRARIES]
    subprocess.run(zig, env={**os.environ, **ZIG_CACHES}, check=True)
    launches = (record(name, count, before) for name, (count, before, _) in recorded.launches.items())
    (tmp_path / "launches").write_bytes(b"".join(launches))
    run = subprocess.run(
        [str(WINE), str(program), str(library), "launches", "results"],
        cwd=tmp_path,
        env={**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all"},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert run.returncode == 0, run.stderr
    expected = {name: record(name, count, after) for name, (count, _, after) in recorded.launches.items()}
    results, place = (tmp_path / "results").read_bytes(), 0
    different = []
    for name, content in expected.items():
        if results[place : place + len(content)] != content:
            different.append(name)
        place += len(content)
    assert place == len(results)
    assert different == []


def record(kernel: str, count: int, arguments: list[Any]) -> bytes:
    """A launch as replay_kernels.cpp reads it. arguments: arrays, and numbers as arrays without dimension."""
    entries, arrays = [], []
    for parameter, argument in zip(signatures()[kernel].parameters, arguments, strict=True):
        if parameter.pointer:
            content = argument.tobytes()
            arrays.append(content + bytes(-len(content) % 16 or (16 if not content else 0)))
            entries.append(struct.pack("<qii", len(arrays[-1]), 0, 0))
        else:
            bits = np.asarray(argument, parameter.dtype).tobytes()
            entries.append(struct.pack("<q4si", 0, bits, 0))
    whole = CHUNK if signatures()[kernel].summed else 1
    head = struct.pack("<64siiii", kernel.encode(), count, len(entries), whole, 0)
    return head + b"".join(entries) + b"".join(arrays)
