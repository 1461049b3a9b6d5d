/** Secrets per identity, in headers of servers and credentials of toolspecs: each client uses its own one, and no other. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { refFor } from "@toolcrib/secrets";
import { startProtectedServer, waitUntil } from "@toolcrib/testing";
import { type Identity, identityKey, localIdentity } from "@toolcrib/tool";
import { onHttp, setSecret, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";
import { startTestApi, startToolspecGateway } from "./toolspec-harness.ts";

const ofGateway = "s3cret-of-the-gateway";
const ofAda = "s3cret-of-ada";
const ofBob = "s3cret-of-bob";
const perIdentity = { secret_key_ref: { store: "notes", per: "identity" } };

/** The name in the store of the secret of `identity`. */
function nameFor(identity: Identity): string {
  const owner = { key: identityKey(identity), name: identity.name };
  const ref = refFor({ kind: "store", name: "notes", per: "identity" }, owner);
  return ref.kind === "store" ? ref.name : assert.fail();
}

const ada = localIdentity("token", "ada");
const bob = localIdentity("token", "bob");

function assertNowhere({ home, logger }: TestGateway): void {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
  const written = [...texts, JSON.stringify(logger.records)].join("\n");
  for (const secret of [ofGateway, ofAda, ofBob]) assert.equal(written.includes(secret), false);
}

test("a server gets the secret of the client of each call, on a session of its own", async () => {
  await using server = await startProtectedServer({
    check: (token) => ({ audience: undefined, scopes: ["read"], clientId: token.replace("s3cret-of-", "") }),
    authorizationServers: [],
  });
  const declared = onHttp("notes", server.url);
  const transport = {
    ...(declared["transport"] as object),
    headers: { Authorization: { prefix: "Bearer ", ...perIdentity } },
  };
  const secrets = { notes: ofGateway, [nameFor(ada)]: ofAda };
  await using gateway = await startTestGateway(
    { tool_servers: [{ ...declared, transport }] },
    { secrets, clients: ["ada", "bob"] },
  );
  const call = { name: "notes__whoami", arguments: {} };
  const first = await gateway.connect({ as: "ada" });
  const second = await gateway.connectModern({ as: "ada" });
  const other = await gateway.connect({ as: "bob" });
  for (const client of [first, second])
    assert.match(textOf(await client.callTool(call)), /for the client ada$/);
  // Another client has none: neither that of the gateway nor that of ada is used.
  const before = server.tokens.length;
  const refused = await other.callTool(call);
  assert.equal(refused.isError, true);
  assert.match(
    textOf(refused),
    /"bob" has no secret "notes" of its own[\s\S]*toolcrib secret set notes --identity bob/,
  );
  assert.equal(server.tokens.length, before);
  // A client of another issuer with the same name is another client.
  const cli = await gateway.gateway.call(localIdentity("cli", "ada"), "notes:whoami", {});
  assert.notEqual(cli.kind, "result");
  await setSecret(gateway.home, nameFor(bob), ofBob);
  await waitUntil(async () => textOf(await other.callTool(call)).endsWith("for the client bob"));
  assert.match(textOf(await first.callTool(call)), /for the client ada$/);
  await gateway.stop();
  assertNowhere(gateway);
});

test("a toolspec sends the secret of the client of each call, and lists its tools without one", async () => {
  await using api = await startTestApi();
  const toolspec = { name: "acme", credentials: { token: perIdentity } };
  await using gateway = await startToolspecGateway(api, [toolspec], {
    secrets: { [nameFor(ada)]: ofAda, notes: ofGateway },
    clients: ["ada", "bob"],
  });
  const call = { name: "acme__list_repos", arguments: { owner: "a" } };
  const first = await gateway.connect({ as: "ada" });
  const other = await gateway.connect({ as: "bob" });
  assert.equal((await first.callTool(call)).isError, undefined);
  const refused = await other.callTool(call);
  assert.match(
    textOf(refused),
    /"bob" has no secret "notes" of its own[\s\S]*toolcrib secret set notes --identity bob/,
  );
  await setSecret(gateway.home, nameFor(bob), ofBob);
  await waitUntil(async () => (await other.callTool(call)).isError !== true);
  // A changed one is used at once, and only by its client.
  await setSecret(gateway.home, nameFor(ada), `${ofAda}-2`);
  await waitUntil(async () => {
    await first.callTool(call);
    return api.headersNamed("authorization").at(-1) === `Bearer ${ofAda}-2`;
  });
  await other.callTool(call);
  assert.equal(api.headersNamed("authorization").at(-1), `Bearer ${ofBob}`);
  assert.equal(api.headersNamed("authorization").includes(`Bearer ${ofGateway}`), false);
  await gateway.stop();
  assertNowhere(gateway);
});
