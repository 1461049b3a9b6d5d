/**
 * The plan of the feature table: features, the servers with the names that each feature has there, and what a client
 * must have observed for a feature to work. Clients get it as a plan, follow it, and report what they observed.
 *
 * In texts of a step and in the pattern, `{id}` stands for the connection, so that what reached another one is a
 * failure.
 */

/** A plan, as a client reads it from its standard input. */
export interface Plan {
  readonly connections: readonly PlannedConnection[];
  /** Time limit for one step that has none of its own. */
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
  /** Tool whose result changes when the call was cancelled at the server; for MCP Apps, the tool that only the page calls. */
  readonly check?: string;
  readonly uri?: string;
  readonly prompt?: string;
  readonly argument?: { readonly name: string; readonly value: string };
  /** Time limit where it is not that of the plan. */
  readonly seconds?: number;
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

/** The rows of the table. */
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
  "tasks-questions",
  "apps",
  "apps-page-tools",
] as const;
export type Feature = (typeof features)[number];

/** The acts of a client for a feature at one server, and the expected observations. */
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
  tasks: {
    tool: "simulate-research-query",
    arguments: { topic: "{id}" },
    // The tool takes four seconds.
    seconds: 30,
    expected: ranTasks("Research Report: {id}"),
  },
  "tasks-questions": {
    tool: "simulate-research-query",
    arguments: { topic: "{id}", ambiguous: true },
    seconds: 15,
    expected: ranTasks("Research Report: {id} .User accepted"),
  },
};

/** A task ran to its end, with a result that has `text`, and another one was cancelled. */
function ranTasks(text: string): RegExp {
  return new RegExp(
    `^(?=.*"running":"(working|input_required)")(?=.*"listed":(true|"none in this revision"))` +
      `(?=.*"result":\\{.*${text})(?=.*"ended":"completed")(?=.*"cancelled":"cancelled")`,
  );
}

/** Its tool asks for the name. */
const tasksTrials: Trials = { "tasks-questions": { tool: "greet", expected: ranTasks("Hello, {id}!") } };

const appsTrials: Trials = {
  apps: {
    tool: "show",
    check: "refresh",
    expected:
      /(?=.*"page":"ui:\/\/clock\/page.html")(?=.*"mimeType":"text\/html;profile=mcp-app")(?=.*"connectDomains":\["https:\/\/time.example"\]).*one o'clock/,
  },
  // Clients that declare no extension observe only what is listed without it.
  "apps-page-tools": { check: "refresh", expected: /^\{("withPages":true,)?"withoutPages":false\}$/ },
};

/** The servers, in the order of the page. */
export const servers = [
  { id: "everything", name: "`server-everything` (TypeScript SDK v1)", trials: everythingTrials },
  { id: "fastmcp", name: "FastMCP, both eras", trials: fastmcpTrials },
  { id: "go-legacy", name: "Go SDK with sessions, 2025-11-25", trials: ownTrials },
  { id: "go-modern", name: "Go SDK without sessions, 2026-07-28", trials: ownTrials },
  { id: "tasks", name: "Server with the extension for tasks, 2026-07-28", trials: tasksTrials },
  {
    id: "apps",
    name: "Server made with `@modelcontextprotocol/ext-apps` (TypeScript SDK v1)",
    trials: appsTrials,
  },
] as const;
export type ServerId = (typeof servers)[number]["id"];

/** Servers that exist for one extension: the page shows only what they have. */
export const extensionServers: readonly ServerId[] = ["tasks", "apps"];

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

/** Why a feature has no result at a server, or for a client. */
interface Absence {
  readonly features: readonly Feature[];
  readonly servers?: readonly ServerId[];
  readonly clients?: readonly ClientId[];
  readonly reason: string;
}

const goTasks = "The Go SDK has no tasks.";

/** Why features of extensions have no result. Of several that fit, the first one counts. */
export const absences: readonly Absence[] = [
  { features: ["tasks", "tasks-questions"], servers: ["go-legacy", "go-modern"], reason: goTasks },
  {
    features: ["tasks", "tasks-questions"],
    servers: ["fastmcp"],
    reason: "FastMCP runs tasks with another package, `fastmcp-tasks`, which this server does not use.",
  },
  {
    features: ["apps", "apps-page-tools"],
    servers: ["everything", "fastmcp", "go-legacy", "go-modern"],
    reason: "This server has no pages.",
  },
  { features: ["tasks", "tasks-questions"], clients: ["go"], reason: goTasks },
  {
    features: ["tasks", "tasks-questions"],
    clients: ["python-v2"],
    reason: "Version 2 of the Python SDK has no functions for tasks.",
  },
  {
    features: ["tasks", "tasks-questions"],
    clients: ["fastmcp"],
    reason: "FastMCP has tasks with another package, `fastmcp-tasks`, which this client does not use.",
  },
  {
    features: ["tasks", "tasks-questions"],
    clients: ["inspector"],
    reason:
      "The Inspector on the command line has no connection that lasts from the start of a task to its result.",
  },
];

/** Returns why a feature has no result for a client at a server; undefined where no reason is known. */
export function absenceOf(server: ServerId, client: ClientId, feature: Feature): string | undefined {
  return absences.find(
    (one) =>
      one.features.includes(feature) &&
      one.servers?.includes(server) !== false &&
      one.clients?.includes(client) !== false,
  )?.reason;
}

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
