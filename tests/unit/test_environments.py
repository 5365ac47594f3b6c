"""Environments: recipes, pip's configuration, interrupted and concurrent creations. Only NumPy is ever installed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minrepro import backends, environments, errors
from minrepro.environments import installer, making, pip_settings, pythons, recipes, stand_ins, store
from minrepro.environments.doctor import doctor

REPOSITORY = Path(__file__).parents[2]
CREATE = """
import sys
from minrepro import backends, environments
made = environments.create(backends.parse(sys.argv[1]), say=lambda line: print(line, flush=True))
print("name", made.name)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINREPRO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "environments"


def spec(text):
    return backends.parse(text)


def creator(text):
    """A process that creates an environment."""
    return subprocess.Popen(
        [sys.executable, "-c", CREATE, text],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def fake_environment(folder, name, backend, version):
    made = folder / name
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "python").symlink_to(sys.executable)
    store.write(environments.Environment(name, backend, version, "", "", {}, 1), made)
    return made


# -- recipes -------------------------------------------------------------------------------------------------------


def variants(text):
    asked = spec(text)
    return recipes.find(asked.backend).variants(recipes.wanted_version(asked))


def test_every_pinned_section_starts_with_the_package_of_its_backend():
    for name, lines in recipes.pins().items():
        assert lines[0].partition("==")[0] == backends.table()[name].package


@pytest.mark.parametrize("name, version", [("torch", "2.13.0"), ("paddle", "3.3.1"), ("oneflow", "0.9.0")])
def test_a_spec_without_version_takes_the_pinned_one(name, version):
    assert recipes.wanted_version(spec(name)) == version
    assert recipes.wanted_version(spec(f"{name}==1.2.3")) == "1.2.3"


