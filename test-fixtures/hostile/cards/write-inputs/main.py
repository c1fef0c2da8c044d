from attack import *

data = os.path.join(inputs, "data")
code = os.path.dirname(os.path.abspath(__file__))


def write(path):
    with open(path, "r+b") as file:
        file.write(b"changed")
    return path


def chmod_first():
    os.chmod(data, 0o777)
    return write(data)


def replace():
    spare = os.path.join(outputs, "spare")
    with open(spare, "w") as file:
        file.write("changed")
    os.rename(spare, data)
    return data


def beside(folder):
    with open(os.path.join(folder, "more.txt"), "x") as file:
        file.write("more")
    return folder


attempt("open", lambda: write(data))
attempt("chmod-first", chmod_first)
attempt("replace", replace)
attempt("beside", lambda: beside(inputs))
attempt("remove", lambda: os.unlink(data) or "removed")
attempt("code", lambda: write(os.path.join(code, "main.py")))
attempt("code-beside", lambda: beside(code))
