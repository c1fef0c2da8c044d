from attack import *

os.symlink(lures["sshKey"], out("result"))
