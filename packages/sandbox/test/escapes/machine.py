"""The machine that probes try to reach: servers, shared memory and a process, of one user.

Run as `python3 -c TEXT`, with a folder in FOLDER, in the folder of the secret.
Prints what a probe has to know as JSON, and serves until its input ends.
"""

import ctypes
import json
import os
import platform
import socket
import sys
import threading

folder = os.environ["FOLDER"]
secret = os.environ["SECRET"]
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() in ("aarch64", "arm64")


def serve(family, address, **options):
    server = socket.create_server(address, family=family, **options)
    threading.Thread(target=accept, args=(server,), daemon=True).start()
    return server.getsockname()


def serve_unix(address):
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    threading.Thread(target=accept, args=(server,), daemon=True).start()


def accept(server):
    while True:
        server.accept()[0].close()


def answer(server):
    while True:
        _, sender = server.recvfrom(64)
        server.sendto(b"pong", sender)


udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
threading.Thread(target=answer, args=(udp,), daemon=True).start()
serve_unix(folder + "/hidden/socket")
abstract = "toolcrib-probe-%d" % os.getpid()
serve_unix("\0" + abstract)

shm = "toolcrib-probe-%d" % os.getpid()
with open("/dev/shm/" + shm, "w") as file:
    file.write(secret)

key = 0x70000000 + os.getpid()
segment = libc.shmget(key, 4096, 0o1600)
queue = libc.msgget(key, 0o1600)
semaphore = libc.semget(key, 1, 0o1600)

handle = ctypes.create_string_buffer(8 + 128)
handle[:4] = (128).to_bytes(4, sys.byteorder)
mount = ctypes.c_int()
libc.syscall(264 if arm else 303, -100, b"secret", handle, ctypes.byref(mount), 0)

try:
    tcp6 = serve(socket.AF_INET6, ("::1", 0))[1]
except OSError:
    tcp6 = 1

device = os.stat(folder).st_dev
print(
    json.dumps(
        {
            "victim": os.getpid(),
            "tcp": serve(socket.AF_INET, ("127.0.0.1", 0))[1],
            "tcpOther": serve(socket.AF_INET, ("127.0.0.2", 0))[1],
            "tcp6": tcp6,
            "udp": udp.getsockname()[1],
            "socket": folder + "/hidden/socket",
            "abstract": abstract,
            "shm": shm,
            "key": key,
            "handle": bytes(handle).hex(),
            "disk": [os.major(device), os.minor(device)],
        }
    ),
    flush=True,
)
sys.stdin.read()
os.unlink("/dev/shm/" + shm)
libc.shmctl(segment, 0, None)
libc.msgctl(queue, 0, None)
libc.semctl(semaphore, 0, 0)
