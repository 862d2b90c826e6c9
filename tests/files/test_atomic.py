"""At any moment the old file or the new one is there, and nothing else."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from greyfill import files
from greyfill.exceptions import FileProblemError
from greyfill.files import atomic

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture(params=["unnamed", "named"])
def draft(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of drafts."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_UNNAMED", 0)
    return request.param


def test_new_files_have_usual_permissions(draft: str, tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        files.put(tmp_path / "new.csv", [b"a", b"b"])
    finally:
        os.umask(old)
    assert (tmp_path / "new.csv").read_bytes() == b"ab"
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new.csv"]


def test_replaced_files_keep_permissions(draft: str, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes(b"old")
    path.chmod(0o604)
    with pytest.raises(FileProblemError, match=r"old\.csv: it exists already.*--force"):
        files.put(path, [b"new"])
    assert path.read_bytes() == b"old"
    files.put(path, [b"new"], force=True)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert os.listdir(tmp_path) == ["old.csv"]


def test_a_replacement_is_private_until_it_is_complete(draft: str, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes(b"old")
    with atomic.writing(path, force=True) as stream:
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a file away")
def test_replaced_files_keep_their_owner(draft: str, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    files.put(path, [b"new"], force=True)
    assert path.read_bytes() == b"new"
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@pytest.mark.skipif(not atomic._UNNAMED, reason="this system has no files without a name")
@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.EROFS])
def test_file_systems_without_unnamed_files(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file = os.open

    def refuse_unnamed(path: str, flags: int, *rest: int, **options: int) -> int:
        if flags & atomic._UNNAMED == atomic._UNNAMED:
            raise OSError(number, os.strerror(number), path)
        return open_file(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", refuse_unnamed)
    if number == errno.EROFS:  # that is no lack of unnamed files
        with pytest.raises(FileProblemError, match=r"Cannot write .*t\.csv"):
            files.put(tmp_path / "t.csv", [b"x"])
    else:
        files.put(tmp_path / "t.csv", [b"x"])
        assert (tmp_path / "t.csv").read_bytes() == b"x"
    assert len(os.listdir(tmp_path)) == (number != errno.EROFS)


@pytest.mark.skipif(not atomic._UNNAMED, reason="this system has no files without a name")
def test_without_proc_a_draft_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: "/proc/" not in str(path) and exists(path))
    draft = atomic.open_draft(str(tmp_path), 0o600)
    assert [name[:10] for name in os.listdir(tmp_path)] == [".greyfill-"]
    os.close(draft.descriptor)
    draft.discard()
    assert not os.listdir(tmp_path)


def failing(error: BaseException) -> Iterator[bytes]:
    yield b"part"
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), ValueError("no")])
@pytest.mark.parametrize("exists", [True, False])
def test_interrupts_leave_the_old_file(
    draft: str, error: BaseException, exists: bool, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    if exists:
        path.write_bytes(b"old")
    with pytest.raises(type(error)):
        files.put(path, failing(error), force=True)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([b"old"] if exists else [])


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "disk is full"), (errno.EIO, "")])
def test_a_failing_disk(
    draft: str, call: str, number: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    path = tmp_path / "t.csv"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(FileProblemError, match=rf"Cannot write .*t\.csv: .*{words}") as caught:
        files.put(path, [b"new"], force=True)
    assert caught.value.errno == number
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_file_that_appears_meanwhile_is_not_replaced(draft: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"

    def chunks() -> Iterator[bytes]:
        yield b"ours"
        path.write_bytes(b"theirs")

    with pytest.raises(FileProblemError, match="exists already"):
        files.put(path, chunks())
    assert path.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_link_stays_and_its_file_is_replaced(draft: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "t.csv", tmp_path / "link.csv"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(FileProblemError, match="exists already"):
        files.put(link, [b"new"])
    files.put(link, [b"new"], force=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "there") == ["t.csv"]


def test_input_as_output_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\n2,5\n")
    source = files.read(path)
    filled = source.frame.fill_null(7)
    (tmp_path / "same.csv").symlink_to(path)
    for name in (path, tmp_path / "same.csv"):
        with pytest.raises(FileProblemError, match="it is the input"):
            source.write(filled, name)
    source.write(filled, path, force=True)
    assert path.read_bytes() == b"a,b\n1,7\n2,5\n"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileProblemError, match="it is a folder"):
        files.put(tmp_path, [b"x"], force=True)
    with pytest.raises(FileProblemError, match=r"out\.csv: there is no folder .*none"):
        files.put(tmp_path / "none" / "out.csv", [b"x"])


@pytest.mark.skipif(IS_ROOT, reason="root may write everywhere")
def test_folders_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(FileProblemError, match="no permission to write"):
            files.put(tmp_path / "t.csv", [b"x"])
    finally:
        tmp_path.chmod(0o700)


def test_folders_that_the_system_calls_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    with pytest.raises(FileProblemError, match=r"t\.csv: no permission to write in"):
        files.put(tmp_path / "t.csv", [b"x"])
    assert not list(tmp_path.iterdir())


def test_permission_denied_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: str, mode: int) -> atomic.Draft:
        raise PermissionError(errno.EACCES, "denied", folder)

    monkeypatch.setattr(atomic, "open_draft", refuse)
    with pytest.raises(FileProblemError, match=r"Cannot write .*t\.csv: permission denied"):
        files.put(tmp_path / "t.csv", [b"x"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_and_devices_are_written_directly(tmp_path: Path) -> None:
    files.put("/dev/null", [b"x"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    files.put(pipe, [b"a", b"b"])
    reader.join()
    assert read == [b"ab"]


WRITER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would ignore it
from greyfill.files import atomic, put
if sys.argv[2] == "named":
    atomic._UNNAMED = 0
def chunks():
    for _ in range(8):
        yield b"x" * (1 << 20)
    print("half", flush=True)
    while True:
        time.sleep(0.01)
put(sys.argv[1], chunks(), force=True)
"""


@pytest.mark.parametrize("kind", ["unnamed", "named"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_in_mid_write(kind: str, how: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"old")
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), kind],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        process.send_signal(how)
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
    assert process.returncode != 0
    assert path.read_bytes() == b"old"
    left = [name for name in os.listdir(tmp_path) if name != "t.csv"]
    if kind == "named" and how == signal.SIGKILL:
        assert all(name.startswith(".greyfill-") for name in left)  # what no program can prevent
    elif atomic._UNNAMED or kind == "named":
        assert not left


@pytest.mark.skipif(not atomic._UNNAMED, reason="this system has no files without a name")
@pytest.mark.parametrize("exists", [True, False])
def test_the_folder_is_brought_to_the_disk_after_the_name(
    exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that only the memory knows is lost with the power, and the file with it."""
    path, synced = tmp_path / "t.csv", []
    if exists:
        path.write_bytes(b"old")

    def record(descriptor: int) -> None:
        is_folder = os.path.samestat(os.fstat(descriptor), tmp_path.stat())
        synced.append((is_folder, path.read_bytes() if path.exists() else None))

    monkeypatch.setattr(os, "fsync", record)
    files.put(path, [b"new"], force=True)
    assert synced == [(False, b"old" if exists else None), (True, b"new")]
