/** The engine in a gateway: `toolcrib serve` with the toolspec of the cases, and a client over HTTP. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { benignNames, endpointCases } from "@toolcrib/testing";
import { runToolcrib, startServe } from "../../transcript.ts";
import { elsewhereHosts, type HostSetting, pairOf, toolsFor } from "./host-setting.ts";
import { type CallTool, callsOf, untilServed } from "./tool-calls.ts";

/** A running gateway, and calls through it. */
export interface GatewayEntry extends AsyncDisposable {
  readonly call: CallTool;
  /** The gateway's own address and port, as in `attempts`. */
  readonly place: string;
}

/** The section `egress` that routes requests to the service, and others as `endpointCases` specifies. */
function egressOf({ address, connectTo, caFile }: HostSetting): object {
  const elsewhere = Object.fromEntries(elsewhereHosts.map((host, index) => [host, endpointCases[index]]));
  return {
    internal_ranges: [`${address}/32`],
    connect_to: { ...connectTo, ...elsewhere },
    ca_files: [caFile],
  };
}

/** Starts the gateway. */
export async function openGatewayEntry(setting: HostSetting): Promise<GatewayEntry> {
  const { directory } = setting;
  const { manifest, toolspec } = pairOf([
    ...toolsFor(
      "dns",
      setting.dnsCases.map(({ host }) => host),
    ),
    ...toolsFor("benign", benignNames),
    ...toolsFor("to", elsewhereHosts),
  ]);
  writePair(directory.join("gateway"), manifest, toolspec);
  const config = directory.join("gateway/toolcrib.json");
  const serve = { listen: "127.0.0.1:0", auth: "none" };
  const toolspecs = [{ path: "./hosts", id: "hosts" }];
  writeFileSync(config, JSON.stringify({ toolspecs, egress: egressOf(setting), serve }));
  const server = await startServe(["--config", config, "--home", directory.join("gateway/home")], {
    directory: directory.path,
    env: setting.watched("gateway"),
  });
  const client = new Client({ name: "hosts", version: "1" });
  const dispose = async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  };
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/s/hosts`)));
    const call = callsOf(client);
    await untilServed(call);
    return { call, place: `127.0.0.1 ${new URL(server.url).port}`, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Checks that configurations with each of `texts` as a variable of the base URL are refused at the position of the variable. */
export async function checkConfigurations(setting: HostSetting, texts: readonly string[]): Promise<void> {
  const { directory } = setting;
  const { manifest, toolspec } = pairOf([{ name: "root", baseUrl: "https://{host}" }], ["host"]);
  writePair(directory.join("variables"), manifest, toolspec);
  const config = directory.join("variables/toolcrib.json");
  const toolspecs = texts.map((host, index) => ({
    path: "./hosts",
    id: `case-${index}`,
    variables: { host },
  }));
  writeFileSync(config, JSON.stringify({ toolspecs }));
  const { stdout, code } = await runToolcrib(["--json", "config", "check", config], {
    directory: directory.path,
    env: setting.watched("variables"),
  });
  assert.notEqual(code, 0);
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly {
      readonly severity: string;
      readonly path?: string;
      readonly message: string;
    }[];
  };
  const refused = new Set(
    diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ path = "" }) => Number(/toolspecs\[(\d+)\]/.exec(path)?.[1])),
  );
  assert.deepEqual(
    texts.filter((_, index) => !refused.has(index)),
    [],
  );
  // A gateway does not start with any of these configurations.
  const served = await runToolcrib(
    ["serve", "--config", config, "--home", directory.join("variables/home")],
    {
      directory: directory.path,
      env: setting.watched("variables"),
    },
  );
  assert.notEqual(served.code, 0);
  assert.deepEqual(setting.attempts("variables"), []);
}

function writePair(folder: string, manifest: string, toolspec: string): void {
  mkdirSync(`${folder}/hosts`, { recursive: true });
  writeFileSync(`${folder}/hosts/0.1.0.yaml`, manifest);
  writeFileSync(`${folder}/hosts/0.1.0.toolspec.yaml`, toolspec);
}
