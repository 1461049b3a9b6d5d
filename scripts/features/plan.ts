/**
 * What the feature table tries: features, the servers with the names that each feature has there, and what a client
 * must have observed for a feature to work. Clients get it as a plan, follow it, and report what they observed.
 *
 * In texts of a step and in the pattern, `{id}` stands for the connection, so that what reached another one is a
 * failure.
 */

/** A plan, as a client reads it from its standard input. */
export interface Plan {
  readonly connections: readonly PlannedConnection[];
  /** Time limit for one step. */
  readonly stepSeconds: number;
}

/** A connection to one server, directly or through the gateway. */
export interface PlannedConnection {
  readonly id: string;
  readonly url: string;
  readonly token?: string | undefined;
  readonly steps: readonly Step[];
}

/** One feature to try. */
export interface Step {
  readonly feature: Feature;
  readonly tool?: string;
  readonly arguments?: { readonly [name: string]: unknown };
  /** Tool whose result changes when the call was cancelled at the server. */
  readonly check?: string;
  readonly uri?: string;
  readonly prompt?: string;
  readonly argument?: { readonly name: string; readonly value: string };
}

/** A line that a client writes: what it observed, why it observed nothing, or that it has no such feature. */
export interface Report {
  readonly connection: string;
  /** `protocol` for the negotiated revision. */
  readonly feature: string;
  readonly observed?: unknown;
  readonly error?: string;
  readonly unsupported?: boolean;
}

/** The rows of the table. Tasks and Apps have no driver yet: a client that gets one fills the row. */
export const features = [
  "progress",
  "cancellation",
  "logging",
  "roots",
  "sampling",
  "sampling-tools",
  "elicitation-form",
  "elicitation-url",
  "completion",
  "templates",
  "subscriptions",
  "resource-links",
  "structured",
  "tasks",
  "apps",
] as const;
export type Feature = (typeof features)[number];

/** What a client does for a feature at one server, and what it must observe. */
interface Trial extends Omit<Step, "feature"> {
  /** Pattern of the observation as JSON; `{id}` stands for the connection. */
  readonly expected: RegExp;
}

export type Trials = { readonly [feature in Feature]?: Trial };

/**
 * Progress in three steps. The TypeScript SDK v2 reports a step of its own for each round of questions, and the legacy
 * server-everything asks for roots during the first call of a session.
 */
const threeSteps = /^\[1(\.0)?,(1,)?2(\.0)?,(1,)?3(\.0)?\]$/;

/** The features of the servers of this repository, which have the same names in each language. */
const ownTrials: Trials = {
  progress: { tool: "progress", expected: threeSteps },
  cancellation: {
    tool: "wait",
    check: "cancelled",
    arguments: { key: "{id}" },
    expected: /^"cancelled"$/,
  },
  logging: { tool: "log", expected: /"logged by (go|fastmcp)"/ },
  roots: { tool: "roots", expected: /file:\/\/\/{id}\b/ },
  sampling: { tool: "sample", expected: /sampled for {id}\b/ },
  "sampling-tools": { tool: "sample_tools", expected: /tool_use.*weather.*\\"for\\":\\"{id}\\"/ },
  "elicitation-form": { tool: "elicit_form", expected: /accept.*\\"name\\":\\"{id}\\"/ },
  "elicitation-url": {
    tool: "elicit_url",
    expected: /(?=.*accept).*"pages":\["https:\/\/example.com\/visit"\]/,
  },
  completion: {
    prompt: "greet",
    argument: { name: "name", value: "An" },
    expected: /"values":\["Ann","Anton"\]/,
  },
  templates: {
    uri: "features://item/7",
    expected: /(?=.*features:\/\/item\/[{]id[}]).*content of features:\/\/item\/7/,
  },
  subscriptions: {
    tool: "touch",
    uri: "features://item/{id}",
    arguments: { uri: "features://item/{id}" },
    expected: /^\["features:\/\/item\/{id}"\]$/,
  },
  "resource-links": { tool: "links", expected: /"type":"resource_link"/ },
  structured: {
    tool: "structured",
    arguments: { value: 21 },
    expected: /"structuredContent":{[^}]*"doubled":42/,
  },
};

