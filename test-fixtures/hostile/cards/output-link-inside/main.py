from attack import *

os.makedirs(out("result/deep"))
with open(out("result/ordinary.txt"), "w") as file:
    file.write("ordinary")
os.symlink(lures["sshKey"], out("result/deep/key"))
os.symlink(lures["home"] + "/.ssh", out("result/keys"))
os.symlink("../../../../../../../../etc/passwd", out("result/up"))
os.symlink(".", out("result/deep/self"))
os.symlink("/proc/self/environ", out("result/environ"))
