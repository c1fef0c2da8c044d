from attack import *

attempt("link", lambda: os.link(lures["sshKey"], out("result")) or "linked")
attempt("link-by-descriptor", lambda: os.link(f"/proc/self/fd/{os.open(lures['sshKey'], os.O_RDONLY)}", out("second"), follow_symlinks=True) or "linked")
