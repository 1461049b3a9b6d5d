"""Tries to leave a sandbox, in many ways, and what a program must be able to do.

Run as `python3 -c TEXT GROUP [NAME ...]`, with facts about the machine as JSON in the
variable FACTS. Each probe runs in a process of its own and succeeds when its
function returns a true value. Prints one JSON object: for each probe "done", or
"refused: REASON".
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import resource
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

FACTS = json.loads(os.environ["FACTS"])
ARM = platform.machine() in ("aarch64", "arm64")
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

# Numbers of system calls: x86_64, arm64.
CALLS = {
    "ptrace": (101, 117),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "setns": (308, 268),
    "unshare": (272, 97),
    "clone": (56, 220),
    "chroot": (161, 51),
    "personality": (135, 92),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "sethostname": (170, 161),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "setgroups": (116, 159),
    "memfd_create": (319, 279),
    "socketpair": (53, 199),
}

GROUPS = {"escape": {}, "permitted": {}}


def probe(group):
    def add(function):
        GROUPS[group][function.__name__] = function
        return function

    return add


escape = probe("escape")
permitted = probe("permitted")


def call(name, *args):
    """Makes a system call; raises OSError when it fails."""
    number = CALLS[name][1 if ARM else 0]
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def can_open(path, flags):
    os.close(os.open(path, flags))
    return True


def secret_in(path):
    return FACTS["secret"].encode() in read(path)


def victim(name):
    return "/proc/%d/%s" % (FACTS["victim"], name)


# Files: reading.


@escape
def read_a_file_outside():
    return secret_in(FACTS["secretFile"])


@escape
def read_a_file_of_the_home():
    return secret_in(FACTS["home"] + "/notes")


@escape
def read_keys_of_the_home():
    return secret_in(FACTS["home"] + "/.ssh/id")


@escape
def list_the_home():
    return "notes" in os.listdir(FACTS["home"])


@escape
def read_the_state_of_another_server():
    return secret_in(FACTS["gateway"] + "/state/other/file")


@escape
def read_the_home_of_the_gateway():
    return secret_in(FACTS["gateway"] + "/tokens/client")


@escape
def read_by_dots():
    return secret_in(FACTS["written"] + "/../hidden/secret")


@escape
def read_through_a_link():
    path = FACTS["written"] + "/link"
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(FACTS["secretFile"], path)
    return secret_in(path)


@escape
def read_through_a_hard_link():
    path = FACTS["written"] + "/hard"
    if os.path.lexists(path):
        os.unlink(path)
    os.link(FACTS["secretFile"], path)
    return secret_in(path)


@escape
def read_through_the_root_of_a_process():
    return secret_in(victim("root") + FACTS["secretFile"])


@escape
def read_through_the_folder_of_a_process():
    return secret_in(victim("cwd") + "/secret")


@escape
def read_the_accounts():
    return b"root:" in read("/etc/shadow")


@escape
def watch_a_folder_outside():
    watcher = call("inotify_init1", 0)
    return call("inotify_add_watch", watcher, FACTS["hidden"].encode(), 0xFFF) > 0


@escape
def learn_the_handle_of_a_file():
    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_char * 128)]

    handle = Handle(128, 0, b"")
    mount = ctypes.c_int()
    call("name_to_handle_at", -100, b"/usr", ctypes.byref(handle), ctypes.byref(mount), 0)
    return True


@escape
def open_a_file_by_its_handle():
    return call("open_by_handle_at", -100, bytes.fromhex(FACTS["handle"]), os.O_RDONLY) >= 0


@escape
def see_devices_of_the_machine():
    return len(os.listdir("/sys/class")) > 0


@escape
def see_groups_of_control():
    return len(os.listdir("/sys/fs/cgroup")) > 0


@escape
def see_services_of_the_machine():
    # The command mount leaves an empty folder of its own.
    return any(name != "mount" for name in os.listdir("/run"))


@escape
def read_a_disk():
    node = FACTS["written"] + "/disk"
    if not os.path.exists(node):
        os.mknod(node, stat.S_IFBLK | 0o600, os.makedev(*FACTS["disk"]))
    return len(read(node)) > 0


@escape
def make_a_device():
    node = FACTS["written"] + "/zero-%d" % os.getpid()
    os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    with open(node, "rb") as file:
        return file.read(1) == b"\0"


@escape
def read_the_log_of_the_kernel():
    return can_open("/dev/kmsg", os.O_RDONLY)


@escape
def read_symbols_of_the_kernel():
    return len(read("/proc/kallsyms")) > 0


@escape
def read_keys_of_the_kernel():
    return can_open("/proc/keys", os.O_RDONLY) and len(read("/proc/keys")) > 0


@escape
def read_the_environment_of_the_gateway():
    return FACTS["secret"] in os.environ.get("SECRET_OF_THE_GATEWAY", "")


# Files: writing. The controls open for writing and write nothing.


@escape
def write_a_file_outside():
    return can_open(FACTS["hidden"] + "/new", os.O_CREAT | os.O_WRONLY)


@escape
def change_a_file_outside():
    return can_open(FACTS["secretFile"], os.O_WRONLY)


@escape
def change_a_file_that_is_shown():
    return can_open(FACTS["shown"] + "/file", os.O_WRONLY)


@escape
def create_a_file_in_a_folder_that_is_shown():
    return can_open(FACTS["shown"] + "/new", os.O_CREAT | os.O_WRONLY)


@escape
def change_the_mode_of_a_file_that_is_shown():
    os.chmod(FACTS["shown"] + "/file", 0o644)
    return True


@escape
def rename_a_file_that_is_shown():
    path = FACTS["shown"] + "/moved"
    os.rename(path, path + "-away")
    os.rename(path + "-away", path)
    return True


@escape
def change_the_system():
    return can_open("/etc/ld.so.cache", os.O_WRONLY)


@escape
def add_to_the_system():
    return can_open("/usr/lib", os.O_TMPFILE | os.O_WRONLY)


@escape
def change_settings_of_the_kernel():
    return can_open("/proc/sys/kernel/core_pattern", os.O_WRONLY)


@escape
def ask_the_kernel_to_crash():
    return can_open("/proc/sysrq-trigger", os.O_WRONLY)


@escape
def protect_itself_from_the_lack_of_memory():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return True


# Sockets.


def tcp(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(3)
        client.connect(address)
        return True


def route(family, address):
    """Whether there is a way to an address; sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.connect(address)
        return True


