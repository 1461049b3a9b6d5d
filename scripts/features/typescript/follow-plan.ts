/**
 * The TypeScript clients of the feature table: reads a plan from stdin, follows its connections at the same time, and
 * writes what it observed to stdout, one line of JSON for each feature. It decides nothing about what it observed.
 *
 * A client of one version of the SDK is given as a function that connects it.
 */

import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Plan, PlannedConnection, Report, Step } from "../plan.ts";

/** A connected client, as the drivers of the features need it. */
export interface Peer {
  readonly protocol: string;
  /** Sends a request and returns the result. */
  request(method: string, params: object, options?: PeerOptions): Promise<object>;
  /** Begins to receive the changes of a resource. */
  subscribe(uri: string): Promise<unknown>;
  /** Runs a tool as a task to its end, and cancels another task of it. */
  runTasks(tool: string, args: object): Promise<RanTasks>;
  close(): Promise<void>;
}

/** The results of two tasks: one that ran to its end, and one that was cancelled. */
export interface RanTasks {
  /** Status after the start, as `tasks/get` says. */
  readonly running: string;
  /** Whether `tasks/list` has the task, or that the revision has no `tasks/list`. */
  readonly listed: boolean | "none in this revision";
  readonly result: unknown;
  readonly ended: string;
  readonly cancelled: string;
}

/** Options of one request. */
export interface PeerOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** Values that a client received from its server, by kind. */
export class Received {
  readonly #values = new Map<string, unknown[]>();

  add(kind: string, value: unknown): void {
    this.#values.set(kind, [...(this.#values.get(kind) ?? []), value]);
  }

  /** Waits for the first value of `kind` and returns all until then. */
  async until(kind: string, signal: AbortSignal): Promise<readonly unknown[]> {
    for (;;) {
      const values = this.#values.get(kind);
      if (values !== undefined) return values;
      await delay(20, undefined, { signal });
    }
  }
}

/** The answers of a client to its server, which name the connection: an answer that took a wrong way is visible. */
export interface Answers {
  readonly sample: (params: SamplingParams) => {
    readonly role: "assistant";
    readonly model: string;
    readonly content: SampledContent;
    readonly stopReason: string;
  };
  readonly elicit: (params: { readonly mode?: string | undefined; readonly url?: string | undefined }) => {
    readonly action: "accept";
    readonly content?: { name: string };
  };
  readonly roots: () => { roots: { uri: string; name: string }[] };
}

interface SamplingParams {
  readonly tools?: readonly { readonly name: string }[] | undefined;
}

type SampledContent =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: { [name: string]: unknown } };

/** The extension MCP Apps. */
export const uiExtension = "io.modelcontextprotocol/ui";

