/**
 * `npm run bench -w packages/sandbox`: the time from the launch of a program to its
 * first line, contained and not, in each tier that works here. The ways take turns,
 * and each contained start is compared with the uncontained one of its round, so
 * that the load of the machine falls on both.
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { arch, cpus, release, tmpdir } from "node:os";
import { createProcessLauncher, type LaunchSpec, type SpawnRequest } from "@toolcrib/process";
import { chooseStartParent, defaultSandboxLimits, Sandboxes, type SandboxPolicy } from "@toolcrib/sandbox";
import { toMarkdown } from "../../../bench/table.ts";

const rounds = Number(process.argv[2] ?? 30);
const networks = ["deny", "scoped"] as const;
const goals = { deny: 40, scoped: 150 } as const;

interface Way {
  readonly name: string;
  readonly goalMs: number;
  readonly contain: LaunchSpec["contain"];
  readonly addedMs: number[];
}

/** Ways to contain a program in a tier, with listeners as servers have them. */
function waysOf(tier: "bubblewrap" | "unshare", sandboxes: Sandboxes): readonly Way[] {
  return networks.map((network) => {
    const policy: SandboxPolicy = {
      network,
      readPaths: [],
      writePaths: [],
      home: "temporary",
      hiddenPaths: [],
      listeners: [
        { protocol: "tcp", address: "0.0.0.0", port: 443 },
        { protocol: "tcp", address: "127.0.0.1", port: 53 },
        { protocol: "udp", address: "127.0.0.1", port: 53 },
      ],
      limits: defaultSandboxLimits,
    };
    const contain = async (request: SpawnRequest) => {
      const prepared = await sandboxes.prepare(request, policy);
      if (network === "deny") return prepared;
      return { ...prepared, takeListener: (listener: { close(): void }) => void listener.close() };
    };
    return { name: `${tier}, network ${network}`, goalMs: goals[network], contain, addedMs: [] };
  });
}

const launcher = createProcessLauncher({
  env: { PATH: "/usr/bin:/bin" },
  now: Date.now,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  randomBytes,
});

/** Milliseconds until a program that is launched in this way has printed its first line. */
async function start(contain: LaunchSpec["contain"]): Promise<number> {
  const startedAt = performance.now();
  const spec = {
    command: "/bin/sh",
    args: ["-c", "echo ready; cat"],
    env: {},
    label: "bench",
    cwd: "/",
    contain,
  };
  const launched = await launcher.launch(spec, { signal: AbortSignal.timeout(30_000) });
  await once(launched.stdout, "data");
  const ms = performance.now() - startedAt;
  launched.stdin.end();
  await launched.exited;
  return ms;
}

const ways: Way[] = [];
for (const tier of ["bubblewrap", "unshare"] as const) {
  const facts = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
  const places = { temporaryDirectory: chooseStartParent(tmpdir()), userHome: "/home/nobody-here" };
  const sandboxes = new Sandboxes({ ...facts, ...places }, { tiers: [tier] });
  const [report] = await sandboxes.check();
  if (report?.isAvailable === true) ways.push(...waysOf(tier, sandboxes));
  else process.stdout.write(`${tier} does not work here: ${report?.problems[0]?.reason}\n`);
}
// What is tried once is tried before.
for (const { contain } of ways) await start(contain);
const plainMs: number[] = [];
for (let round = 0; round < rounds; round++) {
  const plain = await start(undefined);
  plainMs.push(plain);
  for (const { contain, addedMs } of ways) addedMs.push((await start(contain)) - plain);
}
await launcher[Symbol.asyncDispose]();

const at = (values: readonly number[], part: number): string =>
  `${(values.toSorted((left, right) => left - right)[Math.floor((values.length - 1) * part)] ?? 0).toFixed(1)} ms`;
process.stdout.write(`- Processor: ${cpus()[0]?.model}, ${cpus().length} cores
- Kernel: Linux ${release()} ${arch()}
- Node: ${process.version}
- Uncontained: ${at(plainMs, 0.5)} (median of ${rounds})
`);
process.stdout.write(
  toMarkdown({
    title: "A contained start compared with an uncontained one",
    columns: ["contained in", "median more", "95 of 100", "goal"],
    rows: ways.map(({ name, goalMs, addedMs }) => [
      name,
      at(addedMs, 0.5),
      at(addedMs, 0.95),
      `${goalMs} ms`,
    ]),
  }),
);
