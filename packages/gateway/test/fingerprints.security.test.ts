/** Fingerprints in the records of a gateway: they connect calls, and no value is in the home. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { openFingerprints } from "@toolcrib/store";
import {
  callsIn,
  dataOf,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  toolNamed,
} from "./gateway-harness.ts";

/** A value that the preview of arguments hides, so that nothing in the home may contain it. */
const value = "customer-4711-0815";
const secretName = "s3cret-s3cret-s3cret";

async function records(audit: JsonObject) {
  await using server = await startScriptedServer({
    tools: () => [toolNamed("find"), toolNamed("send")],
    call: (_request, name) =>
      name === "find"
        ? { content: [{ type: "text", text: JSON.stringify({ id: value }) }] }
        : { content: [] },
  });
  const redact = [{ tool: "s:send", arguments: ["to"] }];
  const transport = {
    kind: "streamable_http",
    url: server.url,
    headers: { "X-Api-Key": { secret_key_ref: "name" } },
  };
  await using test = await startTestGateway(
    { tool_servers: [{ ...onHttp("s", server.url), transport }], audit: { ...audit, redact } },
    { secrets: { name: secretName } },
  );
  await test.gateway.call(somebody, "s__find", { query: "who is it?" });
  await test.gateway.call(somebody, "s__send", { to: value, [secretName]: "any text", n: 1 });
  await test.stop();
  const home = readdirSync(test.home, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("secrets"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
  const fingerprint = (await openFingerprints(test.home))?.of(value);
  return {
    intents: dataOf(test.audit(), "call.intent"),
    ends: dataOf(test.audit(), "call.completed"),
    home,
    fingerprint,
  };
}

test("a value that goes from a result into arguments has the same fingerprint, and is not stored", async () => {
  const { intents, ends, home, fingerprint } = await records({});
  assert.match(fingerprint ?? "", /^[0-9a-f]{16}$/);
  assert.deepEqual(ends[0]?.fingerprints, { "/content/0/text#/id": fingerprint });
  assert.equal(intents[1]?.fingerprints?.["/to"], fingerprint);
  assert.deepEqual(Object.keys(intents[1]?.fingerprints ?? {}).sort(), ["/[secret s]", "/to"]);
  assert.equal(ends[1]?.fingerprints, undefined);
  assert.equal(home.includes(value), false);
  assert.equal(home.includes(secretName), false);
});

test("audit.fingerprints: false leaves them out", async () => {
  const { intents, ends, home, fingerprint } = await records({ fingerprints: false });
  assert.equal(fingerprint, undefined);
  for (const { fingerprints } of [...intents, ...ends]) assert.equal(fingerprints, undefined);
  assert.equal(home.includes(value), false);
});

test("a server cannot prevent the record of a completion, and a client no record of its call, with names of values", async () => {
  const named = Object.fromEntries(
    Array.from({ length: 64 }, (_, at) => [`${at}${"\u200b".repeat(196)}`, `value ${at}`]),
  );
  await using server = await startScriptedServer({
    tools: () => [toolNamed("find")],
    call: () => ({ content: [], structuredContent: named }),
  });
  await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
  assert.equal((await test.gateway.call(somebody, "s__find", {})).kind, "result");
  assert.equal((await test.gateway.call(somebody, "s__find", named)).kind, "result");
  await test.stop();
  assert.deepEqual(callsIn(test.audit()), ["s:find intent, completed ok", "s:find intent, completed ok"]);
});