@escape
def reach_a_server_of_the_machine():
    return tcp(socket.AF_INET, ("127.0.0.1", FACTS["tcp"]))


@escape
def reach_a_server_over_another_loopback_address():
    return tcp(socket.AF_INET, ("127.0.0.2", FACTS["tcpOther"]))


@escape
def reach_a_server_over_ipv6():
    return tcp(socket.AF_INET6, ("::1", FACTS["tcp6"]))


@escape
def reach_a_server_over_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.sendto(b"ping", ("127.0.0.1", FACTS["udp"]))
        return client.recv(16) == b"pong"


@escape
def reach_a_public_address():
    return route(socket.AF_INET, ("192.0.2.1", 443))


@escape
def reach_a_private_address():
    return route(socket.AF_INET, ("10.0.0.1", 443))


@escape
def reach_the_metadata_of_a_cloud():
    return route(socket.AF_INET, ("169.254.169.254", 80))


@escape
def tunnel_through_dns():
    for line in read("/etc/resolv.conf").decode().splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            family = socket.AF_INET6 if ":" in words[1] else socket.AF_INET
            return route(family, (words[1], 53))
    return False


@escape
def reach_a_socket_of_the_machine():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(FACTS["socket"])
        return True


@escape
def reach_an_abstract_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + FACTS["abstract"])
        return True


@escape
def read_packets():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()
    return True


@escape
def make_packets():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return True


@escape
def talk_to_the_host_of_a_virtual_machine():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return True


@escape
def talk_to_the_audit_of_the_kernel():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9).close()
    return True


@escape
def see_the_interfaces_of_the_machine():
    return any(name != "lo" for _, name in socket.if_nameindex())


# Other processes.


