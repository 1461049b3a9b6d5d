/**
 * Serves one packed npm package to containers: `npm-server.ts ARCHIVE MANIFEST ADDRESS PORT`. Prints its URL. It serves
 * nothing else, and ends with its standard input.
 */

import { readFileSync } from "node:fs";
import { NpmRegistry } from "@toolcrib/testing";

const [archive = "", manifest = "", address, port] = process.argv.slice(2);
const registry = new NpmRegistry();
registry.publishArchive(JSON.parse(readFileSync(manifest, "utf8")), readFileSync(archive));
await registry.listen(Number(port), address);
console.log(registry.url);
