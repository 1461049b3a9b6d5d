/**
 * Interleaved questions: clients of both eras call tools that ask (sampling, elicitation, roots) of servers of both eras
 * at the same time. Each question names its client and its number, and so does each answer, so that an answer that
 * reaches another question, client or server is visible. `npm run verify` asks a thousand.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { runsAll, startEchoHttpServer } from "@toolcrib/testing";
import { onHttp, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

/** Clients, and questions of each client at each server. The longest lists are for `npm run verify`. */
const counts = runsAll ? { clients: 50, perServer: 4 } : { clients: 10, perServer: 2 };
const servers = [
  { id: "a", protocol: undefined },
  { id: "b", protocol: undefined },
  { id: "c", protocol: undefined },
  { id: "d", protocol: "2026-07-28" },
  { id: "e", protocol: "2026-07-28" },
] as const;
const capabilities = { elicitation: { form: {} }, roots: {}, sampling: {} };
/** Calls of one client at a time. */
const width = 3;

interface Call {
  readonly server: string;
  readonly kind: "sampling" | "elicitation" | "roots";
  readonly question: string;
}

/** The calls of a client, in an order that differs from that of the others. */
function callsOf(client: number): Call[] {
  const kinds = ["sampling", "elicitation", "roots"] as const;
  const calls = servers.flatMap(({ id }, at) =>
    Array.from({ length: counts.perServer }, (_, round): Call => {
      const kind = kinds[(client + at + round) % kinds.length] as Call["kind"];
      return { server: id, kind, question: `client-${client} asks ${id}-${round}` };
    }),
  );
  const from = (client * 7) % calls.length;
  return [...calls.slice(from), ...calls.slice(0, from)];
}

/** Answers after a time that depends on the question, so that answers come in another order than questions. */
async function answerOf(client: number, question: string): Promise<string> {
  assert.ok(question.includes(`client-${client} asks `), `client ${client} was asked "${question}"`);
  await sleep([...question].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 23, 0));
  return `the answer to: ${question}`;
}

/** Connects a client, of the modern era if its number is odd. */
async function connect(gateway: TestGateway, client: number): Promise<(call: Call) => Promise<string>> {
  const as = `client-${client}`;
  const sample = async (content: unknown) => {
    const text = await answerOf(client, JSON.stringify(content));
    return { role: "assistant" as const, model: "m", content: { type: "text" as const, text } };
  };
  const elicit = async (message: string) => ({
    action: "accept" as const,
    content: { name: await answerOf(client, message) },
  });
  const roots = { roots: [{ uri: `file:///client-${client}` }] };
  const request = ({ server, kind, question }: Call) => ({
    name: `${server}__ask_${kind}`,
    arguments:
      kind === "sampling" ? { prompt: question } : kind === "elicitation" ? { message: question } : {},
  });
  if (client % 2 === 1) {
    const modern = await gateway.connectModern({ as, capabilities });
    modern.setRequestHandler("sampling/createMessage", ({ params }) => sample(params.messages));
    modern.setRequestHandler("elicitation/create", ({ params }) => elicit(params.message));
    modern.setRequestHandler("roots/list", async () => roots);
    return async (call) => textOf(await modern.callTool(request(call)));
  }
  const legacy = await gateway.connect({ as, capabilities });
  legacy.setRequestHandler(CreateMessageRequestSchema, ({ params }) => sample(params.messages));
  legacy.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params.message));
  legacy.setRequestHandler(ListRootsRequestSchema, async () => roots);
  return async (call) => textOf(await legacy.callTool(request(call)));
}

test("every answer reaches its own question, of clients and servers of both eras at the same time", async () => {
  await using stack = new AsyncDisposableStack();
  const started = await Promise.all(
    servers.map(async ({ id, protocol }) => {
      const server = stack.use(await startEchoHttpServer({ protocol, only: protocol !== undefined }));
      return onHttp(id, server.url, { interactive: true });
    }),
  );
  const names = Array.from({ length: counts.clients }, (_, client) => `client-${client}`);
  const gateway = stack.use(
    await startTestGateway(
      { tool_servers: started },
      { clients: names, upstreamLimits: { maxClientSessions: 512 } },
    ),
  );
  let answered = 0;
  await Promise.all(
    names.map(async (_, client) => {
      const ask = await connect(gateway, client);
      const waiting = callsOf(client);
      const work = async () => {
        for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
          const text = await ask(call);
          const expected = call.kind === "roots" ? `file:///client-${client}"` : `the answer to: `;
          assert.ok(text.includes(expected), `${JSON.stringify(call)}: ${text}`);
          if (call.kind !== "roots")
            assert.ok(text.includes(call.question), `${JSON.stringify(call)}: ${text}`);
          answered += 1;
        }
      };
      await Promise.all(Array.from({ length: width }, work));
    }),
  );
  assert.equal(answered, counts.clients * servers.length * counts.perServer);
});
