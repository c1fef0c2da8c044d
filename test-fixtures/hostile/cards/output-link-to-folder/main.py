from attack import *

os.symlink(lures["home"], out("result"))
