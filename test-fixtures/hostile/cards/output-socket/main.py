import socket
from attack import *

listener = socket.socket(socket.AF_UNIX)
listener.bind(out("result"))
listener.listen()
