# Taffeta: `make demo` and `make test` need Python 3.11 and make, nothing else.
PYTHON ?= $(firstword $(shell command -v python3.11 python3))
VENV := .venv
BLENDERS := .venv-blender-4.2 .venv-blender-5.0
RUN := $(VENV)/bin/python

# Rooms whose tests need no bake of minutes and no other Blender: `make test-quick` has them.
QUICK := $(addprefix tests/gpu_core/,scene files check subspace elasticity solvers contact live bake/test_bake.py test_simulator.py) \
  $(addprefix tests/addon/,interface scene bake/test_state.py live/test_state.py) tests/test_style.py tests/test_references.py

.PHONY: help demo clip swatches tutorial site scenes test test-quick test-nightly test-gui test-cuda lint kernels samples extension environments clean distclean
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

help:
	@echo "make demo       bake, check and render the drape on a sphere into build/demo"
	@echo "make test-quick  lint and unit tests, in Blender 4.5: two minutes"
	@echo "make test       the tests, in Blender 4.2, 4.5, 5.0 and 5.1 and in the window of 5.2: 26 minutes on two cores"
	@echo "make test-nightly  all tests in all of them, and the suites of benchmarks at their full sizes: hours"
	@echo "make scenes     bake all samples small, judge every frame twice, render a still of each into build/scenes: an hour"
	@echo "make test-gui   the add-on in the windows of Blender 4.3 and 5.2: as root, on Debian, with debootstrap"
	@echo "make test-cuda  the solver on this machine's NVIDIA card: the CPU's drape, the same bits twice, NVIDIA's sanitizer"
	@echo "make lint       ruff, mypy, and who may import whom"
	@echo "make extension  the zips to install in Blender, one for each platform, into dist"
	@echo "make clip, swatches, tutorial  the pictures of the README and the manual that move, show fabrics, and a first garment"
	@echo "make site       the pages of docs as a website, into build/site"
	@echo "make clean      remove products; make distclean removes the environments too"

# $(call environment,FOLDER): a virtual environment that knows this checkout as the package `taffeta`.
define environment
	@test -n "$(PYTHON)" || { echo "Python 3.11 is needed: no python3.11 or python3 was found"; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v == (3, 11) or sys.exit("Python 3.11 is needed, $(PYTHON) is %d.%d: make PYTHON=/path/to/python3.11" % v)'
	@test -x $(1)/bin/pip || $(PYTHON) -m venv --clear $(1)
	@mkdir -p $(1)/checkout && ln -sfn ../.. $(1)/checkout/taffeta
	@$(1)/bin/python -c 'import pathlib, sysconfig; \
	  pathlib.Path(sysconfig.get_path("purelib"), "taffeta.pth").write_text(str(pathlib.Path("$(1)/checkout").absolute()) + "\n")'
endef

# $(call install,FOLDER,GROUP): the pinned packages of one dependency group of pyproject.toml.
define install
	echo "installing $(2) into $(1)"; $(call packages,$(1)/bin/python,$(2)) | $(1)/bin/pip install $(PIP) --requirement /dev/stdin
endef

# $(call fetch,FOLDER,GROUP): the same into a plain folder, for Python 3.13, which need not be on this machine.
define fetch
	echo "installing $(2) into $(1)"; $(call packages,$(RUN),$(2)) | $(VENV)/bin/pip install $(PIP) --target $(1) \
	  --python-version 3.13 $(foreach glibc,2_28 2_17,--platform manylinux_$(glibc)_x86_64) --only-binary :all: \
	  --ignore-requires-python --no-warn-conflicts --requirement /dev/stdin
endef

PIP := --quiet --quiet --no-input --disable-pip-version-check
packages = $(1) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["$(2)"], sep="\n")'

$(VENV)/run.stamp: pyproject.toml
	$(call environment,$(VENV))
	@$(call install,$(VENV),run)
	@command -v c++ g++ clang++ >/dev/null || { echo "no C++ compiler found, taking ziglang"; $(call install,$(VENV),compiler); }
	@$(RUN) -c 'import bpy' || { echo "Blender's module does not load; the README names the system libraries it needs"; exit 1; }
	@touch $@

$(VENV)/compiler.stamp: $(VENV)/run.stamp
	@$(call install,$(VENV),compiler)
	@touch $@

# after the compiler, for two pips in one environment would meet
$(VENV)/test.stamp: $(VENV)/compiler.stamp
	@$(call install,$(VENV),test)
	@touch $@

