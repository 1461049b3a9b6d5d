/**
 * A trail of ten thousand calls: three workflows of agents, and calls that only look like it. The tools are
 * functions, so that a chain can be run with them afterwards.
 */

import { hash, randomBytes } from "node:crypto";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { type AuditEvents, openFingerprints, openStore, toAuditClient } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";

/** A result, by how a server returns it. */
type Returned =
  | { readonly structured: JsonObject }
  | { readonly json: JsonObject }
  | { readonly text: string };

/** Numbers from 0 to 1, the same in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const digest = (text: string) => hash("sha256", text, "hex").slice(0, 16);

/** The tools of the workflows. Each result depends on the arguments. */
export const workflowTools: { readonly [tool: string]: (args: JsonObject) => Returned } = {
  "crm:find": ({ email }) => ({
    structured: {
      status: "success",
      customer: { id: `cust-${digest(`${email}`)}`, "sales contact": `agent-${digest(`s${email}`)}` },
    },
  }),
  "billing:invoices": ({ customer }) => ({
    structured: {
      currency: "EUR",
      invoices: [{ number: `inv-${digest(`${customer}`)}` }, { number: "inv-none" }],
    },
  }),
  "mail:send": ({ to, invoice, cc }) => ({ text: `sent ${invoice} to ${to} and ${cc}` }),
  "tools.pdf.read_local": ({ path }) => ({ json: { content: `text of ${path}`, pages: 12 } }),
  "tools.text.clean": ({ text }) => ({ json: { result: `clean ${text}` } }),
  "tools.embeddings.generate": ({ text, model }) => ({
    json: { embeddings: `vector of ${text} by ${model}` },
  }),
  "git:head": ({ repository }) => ({ text: `commit-${digest(`${repository}`)}` }),
  "ci:build": ({ commit }) => ({
    structured: { "build/id": `build-${digest(`${commit}`)}`, state: "queued" },
  }),
  "ci:logs": ({ build, limits }) => ({ text: `logs of ${build} ${JSON.stringify(limits)}` }),
};

/** The output of a step of a chain. */
export function outputOf(returned: Returned): JsonValue {
  return "structured" in returned ? returned.structured : "json" in returned ? returned.json : returned.text;
}

/** The workflows: the calls that an agent makes for one input. */
export const workflows: readonly ((input: string, call: Caller) => void)[] = [
  (input, call) => {
    const email = `${input}@example.com`;
    const found = call("crm:find", { email }) as { customer: { id: string; "sales contact": string } };
    const listed = call("billing:invoices", { customer: found.customer.id, state: "open invoices" }) as {
      invoices: { number: string }[];
    };
    call("mail:send", {
      to: email,
      invoice: `${listed.invoices[0]?.number}`,
      cc: found.customer["sales contact"],
    });
  },
  (input, call) => {
    const read = call("tools.pdf.read_local", { path: `/documents/${input}.pdf` }) as { content: string };
    const cleaned = call("tools.text.clean", { text: read.content }) as { result: string };
    call("tools.embeddings.generate", { text: cleaned.result, model: "text-embedding-3-small" });
  },
  (input, call) => {
    const commit = call("git:head", { repository: `repository-${input}` }) as string;
    const built = call("ci:build", { commit, repository: `repository-${input}` }) as { "build/id": string };
    call("ci:logs", { build: built["build/id"], limits: { lines: 100 } });
  },
];

/** Makes a call and returns its output. */
export type Caller = (tool: string, args: JsonObject) => JsonValue;

type Call = readonly [tool: string, args: JsonObject, returned: Returned];