const capabilitiesWithoutPages = {
  sampling: { tools: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

/** Capabilities of every TypeScript client. */
const capabilities = {
  ...capabilitiesWithoutPages,
  extensions: { [uiExtension]: { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** The capabilities that a client declares. */
export type Declared = typeof capabilitiesWithoutPages & {
  readonly extensions?: typeof capabilities.extensions;
};

/** Connects one version of the SDK. */
export type Connect = (
  given: PlannedConnection,
  received: Received,
  answers: Answers,
  declared: Declared,
) => Promise<Peer>;

interface Trial {
  readonly peer: Peer;
  readonly step: Step;
  readonly received: Received;
  readonly signal: AbortSignal;
  readonly call: (name: string, args?: object, options?: PeerOptions & { meta?: object }) => Promise<object>;
  /** Connects a client that shows no pages. */
  readonly connectWithoutPages: () => Promise<Peer>;
}

type Driver = (trial: Trial) => Promise<unknown>;

const plainCall: Driver = ({ call, step }) => call(step.tool ?? "", step.arguments);

const runTasks: Driver = ({ peer, step }) => peer.runTasks(step.tool ?? "", step.arguments ?? {});

/** The features of this client. A name of the plan that is not here is reported as unsupported. */
const drivers: { readonly [feature: string]: Driver } = {
  progress: async ({ call, step }) => {
    const values: number[] = [];
    await call(step.tool ?? "", step.arguments, { onprogress: ({ progress }) => values.push(progress) });
    return values;
  },
  cancellation: async ({ call, step, signal }) => {
    const count = async () => JSON.stringify(await call(step.check ?? "", step.arguments));
    const before = await count();
    const running = new AbortController();
    setTimeout(() => running.abort(), 500);
    const ended = await call(step.tool ?? "", step.arguments, { signal: running.signal }).then(
      () => "with a result",
      () => "cancelled",
    );
    if (ended !== "cancelled") throw new Error(`the cancelled call ended ${ended}`);
    while ((await count()) === before) await delay(50, undefined, { signal });
    return ended;
  },
  logging: async ({ peer, call, step, received, signal }) => {
    if (peer.protocol < "2026") await peer.request("logging/setLevel", { level: "debug" });
    await call(step.tool ?? "", step.arguments, { meta: { "io.modelcontextprotocol/logLevel": "debug" } });
    return received.until("log", signal);
  },
  roots: plainCall,
  sampling: plainCall,
  "sampling-tools": plainCall,
  "elicitation-form": plainCall,
  "elicitation-url": async (trial) => {
    const result = await plainCall(trial);
    return { result, pages: await trial.received.until("page", trial.signal) };
  },
  completion: ({ peer, step }) =>
    peer.request("completion/complete", {
      ref: { type: "ref/prompt", name: step.prompt },
      argument: step.argument,
    }),
  templates: async ({ peer, step }) => ({
    templates: await peer.request("resources/templates/list", {}),
    read: await peer.request("resources/read", { uri: step.uri }),
  }),
  subscriptions: async (trial) => {
    await trial.peer.subscribe(trial.step.uri ?? "");
    await plainCall(trial);
    return trial.received.until("update", trial.signal);
  },
  "resource-links": plainCall,
  structured: plainCall,
  tasks: runTasks,
  "tasks-questions": runTasks,
  apps: async ({ peer, step, call }) => {
    const tool = (await listTools(peer)).find(({ name }) => name === step.tool);
    const uri = tool?._meta?.ui?.resourceUri;
    return {
      page: uri,
      read: await peer.request("resources/read", { uri }),
      called: await call(step.check ?? ""),
    };
  },
  "apps-page-tools": async ({ peer, step, connectWithoutPages }) => {
    const isListed = async (of: Peer) => (await listTools(of)).some(({ name }) => name === step.check);
    const other = await connectWithoutPages();
    try {
      return { withPages: await isListed(peer), withoutPages: await isListed(other) };
    } finally {
      await other.close();
    }
  },
};

interface ListedTool {
  readonly name: string;
  readonly _meta?: { readonly ui?: { readonly resourceUri?: string } };
}

async function listTools(peer: Peer): Promise<readonly ListedTool[]> {
  const { tools } = (await peer.request("tools/list", {})) as { readonly tools: readonly ListedTool[] };
  return tools;
}

/** Follows the plan on stdin. */
export async function followPlan(connect: Connect): Promise<void> {
  const { connections, stepSeconds } = JSON.parse(await text(process.stdin)) as Plan;
  await Promise.all(connections.map((one) => follow(one, stepSeconds * 1000, connect)));
  // A client can keep connections open after it was closed.
  process.exit(0);
}

async function follow(given: PlannedConnection, stepMs: number, connect: Connect): Promise<void> {
  const report = (feature: string, outcome: Partial<Report>) =>
    process.stdout.write(`${JSON.stringify({ connection: given.id, feature, ...outcome })}\n`);
  const received = new Received();
  const answers = answersOf(given.id, received);
  let peer: Peer;
  try {
    peer = await within(2 * stepMs, () => connect(given, received, answers, capabilities));
  } catch (error) {
    for (const { feature } of given.steps) report(feature, { error: `connect: ${String(error)}` });
    return;
  }
  report("protocol", { observed: peer.protocol });
  for (const step of given.steps) {
    const driver = drivers[step.feature];
    if (driver === undefined) {
      report(step.feature, { unsupported: true });
      continue;
    }
    try {
      const connectWithoutPages = () => connect(given, received, answers, capabilitiesWithoutPages);
      const limitMs = step.seconds === undefined ? stepMs : step.seconds * 1000;
      const observed = await within(limitMs, (signal) =>
        driver({ peer, step, received, signal, call: callOf(peer), connectWithoutPages }),
      );
      report(step.feature, { observed });
    } catch (error) {
      report(step.feature, { error: String(error).slice(0, 500) });
    }
  }
  await within(stepMs, () => peer.close()).catch(() => undefined);
}

function callOf(peer: Peer): Trial["call"] {
  return (name, args = {}, { meta, ...options } = {}) =>
    peer.request(
      "tools/call",
      { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
      options,
    );
}

function answersOf(id: string, received: Received): Answers {
  return {
    sample: ({ tools }) => {
      const tool = tools?.[0];
      const content: SampledContent =
        tool === undefined
          ? { type: "text", text: `sampled for ${id}` }
          : { type: "tool_use", id: "use-1", name: tool.name, input: { for: id } };
      return {
        role: "assistant",
        model: "m",
        content,
        stopReason: tool === undefined ? "endTurn" : "toolUse",
      };
    },
    elicit: ({ mode, url }) => {
      if (mode !== "url") return { action: "accept", content: { name: id } };
      received.add("page", url);
      return { action: "accept" };
    },
    roots: () => ({ roots: [{ uri: `file:///${id}`, name: id }] }),
  };
}

/** @throws {Error} when `act` has no result after `ms` */
async function within<Value>(ms: number, act: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const signal = AbortSignal.timeout(ms);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`no result within ${ms / 1000} s`)));
  });
  return Promise.race([act(signal), late]);
}
