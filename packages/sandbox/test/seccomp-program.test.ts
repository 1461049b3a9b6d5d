/** The filter of system calls, run by a small interpreter of its bytes: each call that it names, and ordinary ones. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assembleSeccompProgram, refusedCalls } from "@toolcrib/sandbox";

const architectures = ["x64", "arm64"] as const;
const auditNumbers = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const allowed = "allowed";

/** One call as the kernel shows it to a filter. */
interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly args?: readonly (number | bigint)[];
}

/** Runs a filter. @returns `allowed`, or the number of the error that the call ends with */
function decide(program: Uint8Array, { number, architecture, args = [] }: Call): number | string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, architecture, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt(value), true);
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const code = view.getUint16(8 * at, true);
    const k = view.getUint32(8 * at + 4, true);
    if (code === 0x06) {
      if (k === 0x7fff_0000) return allowed;
      assert.equal(k >>> 16, 5, "the only other answer is an error");
      return k & 0xffff;
    }
    if (code === 0x20) {
      accumulator = data.getUint32(k, true);
      continue;
    }
    const results: { readonly [code: number]: () => boolean } = {
      21: () => accumulator === k,
      37: () => accumulator > k,
      69: () => (accumulator & k) >>> 0 !== 0,
    };
    const test = results[code];
    assert(test !== undefined, `unknown instruction ${code}`);
    at += view.getUint8(8 * at + (test() ? 2 : 3));
  }
}

/** Calls of ordinary programs: their numbers on each architecture. */
const ordinaryCalls: readonly (readonly [name: string, x64: number, arm64: number])[] = [
  ["read", 0, 63],
  ["write", 1, 64],
  ["close", 3, 57],
  ["mmap", 9, 222],
  ["mprotect", 10, 226],
  ["rt_sigaction", 13, 134],
  ["pread64", 17, 67],
  ["madvise", 28, 233],
  ["nanosleep", 35, 101],
  ["connect", 42, 203],
  ["bind", 49, 200],
  ["socketpair", 53, 199],
  ["execve", 59, 221],
  ["exit", 60, 93],
  ["kill", 62, 129],
  ["fcntl", 72, 25],
  ["chdir", 80, 49],
  ["getrlimit", 97, 163],
  ["setsid", 112, 157],
  ["prctl", 157, 167],
  ["sched_setaffinity", 203, 122],
  ["futex", 202, 98],
  ["epoll_ctl", 233, 21],
  ["openat", 257, 56],
  ["eventfd2", 290, 19],
  ["inotify_init1", 294, 26],
  ["prlimit64", 302, 261],
  ["seccomp", 317, 277],
  ["getrandom", 318, 278],
  ["memfd_create", 319, 279],
  ["copy_file_range", 326, 285],
  ["statx", 332, 291],
  ["rseq", 334, 293],
  ["pidfd_open", 434, 434],
  ["close_range", 436, 436],
  ["faccessat2", 439, 439],
  ["epoll_pwait2", 441, 441],
  ["landlock_create_ruleset", 444, 444],
  ["futex_waitv", 449, 449],
  ["fchmodat2", 452, 452],
];

/** Modes of files as the argument at `position`, after other arguments. */
const modesAt = (position: number, before: readonly number[] = []) => {
  const at = (mode: number) => [...before, ...new Array<number>(position - before.length).fill(0), mode];
  return {
    passes: [0, 0o644, 0o755, 0o1777, 0o100644].map(at),
    fails: [0o4755, 0o2755, 0o6000, 0o104755].map((mode) => ({ args: at(mode), error: 1 })),
  };
};
/** Flags of an opening that creates nothing: the argument for its mode can be anything. */
const [created, temporary, opened] = [0o102, 0o20200002, 0o2];

