from attack import *

with open(out("result"), "w") as file:
    file.write("the only one")
for name in ("extra", "..name", "_card.json", ".git", "result.1", os.path.join("..", "beside"), os.path.join(lures["project"], "beside")):
    try:
        with open(out(name), "w") as file:
            file.write("undeclared")
    except OSError as error:
        print(name, error)
