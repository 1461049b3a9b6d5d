/** Settings of the pages about operation: a gateway with the servers that they name, a systemd, a proxy with TLS. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createTestAuthority, startTlsServer, waitUntil } from "@toolcrib/testing";
import { echoServer, startServe } from "../transcript.ts";
import type { PageSetting, Place, Values } from "./page-settings.ts";

const root = join(import.meta.dirname, "../../../..");

/** Writes a configuration with servers that echo. */
export function writeEchoes(
  place: Place,
  ids: readonly string[],
  { serve, ...more }: { readonly serve?: object; readonly [section: string]: object | undefined } = {},
): void {
  const servers = ids.map((id) => ({ ...echoServer(id), trust_state: "verified" }));
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: servers,
    serve: { listen: "127.0.0.1:0", ...serve },
    ...more,
  };
  writeFileSync(place.directory.join("toolcrib.yaml"), JSON.stringify(config, undefined, 2));
}

/** Serves the configuration of the page. @returns the address */
export async function serveHere(place: Place): Promise<string> {
  const { directory, env, resources } = place;
  const setting = { directory: directory.path, env };
  const { url } = resources.use(await startServe(["--listen", "127.0.0.1:0"], setting));
  await waitUntil(async () => (await fetch(`${url}/readyz`)).ok);
  return url;
}

/** Returns the id of the newest call. */
export async function newestCall(place: Place): Promise<string> {
  const { stdout } = await place.run("toolcrib audit list --json");
  const id = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(
    /"callId": "([^"]+)"/.exec(stdout)?.[1] ?? stdout,
  )?.[0];
  return id ?? assert.fail(stdout);
}

/** A gateway with the server "github", and a call of it. */
async function withGithub(place: Place) {
  writeEchoes(place, ["github"]);
  await serveHere(place);
  assert.equal((await place.run("toolcrib call github__echo -a text=hello")).code, 0);
}

/** The values of names in the pages about incidents. */
const githubValues = (place: Place): Values => ({ CALL_ID: () => newestCall(place), SERVER: "github" });

/** Programs that a systemd answers, below `bin/`. They do what `toolcrib service` asks for, and nothing else. */
function writeSystemd(place: Place): void {
  mkdirSync(place.directory.join("bin"), { recursive: true });
  const show =
    "LoadState=loaded\\nActiveState=active\\nSubState=running\\nUnitFileState=enabled\\nMainPID=1\\nNRestarts=0\\n";
  const programs = {
    systemctl: `case "$*" in *" show toolcrib.service "*) printf '${show}' ;; esac`,
    journalctl: 'echo "journal: $*"',
  };
  for (const [name, text] of Object.entries(programs)) {
    const options = { mode: 0o755 };
    writeFileSync(place.directory.join("bin", name), `#!/bin/sh\n${text}\n`, options);
  }
}

/** A proxy with TLS that does what the page asks of one, in front of the gateway of the page; curl finds it. */
async function withProxy(place: Place) {
  await place.run("toolcrib token create desk");
  const { port } = new URL(await serveHere(place));
  const authority = createTestAuthority();
  const proxy = await startTlsServer({
    certificate: authority.sign({ hosts: ["tools.example.com"] }),
    respond({ method, target, headers, body }, response) {
      const passed = request(
        { port, method, path: target, headers: headers.flat(), host: "127.0.0.1" },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      passed.end(body);
    },
  });
  place.resources.use(proxy);
  writeFileSync(place.directory.join("authority.pem"), authority.certificate);
  writeFileSync(
    place.directory.join(".curlrc"),
    `connect-to = "tools.example.com:443:127.0.0.1:${proxy.port}"\ncacert = "${place.directory.join("authority.pem")}"\n`,
  );
}

export const operationsSettings: { readonly [page: string]: PageSetting } = {
  "operations/incidents.md": {
    isEmpty: true,
    prepare: async (place) => {
      await place.run("toolcrib token create ci");
      await withGithub(place);
    },
    values: githubValues,
  },
  "operations/logs.md": { isEmpty: true, prepare: withGithub, values: githubValues },
  "operations/metrics.md": {
    isEmpty: true,
    prepare: ({ directory }) => void mkdirSync(directory.join("etc")),
    values: ({ directory }) => ({ "/etc/prometheus": directory.join("etc") }),
  },
  "troubleshooting.md": { isEmpty: true, prepare: withGithub, values: githubValues },
  "operations/systemd.md": {
    isEmpty: true,
    prepare: (place) => {
      writeEchoes(place, ["github"]);
      writeSystemd(place);
    },
  },
  "operations/upgrade.md": { isEmpty: true, prepare: (place) => writeEchoes(place, ["github"]) },
  "operations/sizing.md": {
    isEmpty: true,
    values: () => ({ "bench/sizing.ts": `'${join(root, "bench/sizing.ts")}' --calls 50` }),
  },
  "operations/deployment.md": {
    before: { "curl -sS https://tools.example.com/healthz": withProxy },
    values: ({ directory }) => ({
      $TOKEN: () => readFileSync(directory.join(".toolcrib/tokens/desk"), "utf8").trim(),
    }),
  },
};
