/** `toolcrib audit verify`, while a gateway writes and after it. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("audit verify finds nothing in a trail as it was written, and a changed record in one that was not", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = {
    tool_servers: [echoServer("echo", "--builtin", "echo")],
    serve: { listen: "127.0.0.1:0" },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["audit", "verify"], setting)).stdout, "No records.\n");
  {
    await using gateway = await startServe([], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    assert.equal((await runToolcrib(["call", "echo__echo", "--arg", "text=a"], setting)).code, 0);
    const { code, stdout } = await runToolcrib(["audit", "verify"], setting);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /The chain is intact: \d+ records/);
  }
  const { code, stdout } = await runToolcrib(["audit", "verify", "--json"], setting);
  const report = JSON.parse(stdout);
  assert.deepEqual([code, report.isIntact, report.findings], [0, true, []]);
  assert.equal(report.writers[0].provedSequence, report.writers[0].lastSequence);

  const folder = directory.join(".toolcrib/audit");
  const [name = ""] = readdirSync(folder);
  const path = `${folder}/${name}`;
  writeFileSync(path, readFileSync(path, "utf8").replace('"tool":"echo:echo"', '"tool":"echo:ekho"'));
  const changed = await runToolcrib(["audit", "verify"], setting);
  assert.equal(changed.code, 1);
  assert.match(
    changed.stdout,
    /FOUND 001-00000001\.jsonl:\d+: record \d+ does not follow the line before it/,
  );
});

test("audit verify --anchor compares the trail with the anchors of the gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { serve: { listen: "127.0.0.1:0" }, audit: { anchor: { file: "anchors.jsonl" } } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const verify = ["audit", "verify", "--anchor", "anchors.jsonl"];
  assert.match((await runToolcrib(verify, setting)).stderr, /Cannot read anchor file/);
  {
    await using _gateway = await startServe([], setting);
  }
  const { code, stdout } = await runToolcrib(verify, setting);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Anchors that match: 1 of 1/);
  const path = directory.join("anchors.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace(/"hash":"./, '"hash":"x'));
  const changed = await runToolcrib(verify, setting);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /FOUND .*anchors\.jsonl:1: record \d+ of writer 001 is not the one/);
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(doctor.stdout, /anchor: the signed ends of the trail are appended to .*anchors\.jsonl/);
});
