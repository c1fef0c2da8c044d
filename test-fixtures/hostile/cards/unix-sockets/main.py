import glob
import socket
from attack import *


def connect(path, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.settimeout(2)
        client.connect(path)
        return path


def well_known():
    known = [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/run/nscd/socket",
        "/run/libvirt/libvirt-sock",
        os.environ.get("SSH_AUTH_SOCK", ""),
        *glob.glob("/run/user/*/bus"),
        *glob.glob("/tmp/ssh-*/agent.*"),
        *glob.glob("/tmp/.X11-unix/*"),
        *glob.glob("/tmp/vscode-*.sock"),
        *glob.glob("/run/user/*/vscode-*.sock"),
    ]
    found = [path for path in known if path and os.path.exists(path)]
    # The control does not disturb them.
    return found if bounded else [connect(path) for path in found]


attempt("socket-file", lambda: connect(lures["unixSocket"]))
attempt("abstract", lambda: connect("\0" + lures["abstractSocket"]))
attempt("run", lambda: connect(lures["runSocket"]))
attempt("well-known", well_known)
attempt("datagram-log", lambda: connect("/dev/log", socket.SOCK_DGRAM))
