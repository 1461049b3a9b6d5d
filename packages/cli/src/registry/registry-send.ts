/**
 * Reads files of registries and bundles from web servers: over https through the egress, or the proxy
 * of the environment, and over plain http from this machine. The settings of `egress` in the
 * configuration apply: internal ranges, other addresses, and certificates. Never follows a redirect.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import { createEgress, parseAllowedHost } from "@toolcrib/egress";
import type { SendRegistryRequest } from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createProxiedSend, findHttpsProxy } from "../toolpack/proxied-send.ts";
import { readTrustedRoots } from "../toolpack/trusted-roots.ts";

/** Sends requests until it is disposed. */
export interface RegistrySender extends AsyncDisposable {
  readonly send: SendRegistryRequest;
}

/** Settings of the network of a configuration. */
type NetworkConfig = Pick<GatewayConfig["egress"], "internalRanges" | "connectTo" | "caCertificates">;

/** Opens a sender. Nothing is opened before the first request. */
export async function openRegistrySender(
  context: CliContext,
  config: NetworkConfig | undefined,
): Promise<RegistrySender> {
  const { named, all } = await readTrustedRoots(context);
  const proxy = findHttpsProxy(context.env);
  const proxied =
    proxy === undefined ? undefined : createProxiedSend(proxy, [...all, ...(config?.caCertificates ?? [])]);
  const egress = createEgress(
    {
      internalRanges: config?.internalRanges ?? [],
      connectTo: config?.connectTo ?? {},
      caCertificates: [...named, ...(config?.caCertificates ?? [])],
    },
    { directory: join(context.options.home, "egress"), now: context.now, randomBytes, onEvent() {} },
  );
  return {
    send(request) {
      const { protocol, host } = new URL(request.url);
      if (protocol === "http:") return egress.sendToLoopback({ ...request, method: "GET" });
      const outgoing = { ...request, method: "GET", callId: "registry" };
      if (proxied !== undefined) return proxied(outgoing);
      const allowed = parseAllowedHost(host);
      if (typeof allowed === "string")
        throw new CliError("CLI_USAGE", `Cannot read from "${host}": ${allowed}`);
      return egress.fetch(outgoing, { id: `registry:${host}`, allow: [allowed], credentials: [] });
    },
    [Symbol.asyncDispose]: () => egress[Symbol.asyncDispose](),
  };
}
