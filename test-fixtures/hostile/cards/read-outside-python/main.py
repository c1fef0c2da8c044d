from attack import *

for route, lure in {
    "ssh-key": "sshKey",
    "project": "projectFile",
    "git-config": "gitConfig",
    "other-project": "otherProject",
    "database": "engineDatabase",
    "result-of-another": "secretBlob",
    "var-tmp": "varTmp",
    "shared-memory": "sharedMemory",
    "user-home": "userHome",
}.items():
    attempt(route, lambda: read(lures[lure]))
attempt("shadow", lambda: b":" in read("/etc/shadow") and "/etc/shadow was read")
attempt("root-home", lambda: os.listdir("/root"))
attempt("scratch", lambda: os.path.isdir(lures["scratch"]))
