/** Gateways that adopt the server of a package. Nothing reaches another machine. */

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import { Sandboxes } from "@toolcrib/sandbox";
import type { NpmRegistry } from "@toolcrib/testing";

const path = process.env["PATH"] ?? "";
const hasNpx = path.split(delimiter).some((folder) => existsSync(join(folder, "npx")));
const sandboxes = new Sandboxes({
  uid: process.getuid?.() ?? -1,
  gid: process.getgid?.() ?? -1,
  temporaryDirectory: tmpdir(),
  userHome: "/home/nobody-here",
});
const canContain = (await sandboxes.check()).some(({ isAvailable }) => isAvailable);

/** Why these tests cannot run here; false where they can. */
export const skipsAdopted: string | false = !hasNpx
  ? "npx is not installed"
  : canContain
    ? false
    : "no sandbox works here";

/** An entry of `tool_servers` that adopts the server. */
export function acmeServer(more: JsonObject = {}): JsonObject {
  return {
    id: "acme",
    trust_state: "verified",
    transport: { kind: "stdio", manifest: "./acme.yaml", args: ["--own"] },
    credentials: { token: { secret_key_ref: "acme-token" } },
    ...more,
  };
}

/** The environment of a gateway whose fetches use `registry`. */
export function registryEnvironment(registry: NpmRegistry): { readonly [name: string]: string } {
  return { PATH: path, npm_config_registry: registry.url, npm_config_fetch_retries: "0" };
}
