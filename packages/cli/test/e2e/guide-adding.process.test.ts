/** The guide about adding servers does what it shows, with a registry on loopback. */

import { after, describe } from "node:test";
import { NpmRegistry, notesServer } from "@toolcrib/testing";
import { skipWithoutNpxAndSandbox } from "../skip-without-sandbox.ts";
import { testGuides } from "./run-guide.ts";

const skip = await skipWithoutNpxAndSandbox();

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
if (skip) await registry[Symbol.asyncDispose]();
