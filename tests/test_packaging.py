# SPDX-License-Identifier: GPL-3.0-or-later
"""The built zip is a valid extension, and it installs, bakes and leaves in every Blender it promises."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taffeta.extension import INSTALLER, build, command_line, tags
from taffeta.gpu_core.backend.build import file_name, library, machine
from taffeta.sample_blends import FETCHED, NAMES
from taffeta.tests import blender_5_1
from taffeta.tests.addon.wheels import build as build_wheels

ROOT = Path(__file__).resolve().parents[1]
CYCLE = Path(__file__).with_name("extension_cycle.py")
PATIENCE = 180  #: s; a Blender that hangs at exit runs into it
PYTHONS = {
    "4.2": ROOT / ".venv-blender-4.2" / "bin" / "python",
    "4.5": Path(sys.executable),
    "5.0": ROOT / ".venv-blender-5.0" / "bin" / "python",
}
#: What the simulator is tested with on Python 3.13, without what takes long or needs a compiler: rooms where Python and
#: NumPy do the work, and whole bakes.
ROOMS = (
    "scene", "files", "check", "subspace", "solvers/test_multilevel.py", "solvers/test_sums.py", "live",
    "bake/test_bake.py", "bake/test_certificate.py", "bake/test_resume.py",
    "test_simulator.py::test_a_drape_keeps_the_guarantee_and_its_size",
    "test_simulator.py::test_the_same_scene_gives_the_same_bits_and_resumes_to_them",
)  # fmt: skip
#: What the kernels do there, whose library is the one that these test on Python 3.11.
KERNELS = (
    "elasticity", "solvers", "test_simulator.py", "test_energy.py", "test_pull.py", "contact/test_collision.py",
    "contact/test_thickness.py",
)  # fmt: skip
#: Left out there: thousands of damaged files, which meet the same parser as on Python 3.11, and a minute of wringing.
LONG = (
    "files/test_hostile.py", "files/test_hostile_job.py",
    "files/test_job.py::test_a_flipped_bit_is_refused_or_changes_nothing_that_is_simulated",
    "test_simulator.py::test_pins_that_turn_wring_the_sheet_without_tangling",
)  # fmt: skip
SAMPLE = re.compile(r"sample_blends/\w+\.py").fullmatch
#: (years, first word of the holder) in a licence text; not those of the texts of the GPL themselves.
COPYRIGHT = r"(?m)^.*Copyright +(?:\([cC]\) )?(\d{4}(?:-\d{4})?),?(?: - | |$)(?!.*fsf\.org)(\w*)"


@pytest.fixture(scope="session")
def cpu_package(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Path:
    """The zip that fetches nothing, for this machine."""
    return build(machine(), tmp_path_factory.mktemp("dist"), cpu=True)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that Blender 5.1 sees too. Skips where there can be none."""
    try:
        blender_5_1.prepare()
    except RuntimeError as obstacle:
        pytest.skip(f"no Debian with Python 3.13: {obstacle}")
    with tempfile.TemporaryDirectory(dir=blender_5_1.FOLDER) as folder:
        yield Path(folder)


@pytest.mark.parametrize("build", ["package", "cpu_package"])
def test_the_zip_is_a_valid_extension(build, request):
    package = request.getfixturevalue(build)
    validate = [sys.executable, str(command_line()), "validate", f"--valid-tags={tags()}", str(package)]
    run = subprocess.run(validate, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_zip_holds_the_product_and_nothing_else(package):
    names = zipfile.ZipFile(package).namelist()
    files = [name for name in names if not name.endswith("/")]
    assert {name.split("/")[0] for name in files} == {
        "blender_manifest.toml", "__init__.py", "__main__.py", "addon", "gpu_core", "wheels", "README.md", "LICENSE",
        "docs", "sample_blends",
    }  # fmt: skip
    manual = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "manual").rglob("*.md")}
    assert {name for name in files if name.startswith("docs/")} == manual
    assert not [name for name in files if "__pycache__" in name]
    assert any(name.startswith("gpu_core/kernels/") and name.endswith(".h") for name in files)
    libraries = [name for name in files if name.startswith("gpu_core/backend/libraries/")]
    assert libraries == [f"gpu_core/backend/libraries/{file_name('release', machine())}"]
    pythons = {name.split("-")[2] for name in files if name.startswith("wheels/")}
    assert pythons == {"cp311", "cp313", "py3"}  # SciPy twice, and filelock


def test_the_zip_holds_all_that_its_samples_are_built_of(package):
    zipped = zipfile.ZipFile(package)
    modules = {name.removeprefix("sample_blends/").removesuffix(".py") for name in zipped.namelist() if SAMPLE(name)}
    assert set(NAMES) <= modules
    assert not set(FETCHED) & modules
    for module in modules:
        text = zipped.read(f"sample_blends/{module}.py").decode()
        used = set(re.findall(r"(?m)^from \.(\w+) import", text))
        assert used <= modules, f"{module}: {used - modules}"


