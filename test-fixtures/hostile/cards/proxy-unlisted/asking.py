import os
import socket
from urllib.parse import urlsplit

from attack import lures


def proxy_address():
    url = urlsplit(os.environ.get("HTTPS_PROXY") or os.environ.get("HTTP_PROXY") or os.environ.get("http_proxy") or "http://127.0.0.1:1")
    return url.hostname, url.port, url


def ask(head, body=b"", address=None):
    """What the proxy answers to a request given as bytes: its status line, and whether the lure spoke."""
    host, port, url = proxy_address()
    if url.username:
        import base64

        token = base64.b64encode(f"{url.username}:{url.password or ''}".encode())
        head = head.replace(b"\r\n\r\n", b"\r\nProxy-Authorization: Basic " + token + b"\r\n\r\n", 1)
    with socket.create_connection(address or (host, port), 5) as client:
        client.settimeout(5)
        client.sendall(head + body)
        answer = b""
        try:
            while chunk := client.recv(4096):
                answer += chunk
                if head.startswith(b"CONNECT") and b" 200 " in answer.split(b"\r\n")[0] and b"lured" not in answer and b"GET" not in head:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    head = b"GET"
        except OSError:
            pass
    return answer


def lured(head, body=b"", address=None):
    answer = ask(head, body, address)
    if b"lured" in answer:
        return answer.split(b"\r\n")[0].decode("latin1")
    raise ConnectionError(answer[:100].decode("latin1") or "closed without an answer")


def through(host):
    return lured(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin1"))


def plainly(url, host=None):
    return lured(f"GET {url} HTTP/1.1\r\nHost: {host or urlsplit(url).netloc}\r\n\r\n".encode("latin1"))