.venv-blender-%/run.stamp: pyproject.toml
	$(call environment,.venv-blender-$*)
	@$(call install,.venv-blender-$*,blender-$(subst .,_,$*))
	@touch $@

# An environment of the Debian that tests/blender_5_1.py runs it in: its Python is not here.
.venv-blender-5.1/run.stamp: pyproject.toml $(VENV)/run.stamp
	@rm -rf $(@D) && mkdir -p $(@D)/bin && ln -s /usr/bin/python3.13 $(@D)/bin/python
	@printf 'home = /usr/bin\nversion = 3.13\n' >$(@D)/pyvenv.cfg
	@$(call fetch,$(@D)/lib/python3.13/site-packages,blender-5_1)
	@$(call fetch,$(@D)/tests,python-3_13)
	@touch $@

.venv-site/run.stamp: pyproject.toml
	$(call environment,.venv-site)
	@$(call install,.venv-site,site)
	@touch $@

environments: $(VENV)/test.stamp $(BLENDERS:%=%/run.stamp)

kernels: $(VENV)/run.stamp
	@$(RUN) -m taffeta.gpu_core.backend.build >/dev/null

demo: kernels
	@$(RUN) -m taffeta.sample_blends.demo

# The checked-in samples: only needed after their scripts have changed.
samples: $(VENV)/run.stamp
	@$(RUN) -m taffeta.sample_blends.stored

# A scene that was done at this commit is skipped, so it may be broken off. SCENES="cape jeans": these only.
scenes: $(VENV)/test.stamp kernels
	@$(RUN) -m taffeta.benchmarks.scenes.gallery $(SCENES)

# The pictures of README and manual, as they are checked in.
CLIP := build/clip/drape
clip: $(VENV)/test.stamp kernels
	@mkdir -p $(dir $(CLIP))
	@$(RUN) -m taffeta sample drape_on_sphere --vertices 4000 --out $(CLIP).blend
	@$(RUN) -m taffeta bake $(CLIP).blend --backend cpu --save-blend $(CLIP)_baked.blend
	@$(RUN) -m taffeta.sample_blends.render $(CLIP)_baked.blend docs/pictures/drape_on_sphere.webp \
	  --frames 1:27 --step 2 --percentage 50 --samples 8

# Fails where a link leads nowhere; with --quiet it would not.
site: .venv-site/run.stamp
	@NO_MKDOCS_2_WARNING=1 .venv-site/bin/python -m mkdocs build --clean
	@echo "build/site/index.html"

swatches tutorial: $(VENV)/test.stamp kernels
	@$(RUN) -m taffeta.sample_blends.$@

test:
	@$(MAKE) -j2 environments
	@$(MAKE) kernels
	@$(RUN) -m pytest --numprocesses=auto --no-loadscope-reorder --verbose --durations=50

test-quick: $(VENV)/test.stamp lint kernels
	@$(RUN) -m pytest --numprocesses=auto --no-loadscope-reorder --quiet $(QUICK)

# Tests that `make test` skips for their time, the suites at their full sizes, and random scenes that no night before has
# had. Stress keeps its rows in benchmarks/results.
FUZZ_SECONDS := 3600
test-nightly: export TAFFETA_NIGHTLY := 1
test-nightly: test
	@$(MAKE) scenes
	@$(RUN) -m taffeta.benchmarks.material
	@$(RUN) -m taffeta.benchmarks.physics
	@$(RUN) -m taffeta.benchmarks.stress
	@$(RUN) -m taffeta.benchmarks.stress.fuzz --first $$(($$(date +%s) / 86400 * 1000)) --seconds $(FUZZ_SECONDS)

# `make test` has those that can be had; a Blender that is named here must be had.
test-gui: $(VENV)/test.stamp
	@TAFFETA_GUI="4.3 5.2" $(RUN) -m pytest tests/gui

# `make test` skips them where no device answers; here one must.
test-cuda: $(VENV)/test.stamp kernels
	@TAFFETA_CUDA=1 $(RUN) -m pytest tests/gpu_core/backend/test_cuda.py

lint: $(VENV)/test.stamp
	@$(RUN) -m ruff check .
	@$(RUN) -m mypy
	@$(VENV)/bin/lint-imports --no-cache

extension: $(VENV)/compiler.stamp
	@$(RUN) -m taffeta.extension dist

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache

distclean: clean
	rm -rf $(VENV) $(BLENDERS) .venv-blender-5.1 .venv-site
