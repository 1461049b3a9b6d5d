/** The connection of telemetry: compressed or not, and with certificates of the configuration. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { JsonObject } from "@toolcrib/json";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  type OtlpCollector,
  startOtlpCollector,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { somebody, startTestGateway } from "./gateway-harness.ts";

/** Calls a tool through a gateway that sends to `collector`, stops it, and returns its status before that. */
async function callOnce(
  { url }: Pick<OtlpCollector, "url">,
  otlp: JsonObject,
  { environment = {}, isSent = true }: { environment?: Record<string, string>; isSent?: boolean } = {},
) {
  const telemetry = { otlp: { endpoint: url, protocol: "http/json", ...otlp }, metrics: false };
  await using setting = await startTestGateway({ telemetry }, { environment });
  await setting.gateway.call(somebody, "toolcrib:search_tools", { query: "echo" });
  const traces = () => setting.gateway.status().telemetry?.signals.find(({ signal }) => signal === "traces");
  await waitUntil(() => (isSent ? (traces()?.sent ?? 0) > 0 : traces()?.reason !== undefined));
  return { status: traces(), log: JSON.stringify(setting.logger.records) };
}

test("what is sent is compressed where the configuration says so, and not by default", async () => {
  await using collector = await startOtlpCollector();
  await callOnce(collector, {});
  await callOnce(collector, { compression: "none" });
  await callOnce(collector, { compression: "gzip" });
  const sent = collector.requests.map(({ headers, body }) => {
    const encoding = headers["content-encoding"];
    const text = (encoding === "gzip" ? gunzipSync(body) : body).toString("utf8");
    return [encoding, JSON.stringify(JSON.parse(text)).includes("search_tools")];
  });
  assert.deepEqual(sent, [
    [undefined, true],
    [undefined, true],
    ["gzip", true],
  ]);
});

test("a private authority and a client certificate are used for the collector that declares them", async () => {
  const authority = createTestAuthority();
  const own = authority.sign({ hosts: ["client"] });
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { "ca.pem": authority.certificate });
  const ca_file = join(directory.path, "ca.pem");
  await using collector = await startOtlpCollector({
    ...authority.sign({ hosts: ["localhost"] }),
    clientAuthority: authority.certificate,
  });
  const environment = { TOOLCRIB_SECRET_CERTIFICATE: own.certificate, TOOLCRIB_SECRET_KEY: own.key };
  const certificates = {
    client_certificate: { secret_key_ref: "CERTIFICATE" },
    client_key: { secret_key_ref: "KEY" },
  };
  const { log } = await callOnce(collector, { ca_file, ...certificates }, { environment });
  assert.ok(!log.includes(own.key.split("\n")[1] ?? ""));
  const received = collector.requests.length;
  assert.ok(received > 0);
  for (const incomplete of [{ ca_file }, certificates]) {
    const { status } = await callOnce(collector, incomplete, { environment, isSent: false });
    assert.equal(status?.sent, 0);
  }
  const { status } = await callOnce(
    collector,
    { ca_file: "/none.pem", ...certificates },
    { environment, isSent: false },
  );
  assert.match(status?.reason ?? "", /telemetry\.otlp\.ca_file "\/none\.pem"/);
  assert.equal(collector.requests.length, received);
});