def test_torch_asks_for_the_cpu_build_before_the_plain_one(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    ways = variants("torch==2.9.1")
    assert [way.requirements[0] for way in ways] == ["torch==2.9.1+cpu", "torch==2.9.1+cpu", "torch==2.9.1"]
    assert "3 GB" in ways[-1].note
    assert [way.requirements[0] for way in variants("torch==2.9.1+cpu")] == ["torch==2.9.1+cpu"]


@pytest.mark.parametrize("text, numpy", [("paddle==2.6.2", "numpy<2"), ("paddle==3.0.0", "numpy"), ("paddle", "numpy")])
def test_paddle_gets_what_it_does_not_declare(text, numpy):
    (way,) = variants(text)
    assert {"setuptools<81", numpy} < set(way.requirements)


@pytest.mark.parametrize("compiler", [True, False])
def test_oneflow_gets_its_cuda_libraries_compiled_or_as_wheels(monkeypatch, compiler):
    monkeypatch.setattr(stand_ins, "can_compile", lambda: compiler)
    (way,) = variants("oneflow")
    assert {"oneflow==0.9.0", "numpy<2", "protobuf<4"} <= set(way.requirements)
    assert (way.finish is not None) == compiler
    assert any("nvidia" in name for name in way.requirements) != compiler


def test_oneflow_is_never_put_on_a_python_that_only_has_its_placeholder():
    assert recipes.pythons(spec("oneflow").backend) == ("3.10", "3.9", "3.8")


def test_a_backend_without_a_recipe_is_its_package_and_numpy():
    class Unheard:
        name, package = "unheard", "unheard-of"

    assert recipes.find(Unheard).variants("1.0")[0].requirements == ("unheard-of==1.0", "numpy")


@pytest.mark.parametrize(
    "asked, found, same",
    [
        ("2.13.0", "2.13.0+cpu", True),
        ("2.13.0+cpu", "2.13.0", False),
        ("3.0", "3.0.0", True),
        ("3.0.0", "3.0.1", False),
        ("3", "30", False),
    ],
)
def test_versions_compare_as_in_requirements(asked, found, same):
    assert store.same_version(asked, found) is same


@pytest.mark.parametrize(
    "bounds, admitted, refused",
    [(">=3.8,<3.11", "3.10", "3.11"), (">=3.10", "3.13", "3.9"), ("!=3.12, >3.8", "3.9", "3.12")],
)
def test_python_bounds_compare_numbers_not_text(bounds, admitted, refused):
    assert pythons.admits(bounds, admitted) and not pythons.admits(bounds, refused)


# -- interpreters --------------------------------------------------------------------------------------------------


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_a_shim_that_fails_is_passed_over(tmp_path, monkeypatch):
    script(tmp_path / "shims" / "python3.99", "echo 'python3.99: command not found' >&2; exit 127\n")
    real = """echo '{"path": "/real/python3.99", "minor": "3.99", "usual": true}'\n"""
    script(tmp_path / "pyenv" / "versions" / "3.99.2" / "bin" / "python3.99", real)
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert pythons.find("3.99") == "/real/python3.99"
    assert pythons.find("3.98") is None


def test_an_interpreter_that_is_named_must_hold_the_framework(tmp_path):
    bare = subprocess.run(
        [installer.uv_path(), "venv", "-q", "--python", sys.executable, tmp_path / "bare"], check=False
    )
    assert bare.returncode == 0
    with pytest.raises(
        errors.BackendMissing, match=r"has no module 'torch'(.|\n)*\nminrepro env create torch==2\.13\.0$"
    ):
        environments.resolve(spec(f"torch@{tmp_path}/bare/bin/python"))
    with pytest.raises(errors.BackendMissing, match="not a Python that runs"):
        environments.resolve(spec("torch@/no/such/python"))
    with pytest.raises(errors.BackendMissing, match="but it has NumPy"):
        environments.resolve(spec(f"numpy==0.1@{sys.executable}"))
    found = environments.resolve(spec(f"numpy@{sys.executable}"))
    assert (found.interpreter, found.folder) == (sys.executable, "")


def test_numpy_is_minrepros_own(folder):
    fake_environment(folder, "numpy-2.4.6-py3.11", "numpy", "2.4.6")
    found = environments.resolve(spec("numpy"))
    assert found.interpreter == sys.executable and found.version == found.packages["numpy"]


def test_a_missing_backend_ends_with_the_command_that_adds_it(folder):
    with pytest.raises(errors.BackendMissing) as caught:
        environments.resolve(spec("paddle==3.0.99"))
    assert str(caught.value).endswith("\nminrepro env create paddle==3.0.99")
    assert caught.value.exit_status == 4
    assert making.command_spec(spec("paddle")) == "paddle==3.3.1"


def test_the_cache_answers_by_version(folder):
    for version in ("3.0.0", "3.3.1"):
        fake_environment(folder, f"paddle-{version}-py3.11", "paddle", version)
    assert environments.resolve(spec("paddle")).version == "3.3.1"
    assert environments.resolve(spec("paddle==3.0")).name == "paddle-3.0.0-py3.11"
    assert [made.version for made in environments.listing()] == ["3.0.0", "3.3.1"]


def test_an_environment_is_not_listed_when_it_is_damaged(folder):
    for name in ("a", "b", "c"):
        fake_environment(folder, f"paddle-{name}-py3.11", "paddle", name)
    (folder / "paddle-a-py3.11" / store.RECORD).write_text("{")
    (folder / "paddle-b-py3.11" / "bin" / "python").unlink()
    (folder / "paddle-b-py3.11" / "bin" / "python").symlink_to("/no/such/python")
    assert [made.version for made in environments.listing()] == ["c"]


def test_an_environment_that_came_first_stays_and_a_damaged_one_does_not(folder):
    first = fake_environment(folder, "paddle-3.3.1-py3.11", "paddle", "3.3.1")
    (first / "first").touch()
    store.place(fake_environment(folder, ".making-a", "paddle", "3.3.1"), first)
    assert (first / "first").exists()
    (first / store.RECORD).unlink()
    store.place(folder / ".making-a", first)
    assert not (first / "first").exists() and store.read(first) is not None


def test_only_environments_can_be_removed(folder):
    fake_environment(folder, "paddle-3.3.1-py3.11", "paddle", "3.3.1")
    for name in ("..", "", ".logs", "paddle", "../environments"):
        with pytest.raises(errors.UsageError, match=r"paddle-3\.3\.1-py3\.11"):
            environments.remove(name)
    environments.remove("paddle-3.3.1-py3.11")
    assert environments.listing() == () and list(folder.iterdir()) == []


# -- pip's configuration -------------------------------------------------------------------------------------------


def conf(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_pips_files_are_read_in_pips_order(tmp_path):
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}
    paths = pip_settings.files(environ)
    shared, user = tmp_path / "xdg" / "pip" / "pip.conf", tmp_path / ".config" / "pip" / "pip.conf"
    assert paths.index(shared) < paths.index(Path("/etc/pip.conf")) < paths.index(user)
    named = pip_settings.files({**environ, "PIP_CONFIG_FILE": "/named.conf"})
    assert named[-1] == Path("/named.conf") and user not in named
    assert pip_settings.files({**environ, "PIP_CONFIG_FILE": os.devnull}) == ()


def test_pips_settings_override_each_other_as_in_pip(tmp_path):
    weak = conf(tmp_path / "a.conf", "[global]\nindex-url = weak\ncert = /weak.pem\nfind-links =\n  /one\n  /two\n")
    strong = conf(tmp_path / "b.conf", "[install]\nindex_url = strong\n[global]\nindex-url = middle\n")
    settings = pip_settings.read({}, [weak, strong])
    assert (settings.index_url, settings.cert, settings.find_links) == ("strong", "/weak.pem", ("/one", "/two"))
    environ = {"PIP_INDEX_URL": "variable", "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "x y", "PIP_NO_INDEX": "1"}
    settings = pip_settings.read(environ, [weak, strong])
    assert (settings.index_url, settings.extra_index_urls, settings.no_index) == ("variable", ("x", "y"), True)
    assert settings.find_links == ("/one", "/two")


def test_a_broken_or_absent_file_of_pips_is_passed_over(tmp_path):
    broken = conf(tmp_path / "broken.conf", "no section\n")
    assert pip_settings.read({}, [broken, tmp_path / "absent.conf"]) == pip_settings.PipSettings()


def test_relative_paths_become_absolute_and_addresses_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = pip_settings.read({"PIP_FIND_LINKS": "wheels file:///w ftp://host/w", "PIP_CONSTRAINT": "c.txt"}, [])
    assert settings.find_links == (str(tmp_path / "wheels"), "file:///w", "ftp://host/w")
    assert settings.constraints == (str(tmp_path / "c.txt"),)


def test_uv_is_told_what_pip_was_told():
    settings = pip_settings.PipSettings("main", ("extra",), ("/wheels",), trusted_hosts=("host",), no_index=True)
    assert pip_settings.uv_arguments(settings) == [
        "--default-index",
        "main",
        "--index",
        "extra",
        "--find-links",
        "/wheels",
        "--allow-insecure-host",
        "host",
        "--index-strategy",
        "unsafe-best-match",
        "--no-index",
    ]


def test_what_uv_was_told_itself_stands(tmp_path):
    settings = pip_settings.PipSettings("main", ("extra",), ("/wheels",))
    told = pip_settings.told_to_uv({"UV_INDEX_URL": "own", "UV_INDEX": "own"}, [])
    assert pip_settings.uv_arguments(settings, told) == ["--find-links", "/wheels"]
    toml = conf(tmp_path / "uv.toml", '[pip]\nfind-links = ["/own"]\n')
    assert pip_settings.told_to_uv({}, [toml, tmp_path / "absent.toml"]) == {"find-links"}
    assert pip_settings.told_to_uv({"UV_NO_CONFIG": "1"}, [toml]) == frozenset()


def test_certificate_proxy_and_timeout_become_variables_unless_set(tmp_path):
    cert = conf(tmp_path / "ca.pem", "")
    settings = pip_settings.PipSettings(cert=str(cert), proxy="proxy:1", timeout="9")
    assert pip_settings.uv_variables(settings, {"https_proxy": "own"}) == {
        "SSL_CERT_FILE": str(cert),
        "HTTP_PROXY": "proxy:1",
        "UV_HTTP_TIMEOUT": "9",
    }


def test_the_log_masks_credentials(tmp_path):
    log = installer.Log(tmp_path / "log", print)
    log.run([sys.executable, "-c", "print('https://me:secret@host/simple')"], dict(os.environ), tmp_path)
    text = log.path.read_text()
    assert "***@host/simple" in text and "secret" not in text


# -- creation ------------------------------------------------------------------------------------------------------


def test_two_creations_at_once_make_one_environment(folder):
    both = [creator("numpy"), creator("numpy")]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert sum("\nmade numpy-" in output for output in outputs) == 1, outputs
    assert sum("is already there" in output for output in outputs) == 1, outputs
    (made,) = environments.listing()
    assert made.packages.keys() == {"numpy"} and made.bytes > 10_000_000
    sources = len(list(Path(made.folder).glob("lib/*/site-packages/numpy/**/*.py")))
    compiled = len(list(Path(made.folder).glob("lib/*/site-packages/numpy/**/*.pyc")))
    assert compiled > 0.9 * sources > 0, "the bytecode of only some modules was written"


def test_a_creation_that_is_killed_is_redone(folder):
    process = creator("numpy")
    end = time.monotonic() + 60
    while not list(folder.glob(".making-*/lib/*/site-packages/numpy")):
        assert process.poll() is None and time.monotonic() < end, process.stdout.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (half,) = (path.parent for path in folder.glob(".making-*/lib"))
    assert environments.listing() == ()
    time.sleep(0.2)
    assert not _runs_on(half), "the installer outlived minrepro"
    lines = []
    made = environments.create(spec("numpy"), say=lines.append)
    assert not half.exists() and list(folder.glob(".making-*")) == []
    assert environments.listing() == (made,)
    assert "17 MB to download" in lines[0]
    # Its Python may go away later; then it is as good as missing and is made again in its place.
    (Path(made.folder) / "bin" / "python").unlink()
    assert environments.create(spec("numpy"), say=lines.append).folder == made.folder
    assert os.access(made.interpreter, os.X_OK)


def _runs_on(folder):
    """True if a living process has the folder in its command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def test_a_version_that_is_not_offered_says_so_and_leaves_nothing(folder):
    with pytest.raises(errors.BackendMissing) as caught:
        environments.create(spec(f"numpy==0.0.1@{sys.executable}"), say=str)
    assert "no index offers numpy 0.0.1" in str(caught.value)
    assert str(caught.value).endswith("\nminrepro env create numpy==0.0.1")
    assert [path.name for path in folder.iterdir() if not path.name.startswith((".lock", ".logs"))] == []


def test_a_python_that_does_not_suit_is_refused(folder):
    if pythons.admits(spec("oneflow").backend.python, pythons.OWN_MINOR):
        pytest.skip("this Python suits OneFlow")
    with pytest.raises(errors.UsageError, match="placeholder"):
        environments.create(spec(f"oneflow@{sys.executable}"), say=str)


@pytest.mark.parametrize(
    "text, why",
    [("echo '[[7.0, 10.0], [15.0, 23.0]]'", "computes"), ("echo no wheel for you >&2; exit 3", "does not run")],
)
def test_a_framework_that_does_not_compute_is_not_accepted(tmp_path, text, why):
    script(tmp_path / "bin" / "python", text + "\n")
    log = installer.Log(tmp_path / "log", print)
    with pytest.raises(installer.Failed, match=why) as caught:
        making._check(spec("numpy"), tmp_path, log)
    assert ("no wheel" in caught.value.output) == (why == "does not run")


# -- stand-ins and doctor ------------------------------------------------------------------------------------------


@pytest.mark.skipif(not stand_ins.can_compile(), reason="needs gcc and nm")
def test_a_stand_in_satisfies_the_loader_and_refuses_calls(tmp_path):
    real = tmp_path / "libcublas.so.11"
    stand_ins.compile_library(real, ("cublasOne", "cublasTwo"))
    (tmp_path / "user.c").write_text(
        "void cublasTwo(void); void cublasOne(void);\nvoid use(void) { cublasTwo(); cublasOne(); }\n"
    )
    user = tmp_path / "libuser.so"
    command = ["gcc", "-shared", "-fPIC", "-nostdlib", f"-Wl,-rpath,{tmp_path}", "-o", user, tmp_path / "user.c", real]
    subprocess.run(command, check=True)
    assert stand_ins.wanted([user], ("libcublas",)) == {"libcublas.so.11": ("cublasOne", "cublasTwo")}
    assert stand_ins.wanted([user], ("libcudnn",)) == {}
    ctypes.CDLL(str(user))
    code = f"import ctypes; ctypes.CDLL({str(user)!r}).use()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGABRT and "cublasTwo was called" in done.stderr


def test_doctor_imports_what_it_finds_and_names_what_adds_the_rest(folder):
    rows = {row.subject: row for row in doctor()}
    assert set(backends.table()) | {"/dev/shm", "uv", "cache"} <= set(rows)
    assert rows["numpy"].ok and rows["numpy"].import_seconds > 0 and rows["numpy"].interpreter == sys.executable
    for name in backends.table():
        assert rows[name].ok or rows[name].command.startswith("minrepro env ")


def test_doctor_reports_an_environment_that_no_longer_imports(folder):
    fake_environment(folder, "oneflow-0.9.0-py3.10", "oneflow", "0.9.0")
    (row,) = [row for row in doctor() if row.subject == "oneflow"]
    assert not row.ok and "No module named 'oneflow'" in row.found
    assert row.command == "minrepro env remove oneflow-0.9.0-py3.10 && minrepro env create oneflow==0.9.0"
