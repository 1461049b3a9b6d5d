/**
 * Entry: the Inspector on the command line as a client of the feature table. It runs a process for each request, so it has
 * the features of single requests: it answers no question of a server, and shows neither progress nor messages.
 */

import { join } from "node:path";
import { text } from "node:stream/consumers";
import { runProcess } from "@toolcrib/testing";
import type { Plan, PlannedConnection, Report, Step } from "./plan.ts";

const program = join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js",
);
/** Processes at a time. */
const concurrency = 2;

/** Makes it declare MCP Apps, which it does not do else. */
const declarePages = "--advertise-apps";

type Request = (method: string, ...args: readonly string[]) => Promise<unknown>;

const call = (request: Request, { tool = "", arguments: args = {} }: Step) =>
  request("tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));

/** The features of this client. A name of the plan that is not here is reported as unsupported. */
const drivers: { readonly [feature: string]: (request: Request, step: Step) => Promise<unknown> } = {
  templates: async (request, { uri = "" }) => ({
    templates: await request("resources/templates/list"),
    read: await request("resources/read", "--uri", uri),
  }),
  "resource-links": call,
  structured: call,
  apps: async (request, step) => {
    const showing: Request = (method, ...args) => request(method, ...args, declarePages);
    const uri = (await listTools(showing)).find(({ name }) => name === step.tool)?._meta?.ui?.resourceUri;
    return {
      page: uri,
      read: await showing("resources/read", "--uri", uri ?? ""),
      called: await call(showing, { ...step, tool: step.check ?? "", arguments: {} }),
    };
  },
  "apps-page-tools": async (request, step) => {
    const isListed = async (...args: readonly string[]) =>
      (await listTools(request, ...args)).some(({ name }) => name === step.check);
    return { withPages: await isListed(declarePages), withoutPages: await isListed() };
  },
};

interface ListedTool {
  readonly name: string;
  readonly _meta?: { readonly ui?: { readonly resourceUri?: string } };
}

async function listTools(request: Request, ...args: readonly string[]): Promise<readonly ListedTool[]> {
  const { result } = (await request("tools/list", ...args)) as {
    readonly result: { readonly tools: readonly ListedTool[] };
  };
  return result.tools;
}

const { connections, stepSeconds } = JSON.parse(await text(process.stdin)) as Plan;
const waiting = connections.flatMap((connection) => connection.steps.map((step) => ({ connection, step })));
await Promise.all(Array.from({ length: concurrency }, work));

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const outcome = await attempt(next.connection, next.step);
    const report: Report = { connection: next.connection.id, feature: next.step.feature, ...outcome };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  }
}

async function attempt(
  connection: PlannedConnection,
  step: Step,
): Promise<Omit<Report, "connection" | "feature">> {
  const driver = drivers[step.feature];
  if (driver === undefined) return { unsupported: true };
  try {
    return { observed: await driver((method, ...args) => run(connection, method, args), step) };
  } catch (error) {
    return { error: String(error).slice(0, 500) };
  }
}

async function run(
  { url, token }: PlannedConnection,
  method: string,
  args: readonly string[],
): Promise<unknown> {
  const header = token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`];
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    [
      program,
      url,
      "--transport",
      "http",
      "--protocol-era",
      "auto",
      "--format",
      "json",
      ...header,
      "--method",
      method,
      ...args,
    ],
    { timeoutMs: 3 * stepSeconds * 1000 },
  );
  if (code !== 0) throw new Error(`exit code ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as unknown;
}
