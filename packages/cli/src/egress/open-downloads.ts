/**
 * Sends the requests with which commands read files from web servers: over https through the egress, which checks
 * every address, or through the proxy of the environment; and over plain http to servers of this machine. The
 * settings of `egress` in the configuration apply. Never follows a redirect.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import { createEgress, type Egress, parseAllowedHost } from "@toolcrib/egress";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createProxiedSend, findHttpsProxy } from "../toolpack/proxied-send.ts";
import { readTrustedRoots } from "../toolpack/trusted-roots.ts";

type LoopbackRequest = Parameters<Egress["sendToLoopback"]>[0];

interface Response {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: Uint8Array;
  /** Bytes of the whole body, where more were sent than were allowed. */
  readonly totalBytes?: number;
}

/** Sends GET requests until it is disposed of. */
export interface Downloads extends AsyncDisposable {
  /** Sends a request to a server of this machine. */
  fromLoopback(request: Omit<LoopbackRequest, "method">): Promise<Response>;
  /** Sends a request over https. @throws {CliError} `CLI_USAGE` for a host that cannot be reached */
  fromHost(request: Omit<LoopbackRequest, "method">): Promise<Response>;
}

/** Opens the sender. Nothing is connected to before the first request. @param purpose names the sender to the egress */
export async function openDownloads(
  context: CliContext,
  { internalRanges, connectTo, caCertificates }: GatewayConfig["egress"],
  purpose: string,
): Promise<Downloads> {
  const { named, all } = await readTrustedRoots(context);
  const proxy = findHttpsProxy(context.env);
  const proxied = proxy === undefined ? undefined : createProxiedSend(proxy, [...all, ...caCertificates]);
  const egress = createEgress(
    { internalRanges, connectTo, caCertificates: [...named, ...caCertificates] },
    { directory: join(context.options.home, "egress"), now: context.now, randomBytes, onEvent() {} },
  );
  return {
    fromLoopback: (request) => egress.sendToLoopback({ ...request, method: "GET" }),
    async fromHost(request) {
      const outgoing = { ...request, method: "GET", callId: purpose };
      if (proxied !== undefined) return await proxied(outgoing);
      const { host } = new URL(request.url);
      const allowed = parseAllowedHost(host);
      if (typeof allowed === "string") {
        throw new CliError("CLI_USAGE", `Cannot read from "${host}": ${allowed}`);
      }
      return await egress.fetch(outgoing, { id: `${purpose}:${host}`, allow: [allowed], credentials: [] });
    },
    [Symbol.asyncDispose]: () => egress[Symbol.asyncDispose](),
  };
}