def test_the_cpu_build_lacks_the_installer_and_the_permission_and_nothing_else(package, cpu_package):
    full, cpu = zipfile.ZipFile(package), zipfile.ZipFile(cpu_package)
    assert set(full.namelist()) - set(cpu.namelist()) == set(INSTALLER)
    assert set(cpu.namelist()) <= set(full.namelist())
    assert sorted(manifest(full)["permissions"]) == ["files", "network"]
    assert sorted(manifest(cpu)["permissions"]) == ["files"]
    assert not [name for name in cpu.namelist() if name.endswith(".py") and b'"pip"' in cpu.read(name)]


def test_the_version_is_one_everywhere_and_dated_in_the_changelog():
    text = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")}
    version, date = re.findall(r"(?m)^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", text["CHANGELOG.md"])[0]
    assert re.findall(r"(?m)^(?:version|date-released): (.*)$", text["CITATION.cff"]) == [version, date]
    for name, table in (("blender_manifest.toml", ()), ("pyproject.toml", ("project",))):
        values = tomllib.loads((ROOT / name).read_text(encoding="utf-8"))
        for key in table:
            values = values[key]
        assert values["version"] == version, name


def test_the_manifest_names_every_holder_in_the_licences_of_the_wheels(package):
    zipped = zipfile.ZipFile(package)
    holders = manifest(zipped)["copyright"]
    wheels = [zipfile.ZipFile(zipped.open(name)) for name in zipped.namelist() if name.endswith(".whl")]
    named = []
    for wheel in wheels:
        texts = [name for name in wheel.namelist() if name.rsplit("/", 1)[-1].startswith(("LICENSE", "COPYING"))]
        lines = re.findall(COPYRIGHT, "\n".join(wheel.read(name).decode() for name in texts))
        named.append(len(lines))
        for years, name in lines:
            assert [holder for holder in holders if holder.startswith(years) and name in holder], (years, name)
    assert sorted(named) == [1, 14, 14]


@pytest.mark.parametrize("version", PYTHONS)
def test_the_zip_installs_bakes_frees_and_leaves_without_a_compiler(version, package, tmp_path):
    cycle(version, package, tmp_path, str(build_wheels(tmp_path / "wheels")))


def test_the_cpu_build_does_all_but_install_gpu_libraries(cpu_package, tmp_path):
    cycle("4.5", cpu_package, tmp_path, "-")


def test_the_zip_does_the_same_in_blender_5_1_with_python_3_13_and_numpy_2(package, shared):
    zipped = Path(shutil.copy2(package, shared))
    cycle("5.1", zipped, shared, blender_5_1.there(build_wheels(shared / "wheels")))


@pytest.mark.parametrize(
    "rooms",
    [ROOMS, pytest.param(KERNELS, marks=pytest.mark.nightly("the same library passes them on Python 3.11"))],
    ids=["rooms", "kernels"],
)
def test_the_simulator_passes_its_tests_on_python_3_13_with_numpy_2(rooms, shared):
    shutil.copy2(library(), shared)
    environment = {
        "PYTHONPATH": f"{blender_5_1.there(blender_5_1.PACKAGES)}:/shared/.venv/checkout",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAFFETA_BUILD": blender_5_1.there(shared),
        "TAFFETA_THREADS": "1",  # other tests have the other processors
    }
    tests = [f"tests/gpu_core/{room}" for room in rooms]
    options = ["-q", "-p", "no:cacheprovider", *(f"--deselect=tests/gpu_core/{long}" for long in LONG)]
    run = blender_5_1.run(["-m", "pytest", *options, *tests], environment, timeout=2 * PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr


def manifest(zipped: zipfile.ZipFile) -> dict[str, Any]:
    return tomllib.loads(zipped.read("blender_manifest.toml").decode())


def cycle(version: str, package: Path, folder: Path, wheels: str) -> None:
    """All that `extension_cycle.py` does, in this Blender."""
    there = blender_5_1.there if version == "5.1" else str
    work, built = folder / "work", folder / "built"
    work.mkdir()
    arguments = ["-I", there(CYCLE), there(package), wheels, there(work)]
    environment = {
        "HOME": there(folder),
        "PATH": there(folder),
        "BLENDER_USER_RESOURCES": there(folder / "resources"),
        "TAFFETA_BUILD": there(built),
    }
    if version == "5.1":
        run = blender_5_1.run(arguments, environment, PATIENCE)
    else:
        run = subprocess.run(
            [str(PYTHONS[version]), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"DONE {version}." in run.stdout
    assert not built.exists(), "a kernel library was compiled"
