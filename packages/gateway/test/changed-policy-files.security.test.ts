/** Policy files that a changed configuration adds, replaces and removes: what decides, what is watched, and what is reported. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pauses } from "@toolcrib/admission";
import { makeTemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import {
  configIn,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  toolNamed,
} from "./gateway-harness.ts";

const permit = (id: string, tool: string) =>
  `@id("${id}") permit(principal, action, resource == Tool::"a:${tool}");\n`;

test("policy files decide from the change that adds them to the one that removes them, and not where it fails", async (t) => {
  await using server = await startScriptedServer({
    tools: () => [toolNamed("say"), toolNamed("hold")],
    call: () => ({ content: [{ type: "text", text: "said" }] }),
  });
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { "one.cedar": permit("one", "say"), "two.cedar": permit("two", "hold") });
  const serve = { listen: "127.0.0.1:0", auth: "none" };
  const document = (policy: { readonly deny?: string[]; readonly files?: string[] }) => ({
    tool_servers: [onHttp("a", server.url, { trust_state: "certified" })],
    policy,
    serve,
  });
  await using run = await startTestGateway(document({}));
  const { gateway, logger } = run;
  const apply = async (policy: { readonly deny?: string[]; readonly files?: string[] }) =>
    (await gateway.applyConfig(await configIn(directory.path, document(policy)), ["toolcrib.json"])).error;
  const allowed = () =>
    gateway
      .listTools(somebody)
      .map(({ id }) => id)
      .filter((id) => id.startsWith("a:"))
      .join();
  const texts = () => gateway.policySituation().policy.files.map(({ text }) => text);
  assert.equal(allowed(), "a:say,a:hold");

  const failing = t.mock.method(Pauses.prototype, "reconsider", () => {
    failing.mock.restore();
    throw new Error("injected failure of the first step");
  });
  assert.equal(await apply({ files: ["one.cedar"] }), "injected failure of the first step");
  assert.equal(allowed(), "a:say,a:hold");
  assert.equal(gateway.policySituation().digest, undefined);

  // A rule of the list that matches nothing, which is reported when it changes, and not when a policy file does.
  assert.equal(await apply({ deny: ["a:none"], files: ["one.cedar"] }), undefined);
  assert.equal(allowed(), "a:say");
  const first = gateway.policySituation().digest;
  assert.match(first ?? "", /^sha256:/);
  logger.records.length = 0;
  writeFiles(directory.path, { "one.cedar": permit("one", "hold") + permit("missing", "missing") });
  await waitUntil(() => allowed() === "a:hold");
  await waitUntil(() => logger.records.some(({ message }) => message === "policies were replaced"));
  assert.notEqual(gateway.policySituation().digest, first);
  assert.deepEqual(texts(), [permit("one", "hold") + permit("missing", "missing")]);
  const warned = logger.records.filter(({ message }) => message === "rule matches nothing known");
  assert.deepEqual(
    warned.map(({ fields }) => "rule" in fields && String(fields.rule).replace(/^.*[\\/]/, "")),
    ["one.cedar#missing"],
  );

  assert.equal(await apply({ files: ["two.cedar", "one.cedar"] }), undefined);
  assert.equal(texts().length, 2);
  assert.equal(await apply({}), undefined);
  assert.equal(allowed(), "a:say,a:hold");
  assert.deepEqual([gateway.policySituation().digest, texts()], [undefined, []]);
});

test("labels that a client has seen decide about its next call", async () => {
  await using server = await startScriptedServer({
    tools: () => [toolNamed("say"), toolNamed("hold")],
    call: () => ({ content: [{ type: "text", text: "said" }] }),
  });
  const text = `permit(principal, action, resource);
@id("seen") forbid(principal, action == Action::"call", resource == Tool::"a:hold") when { context.seen_labels.contains("internal") };`;
  await using run = await startTestGateway(
    {
      tool_servers: [onHttp("a", server.url, { data_labels: ["internal"] })],
      policy: { files: ["main.cedar"] },
    },
    { files: { "main.cedar": text } },
  );
  const kindOf = async (name: string) => (await run.gateway.call(somebody, name, {})).kind;
  assert.deepEqual([await kindOf("a:say"), await kindOf("a:hold")], ["result", "denied"]);
});
