from attack import *

os.mkdir(out("tree"))
os.chdir(out("tree"))
for _ in range(20 if bounded else 5000):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
open("end", "w").close()
