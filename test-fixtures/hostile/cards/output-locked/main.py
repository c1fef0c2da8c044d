from attack import *

os.makedirs(out("result/inner/deep"))
with open(out("result/inner/file"), "w") as file:
    file.write("content")
os.chmod(out("result/inner/file"), 0)
for folder in (home, temporary):
    os.makedirs(os.path.join(folder, "a/b"), exist_ok=True)
for path in (
    out("result/inner/deep"),
    out("result/inner"),
    out("result"),
    outputs,
    os.path.join(home, "a/b"),
    os.path.join(home, "a"),
    os.path.join(temporary, "a/b"),
    os.path.join(temporary, "a"),
    os.path.join(lures["project"], ".git"),
    inputs,
    os.path.dirname(os.path.abspath(__file__)),
):
    try:
        os.chmod(path, 0)
    except OSError as error:
        print(path, error)
