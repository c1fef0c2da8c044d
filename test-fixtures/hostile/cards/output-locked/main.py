from attack import *

os.makedirs(out("result/inner/deep"))
with open(out("result/inner/file"), "w") as file:
    file.write("content")
os.chmod(out("result/inner/file"), 0)
for name in ("result/inner/deep", "result/inner", "result"):
    os.chmod(out(name), 0)
os.chmod(outputs, 0)
for folder in (home, temporary):
    os.makedirs(os.path.join(folder, "a/b"), exist_ok=True)
    os.chmod(os.path.join(folder, "a/b"), 0)
    os.chmod(os.path.join(folder, "a"), 0)
# The control's folders have to be removed by whoever made them.
if bounded:
    os.chmod(outputs, 0o700)
    for path in (out("result"), out("result/inner"), out("result/inner/deep")):
        os.chmod(path, 0o700)
    for folder in (home, temporary):
        os.chmod(os.path.join(folder, "a"), 0o700)
        os.chmod(os.path.join(folder, "a/b"), 0o700)