/** Calls that must not become chains. */
function* noise(random: () => number): Generator<Call> {
  const pick = (count: number) => Math.floor(random() * count);
  const regions = ["eu-west", "us-east", "ap-south", "sa-east", "af-north"];
  const one = () => `user-${pick(150)}`;
  const unique = () => `${pick(1e9)}-${pick(1e9)}`;
  let cursor = unique();
  for (;;) {
    // Constants and enumerations that results and arguments share.
    yield [
      "ops:status",
      {},
      { structured: { status: "success", region: regions[pick(5)] ?? "", at: unique() } },
    ];
    yield [
      "ops:deploy",
      { region: regions[pick(5)] ?? "", wanted: "success", label: unique() },
      { text: "done" },
    ];
    // People from one pool, in results and arguments of all kinds.
    yield ["chat:latest", { channel: `channel-${pick(9)}` }, { json: { from: one(), text: unique() } }];
    yield [
      "hr:person",
      { person: one(), currency: "EUR" },
      { structured: { person: one(), manager: one() } },
    ];
    yield [
      "tasks:assign",
      { person: one(), task: unique() },
      { structured: { status: "success", owner: one() } },
    ];
    // Pages of a list.
    const next = unique();
    yield ["logs:page", { cursor }, { structured: { next, lines: unique() } }];
    cursor = next;
    // A tool that returns what it is given, and another that is given the same.
    const shared = unique();
    yield ["text:echo", { text: shared }, { text: shared }];
    yield ["text:count", { text: shared }, { text: "42 words" }];
    // A choice from a list, of another entry each time.
    const entries = Array.from({ length: 12 }, () => ({ id: unique() }));
    yield ["search:query", { query: unique() }, { structured: { entries } }];
    yield ["search:open", { id: entries[pick(12)]?.id ?? "" }, { text: unique() }];
    for (let count = pick(6); count > 0; count -= 1)
      yield ["misc:unrelated", { a: unique(), b: "success", c: regions[pick(5)] ?? "" }, { text: unique() }];
  }
}

/** Writes the trail to `home` as a gateway does: 10,000 calls of eight clients, 150 of them of the workflows. */
export async function writeWorkflowTrail(home: string, calls = 10_000): Promise<void> {
  const random = seededRandom(7);
  let nowMs = Date.parse("2026-11-02T08:00:00Z");
  const fingerprints = await openFingerprints(home, { randomBytes });
  await using store = await openStore({ home }, { now: () => nowMs, randomBytes });
  let count = 0;
  const record = async (client: number, [tool, args, returned]: Call): Promise<void> => {
    count += 1;
    nowMs += Math.floor(random() * 900);
    const isPackage = tool.startsWith("tools.");
    const subject = {
      callId: `call-${count}`,
      depth: 0,
      client: toAuditClient(localIdentity("token", `agent-${client}`)),
      tool: isPackage ? `${tool}:${tool.slice(tool.lastIndexOf(".") + 1)}` : tool,
      origin: isPackage ? "package" : "server",
      server: isPackage ? tool : tool.slice(0, tool.indexOf(":")),
    };
    const text = "text" in returned ? returned.text : JSON.stringify(outputOf(returned));
    const result = {
      content: [{ type: "text", text }],
      ...("structured" in returned ? { structuredContent: returned.structured } : {}),
    };
    await store.audit.intent({
      ...subject,
      argumentsDigest: `sha256:${"0".repeat(64)}`,
      preview: args,
      decision: "allow",
      fingerprints: fingerprints?.ofArguments(args, (places) => places),
    } as AuditEvents["call.intent"]);
    nowMs += 40;
    store.audit.record("call.completed", {
      ...subject,
      outcome: "ok",
      durationMs: 40,
      fingerprints: fingerprints?.ofResult(result),
    } as AuditEvents["call.completed"]);
  };
  const sources = Array.from({ length: 8 }, (_one, at) => noise(seededRandom(100 + at)));
  const pending: { readonly client: number; readonly calls: Call[] }[] = [];
  const runs = 150;
  for (let at = 0; count < calls; at += 1) {
    if (at % Math.floor(calls / runs / 1.02) === 0) pending.push({ client: at % 8, calls: planned(at) });
    const client = Math.floor(random() * 8);
    const due = pending.find((one) => one.client === client);
    const step = due !== undefined && random() < 0.4 ? due.calls.shift() : undefined;
    if (due?.calls.length === 0) pending.splice(pending.indexOf(due), 1);
    const next = step ?? sources[client]?.next().value;
    if (next !== undefined) await record(client, next);
  }
}

function planned(at: number): Call[] {
  const calls: Call[] = [];
  workflows[at % 3]?.(`input-${at}`, (tool, args) => {
    const returned = workflowTools[tool]?.(args) ?? { text: "" };
    calls.push([tool, args, returned]);
    return outputOf(returned);
  });
  return calls;
}
