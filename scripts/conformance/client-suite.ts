/**
 * The scenarios for clients of one revision, with the gateway as the client. The suite starts a command for each
 * scenario, all at once; the commands hand them to a queue in this process, which runs a few at a time.
 */

import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { runProcess } from "@toolcrib/testing";
import { runClientScenario, type ScenarioRequest } from "./client-scenario.ts";
import {
  type ColumnResult,
  type ListedScenarios,
  readResults,
  type ScenarioResult,
  suitePath,
  suiteTimeoutMs,
} from "./suite.ts";

const root = join(import.meta.dirname, "../..");
/** Scenarios that run at once; each has a gateway of its own. */
const maxRunning = 3;
/** Milliseconds after which the scenarios run although not all of them have arrived. */
const arrivalTimeoutMs = 120_000;
/** Scenarios that measure times, and run alone. */
const aloneScenarios: ReadonlySet<string> = new Set(["sse-retry"]);
/** A check of times that a busy machine fails with a warning. */
const timingCheck = "client-sse-retry-timing";

/** Scenarios in which the gateway has to refuse the server, so that no call succeeds. */
const refusals: ReadonlySet<string> = new Set([
  "auth/scope-retry-limit",
  "auth/resource-mismatch",
  "auth/iss-supported-missing",
  "auth/iss-wrong-issuer",
  "auth/iss-unexpected",
  "auth/iss-normalized",
  "auth/metadata-issuer-mismatch",
]);

/** Runs the scenarios for clients of `requirements`. */
export async function runClientSuite(
  requirements: string,
  { client, unscoredClient }: ListedScenarios,
  directory: string,
): Promise<ColumnResult> {
  process.env["TOOLCRIB_TEST_COMMAND"] ??= bundleCommand();
  const codes = new Map<string, number>();
  await using queue = await startQueue(client.length + unscoredClient.length, codes);
  const suite = await runProcess(
    process.execPath,
    [
      ...[suitePath, "client", "--requirements", requirements, "--output-dir", directory],
      // Each scenario waits for its turn.
      ...["--timeout", String(suiteTimeoutMs)],
      ...["--command", `${process.execPath} ${join(import.meta.dirname, "client-command.ts")}`],
    ],
    { timeoutMs: suiteTimeoutMs, env: { TOOLCRIB_CONFORMANCE_QUEUE: queue.url } },
  );
  const results = readResults(directory, "", [...client, ...unscoredClient], suite.stdout + suite.stderr);
  const hasFailure = client.some((name) => (results.get(name)?.failures.length ?? 0) > 0);
  // The suite's exit code must agree with its results.
  if (suite.code !== (hasFailure ? 1 : 0))
    throw new Error(`The suite exited with ${suite.code}\n${suite.stdout}`);
  return new Map(
    [...results].map(([name, result]) => {
      const isScored = client.includes(name);
      return [name, { ...judge(name, result, codes.get(name)), isScored }];
    }),
  );
}

/** Adds to the failures of the suite: its warnings, and an end of the client that does not fit the scenario. */
function judge(
  scenario: string,
  { failures, warnings }: ScenarioResult,
  code: number | undefined,
): ScenarioResult {
  const isTiming = (warning: string) => warning.startsWith(`${timingCheck}:`);
  const all = [...failures, ...warnings.filter((warning) => !isTiming(warning))];
  const hasRefused = code === 1;
  if (hasRefused !== refusals.has(scenario))
    all.push(hasRefused ? "the client could not use the server" : "the client could use the server");
  return { failures: all, warnings: warnings.filter(isTiming) };
}

/**
 * Starts the queue: a server that gets a scenario with each request, and answers with its outcome. The first scenario
 * runs when all `count` have arrived, because the processor is busy with the commands until then.
 */
async function startQueue(
  count: number,
  codes: Map<string, number>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const slots = new Slots(maxRunning);
  const complete = Promise.withResolvers<void>();
  const late = setTimeout(complete.resolve, arrivalTimeoutMs);
  let arrived = 0;
  const server = createServer(async (request, response) => {
    const scenario = JSON.parse(await text(request)) as ScenarioRequest;
    arrived += 1;
    if (arrived === count) complete.resolve();
    await complete.promise;
    const needed = aloneScenarios.has(scenario.scenario) ? maxRunning : 1;
    await slots.take(needed);
    const outcome = await runClientScenario(scenario);
    slots.give(needed);
    codes.set(scenario.scenario, outcome.code);
    response.end(JSON.stringify(outcome));
  });
  // A command waits for as long as its turn takes.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        clearTimeout(late);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Slots that are given in the order of the requests for them. */
class Slots {
  #free: number;
  readonly #waiting: { readonly needed: number; readonly go: () => void }[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  take(needed: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ needed, go: resolve });
    this.#serve();
    return promise;
  }

  give(count: number): void {
    this.#free += count;
    this.#serve();
  }

  #serve(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.needed <= this.#free;
      next = this.#waiting[0]
    ) {
      this.#free -= next.needed;
      this.#waiting.shift();
      next.go();
    }
  }
}

/** Bundles the command, which then starts in half of the time. @returns the path of its entry */
function bundleCommand(): string {
  const args = ["--conditions=toolcrib-source", join(root, "scripts/bundle-command.ts")];
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
}
