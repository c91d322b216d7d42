"""What to install or set, on this system, when OpenGL does not start or runs slower than it could.

Standard library only: tools/bootstrap.py loads this file before anything is installed.
"""

from __future__ import annotations

import glob
import os
import platform
import shutil
import sys

DEBIAN_PACKAGES = ("libegl1", "libgl1", "libgl1-mesa-dri")

# By family of system, as /etc/os-release names it in ID or ID_LIKE.
INSTALL = {
    "debian": "apt-get install " + " ".join(DEBIAN_PACKAGES),
    "ubuntu": "apt-get install " + " ".join(DEBIAN_PACKAGES),
    "fedora": "dnf install mesa-libEGL mesa-libGL mesa-dri-drivers",
    "rhel": "dnf install mesa-libEGL mesa-libGL mesa-dri-drivers",
    "arch": "pacman -S mesa",
    "suse": "zypper install Mesa-libEGL1 Mesa-libGL1 Mesa-dri",
    "alpine": "apk add mesa-egl mesa-gl mesa-dri-gallium",
}
NAMES = {"debian": "Debian", "ubuntu": "Ubuntu", "fedora": "Fedora", "rhel": "Red Hat", "arch": "Arch", "suse": "SUSE"}

MACOS = (
    "On macOS OpenGL is part of the system, but a context needs a desktop: run this as the user who is logged in at the "
    "screen (not over SSH or from a daemon), and from the main thread."
)
WINDOWS = (
    "On Windows install the graphics card maker's driver (the one from Windows Update may lack OpenGL), log in at the "
    "screen rather than over Remote Desktop, or, without a graphics card, install the 'OpenCL and OpenGL Compatibility "
    "Pack' from the Microsoft Store."
)


def os_family(os_release: str = "/etc/os-release") -> str:
    """The family of this Linux distribution, a key of INSTALL; "" where it is none of them."""
    values = {}
    try:
        with open(os_release, encoding="utf-8") as lines:
            for line in lines:
                name, _, value = line.strip().partition("=")
                values[name] = value.strip("\"'").lower()
    except OSError:
        return ""
    for word in f"{values.get('ID', '')} {values.get('ID_LIKE', '')}".split():
        for family in INSTALL:
            if word == family or word.startswith((family + "-", "open" + family)):
                return family
    return ""


def no_opengl() -> str:
    """What mends this system when no OpenGL context can be created."""
    if sys.platform == "darwin":
        return MACOS
    if sys.platform == "win32":
        return WINDOWS
    family = os_family()
    if family:
        text = f"On this system ({NAMES.get(family, family)}) run as root: {INSTALL[family]}"
    else:
        text = "Install Mesa's EGL and its software renderer, for example:\n" + "\n".join(
            f"  {NAMES[name]}: {INSTALL[name]}" for name in ("debian", "fedora", "arch")
        )
    if os.path.exists("/.dockerenv"):
        text += "\nIn a container install it in the image (a line RUN of the Dockerfile)."
    return text


def no_compute() -> str:
    """What brings the compute path to a device that lacks it."""
    if sys.platform == "darwin":
        return "macOS stops at OpenGL 4.1, so that the fragment path is the only one; it computes the same results."
    text = "The compute path needs OpenGL 4.3: a newer graphics driver may offer it."
    override = os.environ.get("MESA_GL_VERSION_OVERRIDE")
    return text + (f" MESA_GL_VERSION_OVERRIDE={override} is set, which limits Mesa." if override else "")


def hidden_hardware() -> str:
    """Why a graphics card of this machine is not used, and what mends it; "" where there is none or it was asked for.

    Call it when the renderer turned out to be software.
    """
    if os.environ.get("LIBGL_ALWAYS_SOFTWARE") or not sys.platform.startswith("linux"):
        return ""
    if os.path.exists("/dev/nvidiactl") and not _nvidia_egl():
        return (
            "There is an NVIDIA card, but its EGL driver is not installed here. In a container add the capability "
            "graphics (NVIDIA_DRIVER_CAPABILITIES=all); elsewhere install the driver's GL package "
            "(Debian: apt-get install nvidia-egl-icd; Ubuntu: libnvidia-gl-VERSION)."
        )
    if os.path.exists("/dev/dxg") and "microsoft" in platform.release().lower():
        return (
            "Under WSL the card is reached through Mesa 22 or newer: set GALLIUM_DRIVER=d3d12, and keep the Windows "
            "driver up to date."
        )
    nodes = sorted(glob.glob("/dev/dri/renderD*"))
    if nodes and not any(os.access(node, os.R_OK | os.W_OK) for node in nodes):
        return f"There is a graphics card, but {nodes[0]} is closed to you: usermod -aG render $USER, then log in again."
    return ""


def _nvidia_egl() -> bool:
    places = ("/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d", "/usr/local/share/glvnd/egl_vendor.d")
    return any(glob.glob(place + "/*nvidia*.json") for place in places)


def can_install() -> bool:
    """Whether this process may install Debian packages: root, on Debian or Ubuntu."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return root and os_family() in ("debian", "ubuntu") and shutil.which("apt-get") is not None
