import socket
from attack import *

attempt("ssh-key", lambda: read(lures["sshKey"]))
attempt("connect", lambda: socket.create_connection(("127.0.0.1", int(lures["tcpPort"])), 2) and "connected")
attempt("project-mount", lambda: read("/project/sallyport.json") if not bounded else read(lures["projectFile"]))