const fastmcpTrials: Trials = (({ subscriptions: _none, ...trials }) => trials)(ownTrials);

/** `server-everything` shows no client that a call was cancelled, and does not ask a model that may use tools. */
const everythingTrials: Trials = {
  progress: {
    tool: "trigger-long-running-operation",
    arguments: { duration: 0.3, steps: 3 },
    expected: threeSteps,
  },
  logging: { tool: "toggle-simulated-logging", expected: /[- ]level[- ]message|Roots updated/ },
  roots: { tool: "get-roots-list", expected: /file:\/\/\/{id}\b/ },
  sampling: {
    tool: "trigger-sampling-request",
    arguments: { prompt: "Who are you?" },
    expected: /sampled for {id}\b/,
  },
  "elicitation-form": { tool: "trigger-elicitation-request", expected: /accept.*{id}\b/ },
  "elicitation-url": {
    tool: "trigger-url-elicitation",
    arguments: { url: "https://example.com/visit" },
    expected: /(?=.*User completed).*"pages":\["https:\/\/example.com\/visit"\]/,
  },
  completion: {
    prompt: "completable-prompt",
    argument: { name: "department", value: "E" },
    expected: /"values":\["Engineering"\]/,
  },
  templates: {
    uri: "demo://resource/dynamic/text/7",
    expected: /(?=.*dynamic\/text\/{resourceId}).*Resource 7: This is a plaintext/,
  },
  subscriptions: {
    tool: "toggle-subscriber-updates",
    uri: "demo://resource/dynamic/text/1",
    expected: /demo:\/\/resource\/dynamic\/text\/1/,
  },
  "resource-links": { tool: "get-resource-links", expected: /"type":"resource_link"/ },
  structured: {
    tool: "get-structured-content",
    arguments: { location: "Chicago" },
    expected: /"structuredContent":{[^}]*"temperature":36/,
  },
};

/** The servers, in the order of the page. */
export const servers = [
  { id: "everything", name: "`server-everything` (TypeScript SDK v1)", trials: everythingTrials },
  { id: "fastmcp", name: "FastMCP, both eras", trials: fastmcpTrials },
  { id: "go-legacy", name: "Go SDK with sessions, 2025-11-25", trials: ownTrials },
  { id: "go-modern", name: "Go SDK without sessions, 2026-07-28", trials: ownTrials },
] as const;
export type ServerId = (typeof servers)[number]["id"];

/** The clients, in the order of the page. */
export const clients = [
  { id: "ts-v1", name: "TypeScript SDK v1" },
  { id: "ts-v2", name: "TypeScript SDK v2" },
  { id: "python-v1", name: "Python SDK v1" },
  { id: "python-v2", name: "Python SDK v2" },
  { id: "fastmcp", name: "FastMCP" },
  { id: "go", name: "Go SDK" },
  { id: "inspector", name: "Inspector" },
] as const;
export type ClientId = (typeof clients)[number]["id"];

/** Returns the steps of a connection to a server. */
export function stepsOf(trials: Trials, connection: string): Step[] {
  return features.flatMap((feature) => {
    const trial = trials[feature];
    if (trial === undefined) return [];
    const { expected: _expected, ...step } = trial;
    const text = JSON.stringify({ feature, ...step }).replaceAll("{id}", connection);
    return [JSON.parse(text) as Step];
  });
}

/** Whether an observation is that of a feature that works. */
export function isExpected(trials: Trials, { connection, feature, observed }: Report): boolean {
  const trial = trials[feature as Feature];
  if (trial === undefined || observed === undefined) return false;
  return new RegExp(trial.expected.source.replaceAll("{id}", connection)).test(JSON.stringify(observed));
}
