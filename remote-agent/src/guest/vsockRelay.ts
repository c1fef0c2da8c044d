/**
 * The program that accepts connections of the host by vsock(7), which Node can't, and joins each to a Unix socket. Its
 * arguments come in pairs: where it listens (a number of vsock, or the path of a Unix socket in tests) and the socket
 * that it joins to. Nobody but the host is let in: not the VM's own programs, which have other addresses.
 */
export const vsockRelaySource = `
import os, socket, sys, threading

def pump(source, target):
    try:
        while True:
            data = source.recv(262144)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

def join(one, two):
    other = threading.Thread(target=pump, args=(two, one), daemon=True)
    other.start()
    pump(one, two)
    other.join()
    one.close()
    two.close()

def serve(listener, path, isVsock):
    while True:
        one, peer = listener.accept()
        two = socket.socket(socket.AF_UNIX)
        try:
            if isVsock and peer[0] != socket.VMADDR_CID_HOST:
                raise OSError("not the host")
            two.connect(path)
        except OSError:
            one.close()
            two.close()
            continue
        threading.Thread(target=join, args=(one, two), daemon=True).start()

words = sys.argv[1:]
for place, path in zip(words[0::2], words[1::2]):
    isVsock = place.isdigit()
    listener = socket.socket(socket.AF_VSOCK if isVsock else socket.AF_UNIX)
    listener.bind((socket.VMADDR_CID_ANY, int(place)) if isVsock else place)
    listener.listen(64)
    threading.Thread(target=serve, args=(listener, path, isVsock), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
`;
