/** `toolcrib labels`: what clients have received, and its removal by the operator. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

test("labels show and forget report what a client has received, and a call is refused until it is forgotten", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = (...args: string[]) => runToolcrib(args, { directory: directory.path });
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const server = (id: string, more = {}) => ({ id, transport, trust_state: "certified", ...more });
  writeFileSync(
    directory.join("main.cedar"),
    `permit(principal, action, resource);
     forbid(principal, action == Action::"call", resource in ToolServer::"mail") when { context.seen_labels.contains("personal") };`,
  );
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({
      tool_servers: [server("crm", { data_labels: ["personal"] }), server("mail")],
      policy: { files: ["main.cedar"] },
    }),
  );
  assert.match((await run("labels", "show")).stdout, /No client has received labelled data/);
  assert.equal((await run("call", "mail:echo", "--arg", "text=x")).code, 0);
  assert.equal((await run("call", "crm:echo", "--arg", "text=x")).code, 0);
  assert.equal((await run("call", "mail:echo", "--arg", "text=x")).code, 3);
  const [cli] = JSON.parse((await run("labels", "show", "--json")).stdout);
  assert.equal(cli.client.name, "cli");
  assert.deepEqual([cli.labels[0].label, cli.labels[0].tool], ["personal", "crm:echo"]);
  assert.match((await run("labels", "show", "cli")).stdout, /cli\s+cli\s+personal/);

  assert.equal((await run("labels", "forget", "nobody")).code, 4);
  assert.equal((await run("labels", "forget", "cli")).code, 0);
  assert.equal((await run("call", "mail:echo", "--arg", "text=x")).code, 0);
  const records = JSON.parse((await run("audit", "list", "--json")).stdout);
  const forgotten = records.find(({ type }: { type: string }) => type === "labels.forgotten");
  assert.deepEqual(forgotten.data.labels, ["personal"]);
  assert.equal((await run("audit", "verify")).code, 0);

  // The file had no place for a client.
  assert.equal((await run("why", "mail:echo")).code, 0);
  const file = directory.join(".toolcrib/seen-labels.json");
  writeFileSync(file, JSON.stringify({ format: 1, records: [{ leftOut: true }] }), { mode: 0o600 });
  assert.equal((await run("call", "mail:echo", "--arg", "text=x")).code, 3);
  assert.match((await run("why", "mail:echo")).stdout, /seen_labels is \["personal"\]/);
  assert.match((await run("labels", "show")).stdout, /no place for others/);
});