@escape
def see_a_process_of_the_machine():
    return len(read(victim("cmdline"))) > 0


@escape
def signal_a_process_of_the_machine():
    os.kill(FACTS["victim"], 0)
    return True


@escape
def signal_a_group_of_the_machine():
    os.killpg(FACTS["victim"], 0)
    return True


@escape
def trace_a_process_of_the_machine():
    call("ptrace", 16, FACTS["victim"], 0, 0)
    os.waitpid(FACTS["victim"], 0x40000000)
    call("ptrace", 17, FACTS["victim"], 0, 0)
    return True


@escape
def trace_a_process_of_its_own():
    child = os.fork()
    if child == 0:
        time.sleep(10)
        os._exit(0)
    try:
        call("ptrace", 16, child, 0, 0)
        return True
    finally:
        os.kill(child, signal.SIGKILL)


@escape
def read_the_memory_of_a_process():
    local = ctypes.create_string_buffer(8)
    vector = struct.pack("PP", ctypes.addressof(local), 8)
    far = struct.pack("PP", ctypes.addressof(local), 8)
    child = os.fork()
    if child == 0:
        time.sleep(10)
        os._exit(0)
    try:
        return call("process_vm_readv", child, vector, 1, far, 1, 0) == 8
    finally:
        os.kill(child, signal.SIGKILL)


@escape
def read_the_variables_of_a_process():
    return len(read(victim("environ"))) > 0


@escape
def hold_a_process_of_the_machine():
    return call("pidfd_open", FACTS["victim"], 0) >= 0


@escape
def slow_a_process_of_the_machine():
    os.setpriority(os.PRIO_PROCESS, FACTS["victim"], 5)
    return True


@escape
def bind_a_process_of_the_machine_to_a_processor():
    os.sched_setaffinity(FACTS["victim"], os.sched_getaffinity(FACTS["victim"]))
    return True


@escape
def limit_a_process_of_the_machine():
    return len(resource.prlimit(FACTS["victim"], resource.RLIMIT_NOFILE)) == 2


# Memory and messages that processes share.


@escape
def read_shared_memory_of_the_machine():
    return secret_in("/dev/shm/" + FACTS["shm"])


@escape
def read_a_segment_of_the_machine():
    return call("shmget", FACTS["key"], 1, 0) >= 0


@escape
def read_a_queue_of_the_machine():
    return call("msgget", FACTS["key"], 0) >= 0


@escape
def use_a_semaphore_of_the_machine():
    return call("semget", FACTS["key"], 1, 0) >= 0


# The kernel.


@escape
def use_keys_of_the_kernel():
    return call("add_key", b"user", b"toolcrib-probe", b"x", 1, -2) > 0


@escape
def ask_for_the_keys_of_the_user():
    return call("keyctl", 0, -4, 1) != 0


@escape
def make_rings_of_the_kernel():
    return call("io_uring_setup", 1, ctypes.create_string_buffer(120)) >= 0


@escape
def handle_faults_of_pages():
    return call("userfaultfd", 1) >= 0


@escape
def load_a_program_into_the_kernel():
    return call("bpf", 0, struct.pack("IIIIII", 2, 4, 8, 1, 0, 0) + bytes(96), 120) >= 0


@escape
def count_events_of_the_processor():
    return call("perf_event_open", struct.pack("IIQQQQ", 1, 112, 0, 0, 0, 0) + struct.pack("Q", 0x21) + bytes(64), 0, -1, -1, 0) >= 0


@escape
def create_a_user_namespace():
    call("unshare", 0x10000000)
    return True


@escape
def create_a_user_namespace_by_cloning():
    child = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


@escape
def create_a_mount_namespace():
    call("unshare", 0x20000)
    return True


@escape
def enter_a_namespace_of_the_machine():
    place = os.open(victim("ns/uts"), os.O_RDONLY)
    call("setns", place, 0)
    return True


@escape
def mount_memory():
    call("mount", b"tmpfs", FACTS["mountPoint"].encode(), b"tmpfs", 0, None)
    subprocess.run(["umount", FACTS["mountPoint"]], check=False)
    return True


