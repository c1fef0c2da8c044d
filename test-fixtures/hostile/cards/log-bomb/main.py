from attack import *

piece = b"a line of the log of this card\n" * 2048
for _ in range(200):
    os.write(1, piece)
    os.write(2, piece)
