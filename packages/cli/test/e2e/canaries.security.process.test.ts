/**
 * Twenty thousand calls of APIs that return the received secrets in every encoding, in
 * every kind of body, and in malformed responses. No secret may appear in any output, and
 * each request must carry the right secrets. The calls use gateways in separate processes
 * over HTTP and stdio, a gateway in this process, and the proxy. Afterwards the test
 * searches everything that was written: results, logs, the home folder, command lines and
 * environments of processes, and the output of commands.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createLogger } from "@toolcrib/cli";
import { loadConfig } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { startGateway } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import { openSecretStore } from "@toolcrib/secrets";
import { makeTemporaryDirectory, runsAll, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { oddAnswers } from "../canary/canary-answers.ts";
import { type CanaryApi, startCanaryApi } from "../canary/canary-api.ts";
import { type RunReport, runCalls } from "../canary/canary-run.ts";
import { type CanaryService, services, unreachable, writeServices } from "../canary/canary-services.ts";
import type { ForeignPlan } from "../canary/foreign-client.ts";
import { createHttpClient, type RawClient, startStdioClient } from "../canary/raw-clients.ts";
import { cleanEnvironment, commandLine, echoServer, runToolcrib, startServe } from "../transcript.ts";

/** Scales the number of calls: a tenth unless `npm run verify` runs the test. */
const share = (count: number): number => (runsAll ? count : Math.ceil(count / 10));
const httpCalls = share(12_000);
const stdioCalls = share(3_000);
const ownCalls = share(3_750);
/** Number of calls of each service that a program calls through a proxy. */
const proxyCalls = share(250);

/** The secrets that are not in the store: one in the environment, one in a file. */
const inEnvironment = "trusted-token";
const inFile = "twin-user";

const secretOf = new Map(
  [...services, ...unreachable].flatMap(({ credentials }) =>
    credentials.map(({ secretName, value }) => [secretName, value] as const),
  ),
);
const environment = {
  TOOLCRIB_SECRET_TRUSTED_TOKEN: secretOf.get(inEnvironment),
  CHILD_SECRET: "Own8SecretOfTheChild4Tz",
};

/** A folder with a configuration, and a home folder with the secrets. */
interface Setting extends AsyncDisposable {
  readonly directory: TemporaryDirectory;
  readonly home: string;
  readonly api: CanaryApi;
}

