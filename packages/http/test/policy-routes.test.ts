/** The route of the policy in force: the question about a call is whole, or refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { operatorRoutes } from "@toolcrib/http";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { ask, startControl } from "./http-harness.ts";

type RouteDeps = Parameters<typeof operatorRoutes>[0];

const whole = "?target=s:read&issuer=toolcrib:token&subject=ci";
const ci = { issuer: "toolcrib:token", subject: "ci", roles: [] };
const answered: readonly [query: string, asked: object | undefined][] = [
  ["", undefined],
  ["?other=1", undefined],
  [whole, { target: "s:read", identity: { ...ci, name: "ci" } }],
  [`${whole}&name=builder`, { target: "s:read", identity: { ...ci, name: "builder" } }],
];
const refused: readonly [query: string, missing: string][] = [
  ["?target=s:read", "issuer and no subject"],
  ["?target=s:read&subject=ci", "issuer"],
  ["?target=s:read&issuer=toolcrib:token&name=ci", "subject"],
  ["?issuer=toolcrib:token&subject=ci", "target"],
  ["?name=ci", "target and no issuer and no subject"],
];

test("a question whether a limit refuses a call names target, issuer and subject, or is refused", async () => {
  const asked: unknown[] = [];
  const policySituation: RouteDeps["policySituation"] = (question) => {
    asked.push(question);
    return { targets: [] };
  };
  const notAsked: unknown = {};
  const others = notAsked as Omit<RouteDeps, "policySituation">;
  await using directory = await makeTemporaryDirectory();
  await using control = await startControl(directory.path, {
    routes: operatorRoutes({ ...others, policySituation }),
  });
  const get = (query: string) => ask(control, { path: `/api/v1/policy/targets${query}` });
  for (const [query, question] of answered) {
    assert.equal((await get(query)).status, 200, query);
    assert.deepEqual(asked.splice(0), [question], query);
  }
  for (const [query, missing] of refused) {
    const { status, code, text } = await get(query);
    assert.deepEqual([status, code], [400, "HTTP_QUERY_INVALID"], query);
    assert.ok(text.includes(`The question whether a limit refuses a call has no ${missing} (`), text);
  }
  assert.deepEqual(asked, []);
});
