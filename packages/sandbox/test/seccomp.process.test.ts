/** Real system calls in the sandbox of bubblewrap: each is refused there, and none by the same means outside. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refusedCalls } from "@toolcrib/sandbox";
import { run, runContained, strictPolicy, unavailableReason } from "./sandbox-harness.ts";

const skip = await unavailableReason("bubblewrap");
const python = "/usr/bin/python3";

/** Makes each call by its number, with arguments that do no harm where the call is allowed; prints its error. */
const script = `
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
results = {}
for name, number, args in json.loads(sys.argv[1]):
    ctypes.set_errno(0)
    value = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(one) for one in args])
    results[name] = ctypes.get_errno() if value == -1 else 0
print(json.dumps(results))
`;

/** Values that no call accepts: descriptors that are not open, addresses that are not mapped. */
const nothing = [0xffff_ffff_ffff, 0xffff_ffff_ffff, 0xffff_ffff_ffff, 0xffff_ffff_ffff, 0xffff_ffff_ffff];

const conditional: readonly (readonly [
  name: string,
  call: string,
  args: readonly number[],
  error: number,
])[] = [
  ["clone", "clone", [0x1000_0000 | 17], 1],
  ["unshare", "unshare", [0x1000_0000], 1],
  ["ioctl TIOCSTI", "ioctl", [0, 0x5412, 0], 1],
  ["ioctl TIOCLINUX", "ioctl", [0, 0x541c, 0], 1],
  ["personality", "personality", [0x40000], 1],
  ["socket AF_VSOCK", "socket", [40, 1, 0], 97],
  ["socket AF_ALG", "socket", [38, 5, 0], 97],
  ["socket AF_PACKET", "socket", [17, 3, 0], 97],
  ["socket NETLINK_KOBJECT_UEVENT", "socket", [16, 3, 15], 93],
];

describe("system calls in the sandbox of bubblewrap", {
  skip: skip === undefined ? false : `bubblewrap does not work here: ${skip}`,
}, () => {
  it("are refused, each with its error", async () => {
    const architecture = process.arch === "arm64" ? "arm64" : "x64";
    const numberOf = (name: string): number =>
      refusedCalls.find((call) => call.name === name)?.[architecture] ?? -1;
    const calls = [
      ...refusedCalls.flatMap((call) => {
        const number = call[architecture];
        return number === undefined || typeof call.rule !== "number"
          ? []
          : [[call.name, number, nothing, call.rule] as const];
      }),
      ...conditional.map(([name, call, args, error]) => [name, numberOf(call), args, error] as const),
    ];
    const text = JSON.stringify(calls.map(([name, number, args]) => [name, number, args]));
    const { stdout, stderr } = await runContained(["-c", script, text], strictPolicy(), {
      program: python,
      tier: "bubblewrap",
    });
    assert.equal(stderr, "");
    assert.deepEqual(JSON.parse(stdout), Object.fromEntries(calls.map(([name, , , error]) => [name, error])));
  });

  it("of threads, child processes and sockets work", async () => {
    const works = `
import os, socket, subprocess, threading
thread = threading.Thread(target=lambda: print("thread", flush=True))
thread.start(); thread.join()
print(subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout, end="", flush=True)
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6): socket.socket(family).close()
print([name for _, name in socket.if_nameindex()])
`;
    const settings = { program: python, tier: "bubblewrap" } as const;
    const { stdout, stderr } = await runContained(["-c", works], strictPolicy(), settings);
    assert.equal(stdout, "thread\nchild\n['lo']\n", stderr);
  });

  it("a filter and no descriptor of the gateway are in the program", async () => {
    const show = ["-c", "grep ^Seccomp: /proc/self/status; ls /proc/self/fd"];
    const inside = await runContained(show, strictPolicy(), { tier: "bubblewrap" });
    const outside = await run({ program: "/bin/sh", args: show, env: { PATH: "/usr/bin:/bin" } });
    // A test runner can have inherited descriptors itself; a sandbox adds none to them.
    assert.match(outside.stdout, /^Seccomp:\s*0\n/);
    assert.equal(inside.stdout, outside.stdout.replace(/0\n/, "2\n"), inside.stderr);
  });
});
