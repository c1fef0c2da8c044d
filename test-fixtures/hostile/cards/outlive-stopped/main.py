from attack import *

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(30)
        os._exit(0)
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(30)
