from attack import *
from asking import plainly, through

port = lures["tcpPort"]
for route, host in {
    "loopback": "127.0.0.1",
    "mapped": "[::ffff:127.0.0.1]",
    "mapped-hex": "[::ffff:7f00:1]",
    "metadata": "169.254.169.254",
    "metadata-name": "metadata.google.internal",
    "nat64": "[64:ff9b::7f00:1]",
    "private": "10.0.0.1",
    "cgnat": "100.100.100.200",
    "integer": "2130706433",
    "octal": "0177.0.0.1",
    "short": "127.1",
    "localhost-listed-by-name": "localhost",
    "ipv6-loopback": "[::1]",
    "zone": "[fe80::1%25lo]",
    "zero": "0.0.0.0",
}.items():
    attempt(route, lambda: through(f"{host}:{port}"))
attempt("plain-mapped", lambda: plainly(f"http://[::ffff:127.0.0.1]:{port}/"))
