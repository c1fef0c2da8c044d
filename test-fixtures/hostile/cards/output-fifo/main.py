from attack import *

os.mkfifo(out("result"))
