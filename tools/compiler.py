"""Whether this machine has a C++ compiler; run as a script, it prints what to install if it has none."""

import os
import shutil
import subprocess
import sys

REMEDY = (
    "sev needs a C++17 compiler to be built. Install one: `apt install g++` (Debian, Ubuntu), `dnf install gcc-c++` "
    "(Fedora, RHEL), `apk add g++` (Alpine), `xcode-select --install` (macOS), or Visual Studio Build Tools (Windows)."
)


def needs_zig() -> bool:
    """Whether no compiler works here; on Windows, CMake looks for Visual Studio by itself."""
    if sys.platform == "win32" or os.environ.get("CXX"):
        return False
    return not any(map(runs, ("c++", "g++", "clang++")))


def runs(command: str) -> bool:
    """Whether `command` exists and starts; macOS has a `c++` that only asks to install one."""
    path = shutil.which(command)
    return path is not None and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


if __name__ == "__main__" and needs_zig():
    sys.stderr.write(f"{REMEDY}\n")
