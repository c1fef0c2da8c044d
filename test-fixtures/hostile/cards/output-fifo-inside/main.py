from attack import *

os.makedirs(out("result/a/b"))
os.mkfifo(out("result/a/b/pipe"))
