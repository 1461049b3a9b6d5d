/**
 * The system calls that a contained program may not make, as data: their numbers
 * on each architecture, and what of their arguments is refused. Each gives rights
 * over the kernel, over other processes or over mounts and namespaces, or is a
 * part of the kernel that programs do not need and that had many faults.
 */

/** Numbers of errors, the same on both architectures. */
const errors = { notPermitted: 1, noSuchCall: 38, noSuchProtocol: 93, noSuchFamily: 97 } as const;

/** One condition on an argument. The kernel reads the low 32 bits of each of these arguments only. */
export interface ArgumentCheck {
  /** Position of the argument, from 0. */
  readonly argument: number;
  /** Refused: a value with any bit of the first of `values`; one of `values`; a value that is not one of them. */
  readonly refused: "anyBit" | "oneOf" | "noneOf";
  readonly values: readonly number[];
  readonly error: number;
  /** Applies only where another argument has this value, or any of these bits. */
  readonly when?:
    | { readonly argument: number; readonly value: number }
    | { readonly argument: number; readonly anyBit: number };
}

/** One call. */
export interface RefusedCall {
  readonly name: string;
  /** Its number on x86_64; undefined where it does not exist. */
  readonly x64: number | undefined;
  readonly arm64: number | undefined;
  /** The error that a program gets; or the conditions under which it gets one. */
  readonly rule: number | readonly ArgumentCheck[];
}

/** The last call of Linux 6.13. Later ones are not known here; programs have to work without them. */
export const lastKnownCall = 466;

/** CLONE_NEW* of the mount, cgroup, uts, ipc, user, pid and network namespace. */
const namespaceFlags = 0x7e02_0000;
/** CLONE_NEWTIME; for `clone` this bit belongs to the signal number. */
const timeNamespace = 0x80;

const always = (
  name: string,
  x64: number | undefined,
  arm64: number | undefined,
  error: number = errors.notPermitted,
): RefusedCall => ({ name, x64, arm64, rule: error });

const both = (name: string, number: number, error: number = errors.notPermitted): RefusedCall =>
  always(name, number, number, error);

/** S_ISUID and S_ISGID. */
const setIdBits = 0o6000;
/** O_CREAT and O_TMPFILE: without them, an opening has no mode. */
const creationFlags = 0o100 | 0o20000000;

/** A call whose argument `mode` makes a file one that runs with the rights of its owner or group. */
const withMode = (
  name: string,
  x64: number | undefined,
  arm64: number | undefined,
  mode: number,
  flags?: number,
): RefusedCall => {
  const when = flags === undefined ? {} : { when: { argument: flags, anyBit: creationFlags } };
  const check = {
    argument: mode,
    refused: "anyBit",
    values: [setIdBits],
    error: errors.notPermitted,
  } as const;
  return { name, x64, arm64, rule: [{ ...check, ...when }] };
};

/** The calls, by what they would give. */
export const refusedCalls: readonly RefusedCall[] = [
  // Keys of the kernel, which are shared by all processes of a user.
  always("add_key", 248, 217),
  always("request_key", 249, 218),
  always("keyctl", 250, 219),
  // Other processes.
  always("ptrace", 101, 117),
  always("process_vm_readv", 310, 270),
  always("process_vm_writev", 311, 271),
  always("kcmp", 312, 272),
  both("pidfd_getfd", 438),
  both("process_madvise", 440),
  // Programs in the kernel, and interfaces with many faults in the past. Libraries fall back where a call is missing.
  always("bpf", 321, 280),
  always("perf_event_open", 298, 241),
  always("userfaultfd", 323, 282),
  both("io_uring_setup", 425, errors.noSuchCall),
  both("io_uring_enter", 426, errors.noSuchCall),
  both("io_uring_register", 427, errors.noSuchCall),
  always("lookup_dcookie", 212, 18),
  always("fanotify_init", 300, 262),
  always("modify_ldt", 154, undefined),
  // Mounts.
  always("mount", 165, 40),
  always("umount2", 166, 39),
  always("pivot_root", 155, 41),
  always("chroot", 161, 51),
  both("open_tree", 428),
  both("move_mount", 429),
  both("fsopen", 430),
  both("fsconfig", 431),
  both("fsmount", 432),
  both("fspick", 433),
  both("mount_setattr", 442),
  // Namespaces. The flags of clone3 are in memory, which a filter cannot read; libraries fall back to clone.
  always("setns", 308, 268),
  {
    name: "unshare",
    x64: 272,
    arm64: 97,
    rule: [
      {
        argument: 0,
        refused: "anyBit",
        values: [namespaceFlags + timeNamespace],
        error: errors.notPermitted,
      },
    ],
  },
  {
    name: "clone",
    x64: 56,
    arm64: 220,
    rule: [{ argument: 0, refused: "anyBit", values: [namespaceFlags], error: errors.notPermitted }],
  },
  both("clone3", 435, errors.noSuchCall),
  // The kernel and the machine.
  always("kexec_load", 246, 104),
  always("kexec_file_load", 320, 294),
  always("create_module", 174, undefined),
  always("init_module", 175, 105),
  always("delete_module", 176, 106),
  always("get_kernel_syms", 177, undefined),
  always("query_module", 178, undefined),
  always("finit_module", 313, 273),
  always("reboot", 169, 142),
  always("swapon", 167, 224),
  always("swapoff", 168, 225),
  always("quotactl", 179, 60),
  both("quotactl_fd", 443),
  always("acct", 163, 89),
  always("nfsservctl", 180, 42),
  always("syslog", 103, 116),
  always("vhangup", 153, 58),
  always("iopl", 172, undefined),
  always("ioperm", 173, undefined),
  always("settimeofday", 164, 170),
  always("clock_settime", 227, 112),
  // Files by number, which passes every folder by.
  always("name_to_handle_at", 303, 264),
  always("open_by_handle_at", 304, 265),
  // Programs that run with the rights of the owner of a folder that a server may write, for any user of the machine. What
  // openat2 creates is in memory, which a filter cannot read; programs fall back to openat.
  withMode("chmod", 90, undefined, 1),
  withMode("fchmod", 91, 52, 1),
  withMode("fchmodat", 268, 53, 2),
  withMode("fchmodat2", 452, 452, 2),
  withMode("creat", 85, undefined, 1),
  withMode("open", 2, undefined, 2, 1),
  withMode("openat", 257, 56, 3, 2),
  both("openat2", 437, errors.noSuchCall),
  withMode("mknod", 133, undefined, 1),
  withMode("mknodat", 259, 33, 2),
  // Input for the terminal of somebody else: TIOCSTI and TIOCLINUX.
  {
    name: "ioctl",
    x64: 16,
    arm64: 29,
    rule: [{ argument: 1, refused: "oneOf", values: [0x5412, 0x541c], error: errors.notPermitted }],
  },
  // Other behaviours of the kernel; 0 is the normal one, and the last value asks for the present one.
  {
    name: "personality",
    x64: 135,
    arm64: 92,
    rule: [{ argument: 0, refused: "noneOf", values: [0, 0xffff_ffff], error: errors.notPermitted }],
  },
  // Unix, IPv4, IPv6 and, to list interfaces, the routing part of netlink. Virtual sockets (40) leave every namespace.
  {
    name: "socket",
    x64: 41,
    arm64: 198,
    rule: [
      { argument: 0, refused: "noneOf", values: [1, 2, 10, 16], error: errors.noSuchFamily },
      {
        argument: 2,
        refused: "noneOf",
        values: [0],
        error: errors.noSuchProtocol,
        when: { argument: 0, value: 16 },
      },
    ],
  },
];