/** Calls of which some arguments are refused: these pass, these end with an error. */
const judged: readonly {
  readonly name: string;
  readonly passes: readonly (readonly (number | bigint)[])[];
  readonly fails: readonly { readonly args: readonly (number | bigint)[]; readonly error: number }[];
}[] = [
  {
    name: "clone",
    // A thread and a child process of glibc.
    passes: [[0x3d0f00], [0x1200011], [17]],
    fails: [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000].flatMap((flag) => [
      { args: [flag], error: 1 },
      { args: [flag | 17], error: 1 },
    ]),
  },
  {
    name: "unshare",
    passes: [[0x200], [0x400]],
    fails: [0x80, 0x20000, 0x2000000, 0x10000000, 0x40000200].map((flag) => ({ args: [flag], error: 1 })),
  },
  {
    name: "ioctl",
    // TCGETS, FIONREAD, FIONBIO.
    passes: [
      [0, 0x5401],
      [0, 0x541b],
      [0, 0x5421],
    ],
    fails: [0x5412n, 0x541cn, 0x1_0000_5412n, 0xffff_ffff_0000_541cn].map((request) => ({
      args: [0, request],
      error: 1,
    })),
  },
  ...(
    [
      ["chmod", 1],
      ["fchmod", 1],
      ["fchmodat", 2],
      ["fchmodat2", 2],
      ["creat", 1],
      ["mknod", 1],
      ["mknodat", 2],
    ] as const
  ).map(([name, mode]) => ({ name, ...modesAt(mode) })),
  ...(
    [
      ["open", [0]],
      ["openat", [0, 0]],
    ] as const
  ).map(([name, before]) => ({
    name,
    passes: [
      ...modesAt(before.length + 1, [...before, created]).passes,
      [...before, opened, 0o4755],
      [...before, 0o40000, 0xffff_ffff],
    ],
    fails: [created, temporary].flatMap((flags) => modesAt(before.length + 1, [...before, flags]).fails),
  })),
  {
    name: "personality",
    passes: [[0], [0xffff_ffff]],
    fails: [8, 0x40000, 0x400000].map((args) => ({ args: [args], error: 1 })),
  },
  {
    name: "socket",
    passes: [
      [1, 1, 0],
      [2, 1, 6],
      [10, 2, 17],
      [16, 3, 0],
    ],
    fails: [
      ...[0, 3, 17, 31, 38, 40, 44].map((family) => ({ args: [family, 3, 0], error: 97 })),
      ...[4, 9, 12, 15, 21].map((protocol) => ({ args: [16, 3, protocol], error: 93 })),
    ],
  },
];

for (const name of architectures) {
  describe(`the filter of system calls on ${name}`, () => {
    const program = assembleSeccompProgram(name);
    const architecture = auditNumbers[name];
    const run = (number: number, args: readonly (number | bigint)[] = []) =>
      decide(program, { number, architecture, args });

    it("refuses each call of its table", () => {
      let count = 0;
      for (const call of refusedCalls) {
        const number = call[name];
        if (number === undefined || typeof call.rule !== "number") continue;
        assert.equal(run(number), call.rule, call.name);
        assert.ok(call.rule === 1 || call.rule === 38, call.name);
        count += 1;
      }
      assert.ok(count >= 45, `${count} calls`);
    });

    it("judges the arguments of the other calls", () => {
      const conditional = refusedCalls.filter(({ rule }) => typeof rule !== "number");
      assert.deepEqual(
        conditional.map((call) => call.name).toSorted(),
        judged.map((row) => row.name).toSorted(),
      );
      for (const { name: callName, passes, fails } of judged) {
        const number = conditional.find((call) => call.name === callName)?.[name];
        if (number === undefined) continue;
        for (const args of passes) assert.equal(run(number, args), allowed, `${callName} ${args}`);
        for (const { args, error } of fails) assert.equal(run(number, args), error, `${callName} ${args}`);
      }
    });

    it("allows ordinary calls, and every known call that is not in its table", () => {
      for (const [callName, x64, arm64] of ordinaryCalls) {
        assert.equal(run(name === "x64" ? x64 : arm64), allowed, callName);
      }
      const refused = new Set(refusedCalls.map((call) => call[name]));
      for (let number = 0; number <= 466; number++) {
        if (!refused.has(number)) assert.equal(run(number), allowed, String(number));
      }
    });

    it("knows no call of another architecture, of x32, or of a later kernel", () => {
      for (const other of [0x4000_0003, 0x4000_0028, auditNumbers[name === "x64" ? "arm64" : "x64"]]) {
        for (const number of [0, 1, 59, 101]) {
          assert.equal(decide(program, { number, architecture: other }), 38);
        }
      }
      for (const number of [467, 1000, 0x4000_0000, 0x4000_0209, 0xffff_ffff]) assert.equal(run(number), 38);
    });
  });
}
