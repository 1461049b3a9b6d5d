/** `toolcrib add` of a package, ended by a signal while the registry does not answer. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { makeTemporaryDirectory, NpmRegistry, notesServer } from "@toolcrib/testing";
import { skipWithoutNpxAndSandbox } from "./skip-without-sandbox.ts";
import { cleanEnvironment, commandLine } from "./transcript.ts";

const path = process.env["PATH"] ?? "";
const skip = await skipWithoutNpxAndSandbox();

/** A registry in front of another one that never answers a path which `isHeld`. */
async function startHolding(registry: NpmRegistry, isHeld: (path: string) => boolean) {
  const held = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (isHeld(decodeURIComponent(request.url ?? ""))) {
      held.resolve();
      return;
    }
    const answer = await fetch(new URL(request.url ?? "/", registry.url));
    const type = answer.headers.get("content-type") ?? "";
    const body = Buffer.from(await answer.arrayBuffer());
    const isJson = type.includes("json");
    response.writeHead(answer.status, isJson ? { "content-type": type } : {});
    response.end(isJson ? body.toString().replaceAll(registry.url, url) : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    held: held.promise,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("add that a signal ends while it asks the registry or fetches is interrupted, and leaves nothing", {
  skip,
}, async () => {
  await using registry = await new NpmRegistry().listen();
  const manifest = { name: "@acme/notes", version: "1.0.0", bin: { notes: "server.js" } };
  registry.publish(manifest, { "server.js": notesServer([{ name: "read", description: "Reads a note" }]) });
  for (const end of ["/@acme/notes", ".tgz"]) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      using holding = await startHolding(registry, (one) => one.endsWith(end));
      await using directory = await makeTemporaryDirectory();
      writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\n");
      const child = spawn(process.execPath, [...commandLine, "add", "npm:@acme/notes", "--yes"], {
        cwd: directory.path,
        env: { ...cleanEnvironment(directory.path), PATH: path, npm_config_registry: holding.url },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      const ended = once(child, "close");
      await Promise.race([holding.held, ended]);
      child.kill(signal);
      const [code] = await ended;
      const what = `${end} ${signal}: ${stderr}`;
      assert.match(stderr, new RegExp(`error CLI_INTERRUPTED: Interrupted by ${signal}`), what);
      assert.doesNotMatch(stderr, /PACKAGE_/, what);
      assert.equal(code, 130, what);
      const fetched = directory.join(".toolcrib/fetched");
      // The lock of the folder stays: lock files are not removed.
      const left = existsSync(fetched) ? readdirSync(fetched) : [];
      assert.deepEqual(
        left.filter((name) => name !== ".places.lock"),
        [],
        what,
      );
    }
  }
});
