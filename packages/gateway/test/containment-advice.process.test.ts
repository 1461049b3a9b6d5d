/** Failures of contained servers print the line of the configuration that allows what was refused. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { Sandboxes } from "@toolcrib/sandbox";
import { fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { somebody, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1];
const reports = await new Sandboxes({
  uid,
  gid,
  temporaryDirectory: "/tmp",
  userHome: "/home/nobody",
}).check();
const problems = reports.flatMap((report) => report.problems.map(({ reason }) => reason));
const skip = reports.some(({ isAvailable }) => isAvailable)
  ? false
  : `no sandbox works here: ${problems.join("; ")}`;

const serverOf = (id: string, args: readonly string[], more: JsonObject = {}): JsonObject => ({
  id,
  trust_state: "unverified",
  first_contact: "pin",
  mutability_class: "read_only",
  ...more,
  transport: {
    kind: "stdio",
    ...fixtureCommand(join(import.meta.dirname, "fixtures/refused-stdio.ts"), ...args),
  },
});

async function call({ gateway }: TestGateway, tool: string, text: string): Promise<string> {
  const outcome = await gateway.call(somebody, tool, { text });
  if (outcome.kind === "result") return textOf(outcome.result);
  return outcome.kind === "failed" ? outcome.error.message : outcome.reason;
}

describe("the advice about failures of contained servers", { skip }, () => {
  it("is the line that allows it, for files and hosts", async () => {
    await using directory = await makeTemporaryDirectory();
    const folder = directory.join("data");
    const scoped = { network_egress: "scoped", egress_allow: ["a.example"], state: true };
    const scopedWrite = { filesystem_write: "scoped", write_paths: [directory.join("out")] };
    const document = {
      tool_servers: [
        serverOf("plain", [folder]),
        serverOf("scoped", [], { containment: scoped }),
        // The package that an argument names is known to the catalog.
        serverOf("memory", ["-y", "@modelcontextprotocol/server-memory@2026.8.31"]),
        serverOf("free", [], { trust_state: "certified" }),
        serverOf("named", [], { containment: { read_paths: [directory.path], ...scopedWrite } }),
      ],
      policy: { waive_approval: ["*:*"] },
    };
    await using test = await startTestGateway(document, { files: { "data/a": "a" } });
    // A real refusal: the folder is shown, because an argument names it, and is not writable.
    const cases: readonly (readonly [tool: string, text: string, advice: RegExp | undefined])[] = [
      [
        "plain:write",
        "/usr/x",
        /stays closed\. .*: containment: \{ filesystem_write: scoped, write_paths: \["\/path\/to\/folder"\] \}, and in args or env, .* setting for its file or folder, with a place in \/path\/to\/folder$/,
      ],
      [
        "memory:result",
        "EROFS: read-only file system, open '/usr/lib/server-memory/memory.jsonl'",
        /write_paths: \["\/path\/to\/folder"\] \}, and in its transport: env: \{ MEMORY_FILE_PATH: \/path\/to\/folder\/memory\.jsonl \}$/,
      ],
      [
        "named:result",
        "EROFS: read-only file system, open '/usr/lib/x.jsonl'",
        /stays closed\. .* with a place in a folder of write_paths$/,
      ],
      [
        "plain:write",
        "/srv/data/b.txt",
        /read_paths: \["\/srv\/data\/b\.txt"\]|write_paths: \["\/srv\/data"\]/,
      ],
      [
        "plain:result",
        "EROFS: read-only file system, open '/srv/d/b.txt'",
        /containment: \{ filesystem_write: scoped, write_paths: \["\/srv\/d"\] \}$/,
      ],
      [
        "plain:result",
        `EROFS: read-only file system, open '${folder}/deep/b'`,
        /write_paths: \["[^"]+\/data"\] \}$/,
      ],
      [
        "plain:error",
        "getaddrinfo ENOTFOUND api.example.com",
        /containment: \{ network_egress: scoped, egress_allow: \[api\.example\.com\] \}$/,
      ],
      [
        "plain:plain",
        "Error: fetch failed for https://api.example.com/x",
        /egress_allow: \[api\.example\.com\] \}$/,
      ],
      [
        "scoped:result",
        "getaddrinfo EAI_AGAIN b.example",
        /containment: \{ network_egress: scoped, egress_allow: \[a\.example, b\.example\], state: true \}$/,
      ],
      ["scoped:result", "getaddrinfo EAI_AGAIN a.example", undefined],
      [
        "scoped:error",
        "a.example resolves to 198.18.0.1, which is not a public address",
        /stands for the host, .* adds the option that accepts them to its args, such as --allow-private-ips$/,
      ],
      // Without a scoped network, such an address stands for nothing.
      ["plain:error", "a.example resolves to 198.18.0.1, which is not a public address", undefined],
      [
        "named:result",
        "ENOENT: no such file or directory, open '/srv/d/b.txt'",
        /names\. If this file exists, .*"\/srv\/d\/b\.txt"/,
      ],
      // The sandbox shows the folder, so that the file does not exist.
      ["named:result", `ENOENT: no such file or directory, open '${directory.path}/none'`, undefined],
      ["named:result", `ENOENT: no such file or directory, open '${directory.join("out")}/none'`, undefined],
      // What is no failure, what needs nothing, and a server that runs uncontained.
      ["plain:plain", "The page says: EROFS: read-only file system, open '/srv/d/b.txt'", undefined],
      ["plain:result", "The number is too large", undefined],
      ["free:result", "EROFS: read-only file system, open '/srv/d/b.txt'", undefined],
    ];
    for (const [tool, text, advice] of cases) {
      const answer = await call(test, tool, text);
      if (advice === undefined) assert.doesNotMatch(answer, /is contained/, `${tool} ${text}`);
      else assert.match(answer, advice, `${tool} ${text}: ${answer}`);
    }
  });

  it("never names what no sandbox shows, whatever a server says", async () => {
    const document = { tool_servers: [serverOf("sly", [])], policy: { waive_approval: ["*:*"] } };
    await using directory = await makeTemporaryDirectory();
    const environment = { HOME: directory.path, PATH: process.env["PATH"] ?? "" };
    await using test = await startTestGateway(document, { environment });
    const paths = [
      `${directory.path}/.ssh/id`,
      `${test.home}/tokens/default`,
      directory.path,
      "/etc/shadow",
      "/a/../etc/x",
    ];
    for (const path of paths) {
      for (const text of [
        `EROFS: read-only file system, open '${path}'`,
        `ENOENT: no such file or directory, open '${path}'`,
      ]) {
        assert.doesNotMatch(
          await call(test, "sly:result", text),
          /_paths: (?!\["\/path\/to\/folder"\])/,
          text,
        );
      }
    }
    const root = await call(test, "sly:result", "EROFS: read-only file system, open '/x'");
    assert.doesNotMatch(root, /_paths: (?!\["\/path\/to\/folder"\])/);
    assert.match(
      await call(test, "sly:result", "getaddrinfo ENOTFOUND 10.0.0.1"),
      /egress_allow: \["HOST"\]/,
    );
    const outcome = await test.gateway.call(somebody, "sly:result", {
      text: "getaddrinfo ENOTFOUND a.example",
    });
    assert.ok(outcome.kind === "result");
    const { content } = outcome.result as unknown as { readonly content: readonly JsonObject[] };
    // Only the gateway marks a text like this.
    assert.deepEqual(content.at(-1)?.["_meta"], { "toolcrib/advice": "containment" });
  });

  it("is in the state of a server that ends at its start", async () => {
    const document = { tool_servers: [serverOf("starter", ["needed.example"])] };
    await using test = await startTestGateway(document, { isAwaited: false });
    const until = Date.now() + 60_000;
    for (;;) {
      const [server] = test.gateway.status().servers;
      const { reason = "" } = server?.health ?? {};
      if (reason !== "") {
        assert.match(reason, /ENOTFOUND|EAI_AGAIN/);
        assert.match(reason, /containment: \{ network_egress: scoped, egress_allow: \[needed\.example\] \}/);
        return;
      }
      assert.ok(Date.now() < until, "the server did not end");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});
