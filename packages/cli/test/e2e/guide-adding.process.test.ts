/** The guide about adding servers does what it shows, with a registry on loopback. */

import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { after, describe } from "node:test";
import { makeTemporaryDirectory, NpmRegistry, notesServer } from "@toolcrib/testing";
import { runToolcrib } from "../transcript.ts";
import { testGuides } from "./run-guide.ts";

const hasNpx = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(`${folder}/npx`));
const checked = await (async () => {
  await using directory = await makeTemporaryDirectory();
  return await runToolcrib(["sandbox", "check"], { directory: directory.path });
})();
const skip = !hasNpx ? "npx is not installed" : checked.code === 0 ? false : "no sandbox works here";

const registry = await new NpmRegistry().listen();
const common = { name: "@acme/notes", bin: "server.js" };
const repository = "git+https://example.com/acme/notes.git";
const read = { name: "read", description: "Reads a note" };
const readOfNext = { ...read, description: "Reads a note, and its history" };
registry.publish(
  { ...common, version: "1.0.0", repository, maintainers: [{ name: "ada" }] },
  { "server.js": notesServer([read]) },
);
registry.publish(
  { ...common, version: "1.1.0", repository, maintainers: [{ name: "mallory" }] },
  { "server.js": notesServer([readOfNext, { name: "search", description: "Finds notes" }]) },
);

describe("with a registry", { skip }, () => {
  after(() => registry[Symbol.asyncDispose]());
  testGuides("adding", { env: { npm_config_registry: registry.url, npm_config_fetch_retries: "0" } });
});
if (skip !== false) await registry[Symbol.asyncDispose]();