async function openSetting(document: JsonObject = {}): Promise<Setting> {
  const directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const api = await startCanaryApi(directory.path);
  const toolspecs = writeServices(directory.path);
  const config = {
    toolspecs,
    egress: api.egress,
    serve: { listen: "127.0.0.1:0", mode: "full" },
    ...document,
  };
  writeFileSync(directory.join("toolcrib.yaml"), JSON.stringify(config));
  mkdirSync(join(home, "secrets"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "secrets", inFile), `${secretOf.get(inFile)}\n`, { mode: 0o600 });
  await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
  for (const [name, value] of secretOf)
    if (name !== inEnvironment && name !== inFile) await store.set(name, value);
  return {
    directory,
    home,
    api,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Makes the calls from `from` to `to` with `client`, by the wire names of the tools. */
const runBy = (api: CanaryApi, client: RawClient, from: number, to: number): Promise<RunReport> =>
  runCalls(
    api,
    (service, tool, args, options) => client.call(`${service}__${tool}`, args, options),
    from,
    to,
  );

function assertClean({ api }: Setting, source: string, bytes: Uint8Array | string): void {
  const leak = api.search.find(Buffer.from(bytes));
  assert.equal(leak, undefined, `${source} shows ${leak?.canary} as ${leak?.form}: ${leak?.excerpt}`);
}

function assertRun(report: RunReport, count: number): void {
  assert.deepEqual(report.faults, []);
  assert.equal(report.calls, count);
  assert.ok(report.scrubbed > count * 0.8, `${report.scrubbed} of ${count} results had a secret replaced`);
}

/** Checks every file of the home and its name, except the files in which the operator stores secrets. */
function assertCleanHome(setting: Setting): void {
  const { home } = setting;
  const paths = readAll(home);
  let audits = 0;
  for (const path of paths) {
    if (path === join("secrets", inFile)) continue;
    if (path.startsWith("audit")) audits += 1;
    assertClean(setting, path, readFileSync(join(home, path)));
  }
  assert.ok(audits > 0, "an audit trail was searched");
  assertClean(setting, "names of files", paths.join("\n"));
}

function readAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}

/** Checks that each host received its own secrets and no others. */
function assertCarried({ api }: Setting): void {
  assert.deepEqual(api.faults, []);
  for (const { host } of services)
    assert.ok((api.carried.get(host)?.now ?? 0) > 0, `${host} received requests`);
}

/** Returns `pid` and its descendants, with their command lines and environments. */
function processesBelow(pid: number): { readonly pid: number; readonly text: string }[] {
  const all = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
      const text = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${name}/${file}`, "latin1"));
      return [{ pid: Number(name), parent, text: text.join("\n") }];
    } catch {
      // The process has ended, or belongs to another user.
      return [];
    }
  });
  const below = new Set([pid]);
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const one of all) if (below.has(one.parent)) below.add(one.pid);
  }
  return all.filter((one) => below.has(one.pid));
}

const compositeCodes: readonly string[] = [
  'r = SERVICE.ask(mode="plain-NUMBER")\nprint(r)\nreturn r',
  'r = SERVICE.send(mode="plain-NUMBER", text="x")\nfail(str(r))',
  'r = [str(SERVICE.pick(mode="landing")), tools["SERVICE__ask"](mode="odd-number")]\nprint(r)\nreturn r',
  'try:\n  SERVICE.ask(mode="odd-within-utf16-failed")\nexcept ToolError as e:\n  print(e)\n  fail(e.message)',
  'return SERVICE.ask(mode="odd-others")',
];

/** Runs programs that log, return and raise their results; saves one, tests it, and runs it dry. */
async function runComposites(setting: Setting, client: RawClient, count: number): Promise<number> {
  const { api } = setting;
  let calls = 0;
  const call = async (name: string, args: JsonObject, meta: JsonObject = {}) => {
    const { bytes, result } = await client.call(name, args, { meta });
    calls += 1;
    assertClean(setting, name, bytes);
    return result;
  };
  let shown = "";
  for (let number = 0; number < count; number += 1) {
    const service = services[number % services.length]?.id as string;
    const code = (compositeCodes[number % compositeCodes.length] as string)
      .replaceAll("SERVICE", service)
      .replaceAll("NUMBER", String(number * 13));
    shown += JSON.stringify(await call("eval_starlark", { code }));
  }
  assert.match(shown, /toolcrib-ph-/);
  const code = 'r = bearer.ask(mode="landing")\nprint(r)\nreturn r';
  const saved = await call("save_tool", { name: "echoing", description: "Asks", inputSchema: {}, code });
  assert.match(JSON.stringify(saved), /"created"/);
  const returned = JSON.stringify(await call("echoing", {}));
  assert.match(returned, /toolcrib-ph-/);
  await call("test_saved_tool", { name: "echoing", record: true });
  await call("test_saved_tool", { name: "echoing" });
  await call("echoing", {}, { "toolcrib/dryRun": true });
  await call("echoing", { dry_run: true });
  await call("show_saved_tool", { name: "echoing" });
  for (const query of ["ask for something", secretOf.get("twin-app") as string])
    await call("search_tools", { query });
  await call("describe_tool", { name: "bearer__ask" });
  // A client that passes a secret in an argument gets it neither in the result nor into the audit trail.
  const { faults } = api;
  const known = faults.length;
  await call("bearer__ask", { mode: "landing", q: secretOf.get("twin-app") as string });
  // The name of an unknown tool is repeated in the response, and nowhere else.
  await client.call(secretOf.get("twin-app") as string, {});
  (faults as string[]).splice(known);
  return calls;
}

/** The complete test takes one minute on two idle cores; slow machines get more time. */
const options = { timeout: 300_000 };

describe("canary secrets", { concurrency: 2, timeout: 600_000 }, () => {
  it("do not leak from a gateway process, and reach every host that they belong to", options, async (t) => {
    await using setting = await openSetting({
      tool_servers: [
        {
          ...echoServer("child"),
          // The processes that build a sandbox have the environment of the server, too.
          trust_state: "certified",
          transport: {
            ...(echoServer("child") as { transport: JsonObject }).transport,
            env: { CHILD_KEY: { secret_key_ref: { env: "CHILD_SECRET" } } },
          },
        },
      ],
      execution: { isolation: "process", enableDebug: true },
    });
    const { directory, home, api } = setting;
    const started = performance.now();
    const serveArgs = ["--config", "toolcrib.yaml", "--home", home];
    await using gateway = await startServe([...serveArgs, "--log-level", "debug"], {
      directory: directory.path,
      env: environment,
    });
    const token = readFileSync(join(home, "tokens/default"), "utf8").trim();
    await using client = createHttpClient(gateway.url, token);
    const get = async (path: string) => {
      const response = await fetch(new URL(path, gateway.url), {
        headers: { authorization: `Bearer ${token}` },
      });
      return `${JSON.stringify([...response.headers])}\n${await response.text()}`;
    };
    await waitUntil(async () => (await fetch(new URL("/readyz", gateway.url))).status === 200);
    const timeouts = runsAll
      ? ["hang", "hang-in-secret"].map((odd) => client.call("bearer__ask", { mode: `odd-${odd}` }))
      : [];

    const half = httpCalls >> 1;
    assertRun(await runBy(api, client, 0, half), half);
    // Two secrets are replaced while the gateway runs. From then on, neither value may appear.
    for (const [name, value] of rotations) {
      api.rotate(name, value);
      const set = await runToolcrib(["secret", "set", name, "--home", home], {
        directory: directory.path,
        stdin: value,
      });
      assert.equal(set.code, 0, set.stderr);
      assertClean(setting, "secret set", set.stdout + set.stderr);
    }
    // A value counts as known when the gateway has read it: from the first request that carries it.
    for (const service of ["bearer", "login"]) {
      await waitUntil(async () => {
        const now = () => api.carried.get(`api.${service}.example`)?.now ?? 0;
        const before = now();
        await client.call(`${service}__ask`, { mode: "landing" });
        return now() > before;
      });
    }
    const beforeRotation = new Map([...api.carried].map(([host, { now }]) => [host, now]));
    assertRun(await runBy(api, client, half, httpCalls), httpCalls - half);
    for (const service of ["bearer", "login"]) {
      const { now = 0, before = 0 } = api.carried.get(`api.${service}.example`) ?? {};
      const grown = now - (beforeRotation.get(`api.${service}.example`) ?? 0);
      assert.ok(
        grown > 0 && before < grown,
        `${service}: ${grown} requests with the new secret, ${before} with the old`,
      );
    }

    // A composite is paused while the test reads the processes of the gateway, the composite and the server.
    let processes: readonly { readonly pid: number; readonly text: string }[] = [];
    api.onHeld = async () => {
      processes = processesBelow(gateway.pid);
    };
    const composites = await runComposites(setting, client, runsAll ? 40 : 12);
    await client.call("eval_starlark", { code: 'return bearer.ask(mode="held")' });
    assert.ok(processes.length >= 3, `${processes.length} processes were read`);
    for (const { pid, text } of processes) {
      // The environment of the gateway contains the secret that the operator put there.
      const own = pid === gateway.pid ? text.replace(secretOf.get(inEnvironment) as string, "") : text;
      assertClean(setting, `process ${pid}`, Buffer.from(own, "latin1"));
    }
    const holding = processes.filter(({ text }) => text.includes(environment.CHILD_SECRET));
    assert.equal(holding.length, 2, "only the gateway and the server that owns the secret");

    for (const path of [
      "/metrics",
      "/api/v1/status",
      "/api/v1/tools",
      "/api/v1/servers/bearer/log",
      "/api/v1/servers/child/log",
    ])
      assertClean(setting, path, await get(path));
    for (const answer of timeouts) {
      const { bytes } = await answer;
      assertClean(setting, "a call that timed out", bytes);
      assert.match(bytes.toString(), /EGRESS_TIMED_OUT|CALL_TIMEOUT/);
    }
    const listed = await runToolcrib(["audit", "list", "--json", "--limit", "1000", "--home", home], {
      directory: directory.path,
    });
    const ids = [...listed.stdout.matchAll(/"callId":\s*"([^"]+)"/g)].map((match) => match[1] as string);
    const commands = [
      ["audit", "list", "--limit", "200"],
      ["audit", "tail", "--json", "--limit", "500"],
      ["audit", "show", ids[0] as string],
      ["audit", "show", "--json", ids.at(-1) as string],
      ["status", "--json"],
      ["list", "--json"],
      ["secret", "list"],
      ["secret", "test", "bearer-token"],
      ["doctor"],
      ["config", "check"],
      ["call", "query__ask", "mode=plain-7"],
      ["call", "path__ask", "mode=odd-broken-status", "--debug"],
    ];
    for (const args of commands) {
      const { stdout, stderr } = await runToolcrib([...args, "--home", home, "--config", "toolcrib.yaml"], {
        directory: directory.path,
        env: environment,
      });
      assertClean(setting, args.join(" "), stdout + stderr);
    }
    assertClean(setting, "audit list", listed.stdout + listed.stderr);
    await gateway.stop();
    assertClean(setting, "standard output", gateway.stdout());
    assertClean(setting, "standard error", gateway.stderr());
    assert.match(gateway.stderr(), /"secret was used"/);
    assertCleanHome(setting);
    assertCarried(setting);
    const missing = Object.keys(oddAnswers).filter((name) => !api.given.has(name));
    assert.deepEqual(missing, [], "every odd answer was given");
    const seconds = (performance.now() - started) / 1000;
    t.diagnostic(`${httpCalls + composites} calls over HTTP in ${seconds.toFixed(1)} s`);
  });

  it(
    "do not leak from a gateway over stdio, nor from one that is killed during calls",
    options,
    async (t) => {
      await using setting = await openSetting();
      const { directory, home, api } = setting;
      const args = ["serve", "--stdio", "--config", "toolcrib.yaml", "--home", home, "--log-level", "debug"];
      await using client = await startStdioClient(process.execPath, [...commandLine, ...args], {
        cwd: directory.path,
        env: { ...process.env, ...cleanEnvironment(directory.path), ...environment },
      });
      await waitUntil(async () => {
        const { result } = await client.call("bearer__ask", { mode: "landing" });
        return result?.["isError"] !== true && result !== undefined;
      });
      const started = performance.now();
      assertRun(await runBy(api, client, httpCalls, httpCalls + stdioCalls), stdioCalls);
      const held = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      api.onHeld = () => {
        arrived.resolve();
        return held.promise;
      };
      const last = client.call("login__ask", { mode: "held" });
      await arrived.promise;
      await client.kill();
      await last;
      held.resolve();
      assertClean(setting, "standard output", client.stdout());
      assertClean(setting, "standard error", client.stderr());
      assertCleanHome(setting);
      assertCarried(setting);
      t.diagnostic(
        `${stdioCalls} calls over stdio in ${((performance.now() - started) / 1000).toFixed(1)} s`,
      );
    },
  );

  it("do not leak from the proxy to a program that only has placeholders", options, async (t) => {
    await using setting = await openSetting();
    const { directory, home, api } = setting;
    const started = performance.now();
    // A proxy has only the secrets of its own manifest.
    const odd = Object.keys(oddAnswers).filter((name) => name !== "others" && !name.startsWith("hang-"));
    const use = async (one: (typeof foreignUses)[number], index: number) => {
      const {
        id,
        host,
        otherHosts = [],
        credentials,
      } = services.find(({ id }) => id === one.id) as CanaryService;
      const hosts = [host, ...otherHosts];
      const from = 20_000 + index * proxyCalls;
      const modes = Array.from({ length: proxyCalls }, (_, at) =>
        at % 3 === 1 ? `odd-${odd[(at + index) % odd.length]}` : `plain-${from + at}`,
      );
      const file = directory.join(`got-${id}`);
      const plan: ForeignPlan = { file, hosts, headers: {}, pathPrefix: "", query: "", ...one, modes };
      const { code, stdout, stderr } = await runToolcrib(
        [
          ...["egress", "--manifest", `${id}/manifest.yaml`, "--home", home, "--log-level", "debug"],
          ...credentials.map((credential) => `--secret=${credential.id}=${credential.secretName}`),
          ...hosts.map((name) => `--connect-to=${name}=${api.endpoint}`),
          ...["--internal-range", "127.0.0.0/8", "--ca-file", api.caFile],
          ...["--", process.execPath, foreignClient, JSON.stringify(plan)],
        ],
        { directory: directory.path, env: environment, timeoutMs: 240_000 },
      );
      assert.equal(code, 0, stderr);
      assertClean(setting, `${id}: bytes received by the program`, readFileSync(file));
      assertClean(setting, `${id}: output of the program`, stdout);
      assertClean(setting, `${id}: standard error`, stderr);
      const { scrubbed } = JSON.parse(stdout) as { readonly scrubbed: number };
      assert.ok(
        scrubbed > proxyCalls / 2,
        `${id}: ${scrubbed} of ${proxyCalls} results had a secret replaced`,
      );
      for (const name of hosts) assert.ok((api.carried.get(name)?.now ?? 0) > 0, `${name} received requests`);
      assert.match(stderr, /EGRESS_HOST_DENIED/);
      assert.match(stderr, /a placeholder was in a place that is not allowed/);
    };
    await Promise.all(foreignUses.map(use));
    assert.deepEqual(api.faults, []);
    for (const path of readAll(home)) {
      if (path !== join("secrets", inFile)) assertClean(setting, path, readFileSync(join(home, path)));
    }
    const seconds = (performance.now() - started) / 1000;
    t.diagnostic(`${foreignUses.length * proxyCalls} calls through proxies in ${seconds.toFixed(1)} s`);
  });

  it("do not leak from a gateway inside a program, nor into text logs", options, async (t) => {
    await using setting = await openSetting();
    const { directory, home, api } = setting;
    const { value: config } = await loadConfig([directory.join("toolcrib.yaml")], {
      readFile: readRegularFile,
      catalogFolder: directory.join("catalog"),
    });
    assert.ok(config);
    const lines: string[] = [];
    const output = { write: (line: string) => void lines.push(line) };
    const started = performance.now();
    {
      await using gateway = await startGateway(config, {
        home,
        env: { PATH: process.env["PATH"], ...environment },
        directory: directory.path,
        logger: createLogger({ output, now: Date.now }, { level: "debug", pretty: true }),
        version: "0.0.1",
        configFiles: ["toolcrib.yaml"],
      });
      await gateway.ready();
      const report = await runCalls(
        api,
        async (service, tool, args, { leave }) => {
          const left = new AbortController();
          void leave?.then(() => left.abort());
          const outcome = await gateway.call(localIdentity("cli", "somebody"), `${service}:${tool}`, args, {
            signal: left.signal,
          });
          // The result or error that the program receives, with all causes.
          const shown =
            outcome.kind === "failed"
              ? {
                  text: String(outcome.error),
                  message: outcome.error.message,
                  cause: causesOf(outcome.error),
                }
              : outcome;
          const result = outcome.kind === "result" ? (outcome.result as unknown as JsonObject) : undefined;
          return { bytes: Buffer.from(JSON.stringify(shown)), result };
        },
        httpCalls + stdioCalls,
        httpCalls + stdioCalls + ownCalls,
      );
      assertRun(report, ownCalls);
      assertClean(setting, "the status", JSON.stringify(gateway.status()));
    }
    assertClean(setting, "the log for people", lines.join(""));
    assert.match(lines.join(""), /DEBUG secret was used/);
    assertCleanHome(setting);
    assertCarried(setting);
    t.diagnostic(
      `${ownCalls} calls within a program in ${((performance.now() - started) / 1000).toFixed(1)} s`,
    );
  });
});

const foreignClient = join(import.meta.dirname, "../canary/foreign-client.ts");

/** The places of the placeholders in the requests of a program, by service. */
const foreignUses: readonly (Partial<ForeignPlan> & { readonly id: string })[] = [
  { id: "bearer", headers: { Authorization: "Bearer {TOKEN}" } },
  { id: "twin", headers: { "X-App-Key": "{APP}", "X-User-Key": "key={USER};v=1" } },
  { id: "query", query: "?api_key={KEY}" },
  { id: "path", pathPrefix: "/bot{BOT}" },
  { id: "login", headers: { Authorization: "Basic {LOGIN}" } },
];

/** Secrets that are replaced during the run, with their new values. */
const rotations: readonly (readonly [name: string, value: string])[] = [
  ["bearer-token", `Nw3ZtGc7JqLx5RyV+/&"=%\\<'~ 2HdKs9FpMb6TuXe`],
  ["login-login", "ada:Ey9LkRv2XbHn6SjC/+=8TqZw4GmPd1UaFo"],
];

function causesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [`${error.stack}`, ...causesOf(error.cause)];
}
