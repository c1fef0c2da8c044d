from attack import *

os.mkdir(out("result"))
for name in (
    b"line\nbreak",
    b"escape\x1b[2J",
    b"not-utf8-\xff\xfe",
    b"back\\slash",
    b"bell\x07",
    b"\xe2\x80\xaetxt.exe",
    b"space ",
    b"dot.",
    b"C:evil",
    b"x" * 255,
):
    with open(os.path.join(out("result").encode(), name), "wb") as file:
        file.write(b"content")
