import glob
import socket
from attack import *

folder = lures["placeFolder"]


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(path)
        return path


def service():
    with socket.create_connection((lures["listenerAddress"], int(lures["placePort"])), 2):
        return "connected"


def any_of(names, action):
    """What one of these gave; the last refusal where none gave anything."""
    refusal = FileNotFoundError("nothing of the kind is here")
    for path in [found for name in names.split(":") if name for found in glob.glob(name)]:
        try:
            return f"{path} {action(path)}"
        except OSError as error:
            refusal = error
    raise refusal


def may_open(flags):
    def opened(path):
        # Opened, never written: nothing changes.
        os.close(os.open(path, flags | os.O_NONBLOCK))
        return "was opened"

    return opened


attempt("folder", lambda: os.listdir(folder))
attempt("journal", lambda: any_of(lures["placeJournal"], read))
attempt("log", lambda: any_of(lures["placeLogs"], read))
attempt("result", lambda: read(lures["secretBlob"]))
attempt("append", lambda: any_of(lures["placeJournal"], may_open(os.O_WRONLY | os.O_APPEND)))
attempt("socket", lambda: any_of(lures["placeSockets"], connect))
attempt("keys", lambda: any_of(lures["placeKeys"], read))
attempt("change-keys", lambda: any_of(lures["placeKeys"], may_open(os.O_RDWR)))
attempt("device", lambda: any_of(lures["placeDevices"], may_open(os.O_RDWR)))
attempt("service", service)
attempt("climb", lambda: any_of(f"/proc/*/root{folder}:/proc/*/cwd{folder}", os.listdir))