@escape
def mount_the_new_way():
    return call("fsopen", b"tmpfs", 0) >= 0


@escape
def copy_a_tree_of_mounts():
    return call("open_tree", -100, b"/", 1) >= 0


@escape
def make_a_mount_writable_again():
    call("mount", None, FACTS["remount"].encode(), None, 0x20 | 0x1000, None)
    return can_open(FACTS["remount"], os.O_TMPFILE | os.O_WRONLY)


@escape
def change_the_root():
    call("chroot", b"/tmp")
    return True


@escape
def run_with_the_rights_of_a_file():
    text = subprocess.run([FACTS["setuid"], "-u"], capture_output=True, check=True).stdout
    return int(text) == 0 and os.getuid() != 0


@escape
def become_another_user():
    os.setuid(1234)
    return True


@escape
def change_its_groups():
    os.setgroups([1234])
    return True


@escape
def own_a_file_as_another_user():
    path = FACTS["written"] + "/own-%d" % os.getpid()
    can_open(path, os.O_CREAT | os.O_WRONLY)
    os.chown(path, 1234, 1234)
    return True


def made(name, mode=0o755):
    path = FACTS["written"] + "/%s-%d" % (name, os.getpid())
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, mode))
    return path


def runs_as_another(path, bit=stat.S_ISUID):
    return os.stat(path).st_mode & bit != 0


@escape
def make_a_file_run_as_its_owner():
    path = made("chmod")
    os.chmod(path, 0o4755)
    return runs_as_another(path)


@escape
def make_an_open_file_run_as_its_owner():
    path = made("fchmod")
    with open(path) as file:
        os.fchmod(file.fileno(), 0o4755)
    return runs_as_another(path)


@escape
def make_a_file_run_as_its_group():
    path = made("group")
    os.chmod(path, 0o2755)
    return runs_as_another(path, stat.S_ISGID)


@escape
def create_a_file_that_runs_as_its_owner():
    os.umask(0)
    return runs_as_another(made("creat", 0o4755))


@escape
def make_such_a_file_by_node():
    os.umask(0)
    path = FACTS["written"] + "/mknod-%d" % os.getpid()
    os.mknod(path, stat.S_IFREG | 0o4755)
    return runs_as_another(path)


@escape
def rename_the_machine():
    name = socket.gethostname().encode()
    call("sethostname", name, len(name))
    return True


@escape
def behave_like_an_old_program():
    return call("personality", 0x0040000) >= 0 and call("personality", 0xFFFFFFFF) == 0x0040000


@escape
def watch_every_file():
    return call("fanotify_init", 4, 0) >= 0


@escape
def stop_the_accounting():
    call("acct", None)
    return True


@escape
def run_before_all_others():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return True


@escape
def become_more_urgent():
    os.nice(-5)
    return True


# Limits.


@escape
def start_a_thousand_processes():
    children = []
    try:
        for _ in range(1000):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
        return True
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


@escape
def allocate_five_gigabytes():
    return len(mmap.mmap(-1, 5 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)) > 0


@escape
def fill_two_gigabytes_to_share():
    size = 2 << 30
    with mmap.mmap(-1, size) as memory:
        for at in range(0, size, 4096):
            memory[at] = 1
    return True


@escape
def write_a_file_of_five_gigabytes():
    path = FACTS["written"] + "/big-%d" % os.getpid()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open(path, "wb") as file:
            file.truncate(5 << 30)
        return True
    finally:
        os.unlink(path)


@escape
def read_a_descriptor_that_it_inherited():
    return FACTS["secret"].encode() in os.pread(FACTS["descriptor"], 4096, 0)


# What a program must be able to do.


@permitted
def read_what_is_shown():
    return secret_in(FACTS["shown"] + "/file") is False


@permitted
def write_what_is_writable():
    path = FACTS["written"] + "/file-%d" % os.getpid()
    with open(path, "w") as file:
        file.write("text")
    os.rename(path, path + "-2")
    os.chmod(path + "-2", 0o600)
    return read(path + "-2") == b"text"


@permitted
def write_temporary_files():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"text")
        file.flush()
        return read(file.name) == b"text"


