/**
 * A connection of a bridge to the gateway of its home, which is started where none runs, with the token of the
 * client, which is sent to that gateway only (`isGatewayAt`). A token that was replaced in the home is read again when
 * the gateway refuses the one in use; one that was removed is not made again by a bridge that runs.
 */

import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createHttpClient, HttpTransport } from "@toolcrib/mcp";
import { isAcceptedBy } from "../access/accepted-by.ts";
import { acceptsControl } from "../access/control-probe.ts";
import { findProvenGateways, isProvenGateway, type RunningGateway } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { ensureToken, tokenOf } from "../connect/gateway-entry.ts";
import { reachableUrl } from "../serve/reachable-url.ts";
import { version } from "../version.ts";
import { findBridgeConfig } from "./bridge-config.ts";
import { ensureGateway } from "./ensure-gateway.ts";

/** Options of the command. */
export interface BridgeFlags {
  readonly profile?: string;
  readonly as?: string;
}

/** Milliseconds until a gateway accepts a new token: it looks for them every second. */
const tokenDelayMs = 1100;
/** Largest answer of the gateway in bytes. */
const messageMaxBytes = 64 * 1024 * 1024;

/** A connection that is not open yet. */
export interface GatewayLink extends AsyncDisposable {
  readonly transport: HttpTransport;
  /** Base URL of the gateway. */
  readonly base: string;
}

/** Bytes of unfinished answers past which only one of them is read. */
const readingMaxBytes = 8 * 1024 * 1024;

/** The bridge, as its connections see it. */
export interface LinkOwner {
  /** Reports what it did. */
  note(text: string): void;
  /** Returns when the client takes more messages; undefined while it does. */
  readonly whenTaken: () => Promise<void> | undefined;
  readonly signal: AbortSignal;
}

/** Returns a connection to the gateway that runs now. @throws {CliError} */
export async function createGatewayLink(
  context: CliContext,
  flags: BridgeFlags,
  { note, whenTaken, signal }: LinkOwner,
): Promise<GatewayLink> {
  const { gateway, isStarted } = await ensureGateway(context, findBridgeConfig);
  if (isStarted)
    note(`started the gateway at ${gateway.url} (process ${gateway.pid}); it stays when the client ends`);
  if (gateway.version !== version) note(`the gateway has version ${gateway.version}, this bridge ${version}`);
  const { profile, as: name = "bridge" } = flags;
  const base = reachableUrl(gateway.url);
  const url = profile === undefined ? `${base}/mcp` : `${base}/mcp/p/${encodeURIComponent(profile)}`;
  const credentials =
    gateway.auth === "none"
      ? undefined
      : tokenCredentials(context, name, await firstToken(context, name, signal));
  const client = createHttpClient({
    mayUse: (socket) => isGatewayAt(context, socket, gateway, base),
  });
  const transport = new HttpTransport(client, {
    url,
    ...(credentials === undefined ? {} : { credentials }),
    messageMaxBytes,
    reading: { maxBytes: readingMaxBytes, whenTaken },
  });
  return {
    transport,
    base,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await client.destroy();
    },
  };
}

/** Whether another gateway has to be connected than that at `base`: one runs at another address, or none does. */
export async function hasMoved(context: CliContext, base: string): Promise<boolean> {
  const [running] = await findProvenGateways(context.options.home);
  return running === undefined || reachableUrl(running.url) !== base;
}

/**
 * Whether the other end of a new connection is a gateway that may get the token: the one that was found, which can have
 * removed its run file because it ends, or one that has its address since. Another program can take the address as soon
 * as a gateway has ended, so that this is asked after connecting.
 */
async function isGatewayAt(
  { options }: CliContext,
  socket: Socket,
  found: RunningGateway,
  base: string,
): Promise<boolean> {
  const proven = await findProvenGateways(options.home);
  const isFound = ({ pid, processStart }: RunningGateway) =>
    pid === found.pid && processStart === found.processStart;
  const others = proven.filter((one) => reachableUrl(one.url) === base && !isFound(one));
  for (const gateway of [found, ...others]) {
    // Its process is asked for last: the one that has the connection is then the one that wrote the run file.
    if ((await isHolder(socket, gateway)) && (await isProvenGateway(gateway))) return true;
  }
  return false;
}

/** Whether a gateway has the other end of a connection. Where the system does not tell, it has to run still. */
async function isHolder(socket: Socket, { pid, controlPath }: RunningGateway): Promise<boolean> {
  const answer = await isAcceptedBy(socket, pid);
  if (answer !== "unknown") return answer === "yes";
  return controlPath === undefined || (await acceptsControl(controlPath));
}

/** Returns the token of a client, after creating it where it has none. */
async function firstToken(context: CliContext, name: string, signal: AbortSignal): Promise<string> {
  const known = tokenOf(context, name);
  if (known !== undefined) return known;
  if (await ensureToken(context, name)) await delay(tokenDelayMs, undefined, { signal });
  const token = tokenOf(context, name);
  if (token === undefined)
    throw new CliError("CLI_GATEWAY_UNUSABLE", `The token "${name}" cannot be read`, {});
  return token;
}

function tokenCredentials(context: CliContext, name: string, first: string) {
  let token = first;
  return Object.assign(() => ({ authorization: `Bearer ${token}` }), {
    async refused({
      status,
      headers,
    }: {
      readonly status: number;
      readonly headers: { readonly [name: string]: string };
    }) {
      const current = status === 401 ? tokenOf(context, name) : undefined;
      if (current === undefined || headers["authorization"] === `Bearer ${current}`) return false;
      token = current;
      return true;
    },
  });
}
