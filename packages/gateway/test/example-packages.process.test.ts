/** The packages in examples/packages, called through a gateway. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";
import { type PackageContent, putPackages, startLoopbackServer } from "./package-harness.ts";

const examples = join(import.meta.dirname, "../../../examples/packages");

/** Reads a package of the examples. */
function example(folder: string): PackageContent {
  const files: { [path: string]: Buffer } = {};
  const root = join(examples, folder);
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (statSync(join(root, path)).isFile()) files[path] = readFileSync(join(root, path));
  }
  const { "manifest.json": manifest, ...rest } = files;
  return { manifest: JSON.parse(String(manifest)) as PackageContent["manifest"], files: rest };
}

const all = ["echo", "pdf-read-local", "text-clean", "embeddings-generate", "pdf-pipeline-embed"];
const pages = ["Quarterly   report\nSales (net) rose by 4 %", "Page two\nCosts fell"];

test("the implementations in JavaScript and Python read the same PDF", async () => {
  const check = async (implementation: string) => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    putPackages(home, all.map(example));
    const entry = { trust_state: "verified", implementation };
    await using gateway = await startTestGateway({ packages: { "tools.pdf.read_local": entry } }, { home });
    const client = await gateway.connect();
    const call = (path: string) => client.callTool({ name: "tools.pdf.read_local", arguments: { path } });
    assert.deepEqual((await call("samples/report.pdf"))["structuredContent"], {
      content: pages.join("\n"),
      pages,
    });
    const missing = await call("samples/none.pdf");
    assert.equal(missing.isError, true);
    assert.match(JSON.stringify(missing.content), /none\.pdf/);
    await gateway.stop();
    const ran = gateway.audit().flatMap((record) => (record.type === "package.ran" ? [record.data] : []));
    assert.deepEqual(
      ran.map((one) => one.implementation),
      [implementation, implementation],
    );
  };
  await check("node");
  await check("python");
});

test("the chain reads, cleans and embeds a PDF, and its steps are calls within its call", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, all.map(example));
  const verified = Object.fromEntries(
    ["tools.pdf.read_local", "tools.text.clean", "tools.embeddings.generate", "tools.pdf.pipeline.embed"].map(
      (toolId) => [toolId, { trust_state: "verified" }],
    ),
  );
  await using gateway = await startTestGateway({ packages: verified }, { home });
  const client = await gateway.connect();
  const call = async (args: JsonObject) => {
    const result = await client.callTool({ name: "tools.pdf.pipeline.embed", arguments: args });
    assert.equal(result.isError, undefined, JSON.stringify(result.content));
    return (result["structuredContent"] as { embeddings: number[] }).embeddings;
  };
  const short = await call({ pdfPath: "samples/report.pdf" });
  assert.equal(short.length, 16);
  assert.ok(Math.abs(Math.hypot(...short) - 1) < 0.001);
  assert.equal((await call({ pdfPath: "samples/report.pdf", embeddingModel: "hashed-words-64" })).length, 64);
  const failed = await client.callTool({
    name: "tools.pdf.pipeline.embed",
    arguments: { pdfPath: "samples/none.pdf" },
  });
  const [block] = failed.content as { text: string }[];
  assert.match(block?.text ?? "", /failed at step "read_pdf" \(tools\.pdf\.read_local\): .*none\.pdf/);
  assert.match(block?.text ?? "", /Steps that ran before it: none/);
  await gateway.stop();
  const intents = gateway.audit().flatMap((record) => (record.type === "call.intent" ? [record.data] : []));
  const [outer] = intents;
  assert.deepEqual(
    intents.slice(0, 4).map(({ tool, parentId }) => [tool, parentId === outer?.callId]),
    [
      ["tools.pdf.pipeline.embed:embed", false],
      ["tools.pdf.read_local:read_local", true],
      ["tools.text.clean:clean", true],
      ["tools.embeddings.generate:generate", true],
    ],
  );
});

test("the echo package calls a server of this machine that the configuration names", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startLoopbackServer();
  const home = join(directory.path, "home");
  putPackages(home, [example("echo")]);
  const endpoint = { url: `${server.url}/mcp/echo` };
  await using gateway = await startTestGateway(
    { packages: { "demo.echo": { endpoint, trust_state: "verified" } } },
    { home },
  );
  const client = await gateway.connectModern();
  const result = await client.callTool({ name: "demo.echo", arguments: { message: "hello" } });
  assert.deepEqual(result.structuredContent, { message: "hello" });
});

test("the composite exported as a package calls the file server", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const folder = join(directory.path, "files");
  writeFiles(folder, { "welcome.txt": "Welcome to Toolcrib, again." });
  putPackages(home, [{ ...example("longest-words"), approvedTools: ["filesystem:read_text_file"] }]);
  const transport = { kind: "stdio", command: "mcp-server-filesystem", args: [folder] };
  await using gateway = await startTestGateway(
    {
      tool_servers: [{ id: "filesystem", transport, trust_state: "certified" }],
      packages: { "acme.text.longest_words": { trust_state: "verified" } },
    },
    { home },
  );
  const client = await gateway.connect();
  const args = { path: join(folder, "welcome.txt"), count: "1" };
  const result = await client.callTool({ name: "acme.text.longest_words", arguments: args });
  assert.deepEqual(result.content, [{ type: "text", text: '["Toolcrib"]' }]);
});