@permitted
def write_its_home():
    path = os.path.join(os.environ["HOME"], ".cache", "x")
    os.makedirs(path)
    os.symlink("x", path + "-link")
    return os.path.isdir(path + "-link")


@permitted
def keep_a_database():
    with sqlite3.connect(os.path.join(os.environ["HOME"], "data.db")) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table t (x)")
        database.execute("insert into t values (7)")
        return database.execute("select x from t").fetchone() == (7,)


@permitted
def start_a_program():
    return subprocess.run(["/bin/sh", "-c", "echo $((6 * 7))"], capture_output=True, check=True).stdout == b"42\n"


@permitted
def start_a_program_that_it_wrote():
    path = os.path.join(tempfile.gettempdir(), "script-%d" % os.getpid())
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 7\n")
    os.chmod(path, 0o755)
    return subprocess.run([path], check=False).returncode == 7


@permitted
def run_threads():
    results = []
    threads = [threading.Thread(target=lambda: results.append(sum(range(1000)))) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(results) == 100


@permitted
def fork_and_wait():
    children = [os.fork() for _ in range(1)]
    if children[0] == 0:
        os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 3


@permitted
def signal_its_children():
    child = subprocess.Popen(["/bin/sleep", "60"])
    child.terminate()
    return child.wait() == -signal.SIGTERM


@permitted
def serve_its_own_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            peer, _ = server.accept()
            peer.sendall(b"hello")
            return client.recv(5) == b"hello"


@permitted
def use_sockets_of_its_own():
    path = os.path.join(tempfile.gettempdir(), "socket-%d" % os.getpid())
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            return True


@permitted
def share_memory_with_its_children():
    from multiprocessing import Value

    value = Value("i", 1)
    child = os.fork()
    if child == 0:
        with value.get_lock():
            value.value = 9
        os._exit(0)
    os.waitpid(child, 0)
    return value.value == 9


@permitted
def map_memory():
    with mmap.mmap(-1, 256 << 20) as memory:
        memory[0] = 1
        return memory[0] == 1


@permitted
def map_a_file():
    with tempfile.TemporaryFile() as file:
        file.truncate(4096)
        with mmap.mmap(file.fileno(), 4096) as memory:
            memory[:4] = b"text"
        file.seek(0)
        return file.read(4) == b"text"


@permitted
def open_many_files():
    files = [open("/dev/null") for _ in range(1000)]
    return len(files) == 1000


@permitted
def use_random_bytes():
    return len(os.urandom(32)) == 32 and len(read("/dev/urandom")) == 4096


@permitted
def watch_its_own_files():
    watcher = call("inotify_init1", 0)
    return call("inotify_add_watch", watcher, tempfile.gettempdir().encode(), 0xFFF) > 0


@permitted
def lead_a_session_of_its_own():
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(0 if os.getsid(0) == os.getpid() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@permitted
def know_who_it_is():
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name != "" and socket.gethostname() != ""


@permitted
def know_the_time():
    return time.time() > 1.7e9 and time.monotonic() > 0 and len(time.tzname) == 2


@permitted
def lock_files():
    import fcntl

    with open(os.path.join(tempfile.gettempdir(), "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return True


@permitted
def keep_files_in_memory():
    memory = call("memfd_create", b"x", 0)
    return os.write(memory, b"text") == 4


@permitted
def read_its_own_state():
    return b"Name:" in read("/proc/self/status") and len(os.listdir("/proc/self/fd")) > 0


def run(function):
    """Runs a probe in a process of its own, for at most 20 seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(reader)
        signal.alarm(20)
        try:
            text = "done" if function() else "refused: no result"
        except BaseException as error:
            code = errno.errorcode.get(getattr(error, "errno", 0) or 0, "")
            text = "refused: %s" % (code or repr(error)[:200])
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    try:
        os.killpg(child, signal.SIGKILL)
    except OSError:
        pass
    return text or "refused: it was ended"


wanted = sys.argv[2:]
print(json.dumps({name: run(function) for name, function in GROUPS[sys.argv[1]].items() if not wanted or name in wanted}))
