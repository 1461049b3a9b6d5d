/**
 * Fetches the archives of packages: over https through the egress pipeline, which checks every
 * address, or through the proxy of the environment; over plain http from servers of this machine, where the
 * operator allows it. Follows redirects to https alone.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { createEgress, type Egress, parseAllowedHost } from "@toolcrib/egress";
import type { FetchBytes } from "@toolcrib/mcpkg-install";
import type { SendRequest } from "@toolcrib/toolpack";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createProxiedSend, findHttpsProxy } from "../toolpack/proxied-send.ts";
import { readTrustedRoots } from "../toolpack/trusted-roots.ts";

/** Greatest number of redirects: archives are often stored at another host than their page. */
const redirectsMaxCount = 5;
/** Time limit of one download with its redirects, in milliseconds. */
const fetchTimeoutMs = 120_000;

/** Fetches archives until it is disposed. */
export interface ArchiveFetcher extends AsyncDisposable {
  readonly fetchBytes: FetchBytes;
}

interface Response {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: Uint8Array;
  readonly totalBytes?: number;
}

type Send = (url: URL, signal: AbortSignal, maxBytes: number) => Promise<Response>;

/** Opens the fetcher. Nothing is connected to before the first request. */
export function openArchiveFetcher(
  context: CliContext,
  options: { readonly allowsLoopback: boolean },
): ArchiveFetcher {
  let opened: Promise<{ readonly egress: Egress; readonly send: Send }> | undefined;
  return {
    async fetchBytes(url, { signal, maxBytes }) {
      opened ??= openSend(context, options);
      const { send } = await opened;
      const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMs)]);
      try {
        return await follow(send, new URL(url), limited, maxBytes);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isCodedError(error)) throw error;
        throw failed(url, messageOf(error));
      }
    },
    async [Symbol.asyncDispose]() {
      const found = await opened?.catch(() => undefined);
      await found?.egress[Symbol.asyncDispose]();
    },
  };
}

async function follow(send: Send, first: URL, signal: AbortSignal, maxBytes: number): Promise<Uint8Array> {
  let url = first;
  for (let hop = 0; hop <= redirectsMaxCount; hop += 1) {
    const { status, headers, body, totalBytes = body.length } = await send(url, signal, maxBytes);
    const { location } = headers;
    if (status < 300 || status >= 400 || location === undefined) {
      if (status !== 200) throw failed(url.href, `the response is HTTP ${status}`);
      if (totalBytes > body.length) throw failed(url.href, `it has more than ${maxBytes} bytes`);
      return body;
    }
    const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
    // A page must not lead to servers of this machine, which often trust every caller.
    if (target?.protocol !== "https:" || target.username !== "" || target.password !== "") {
      throw failed(url.href, "it redirects to something else than an https URL");
    }
    url = target;
  }
  throw failed(first.href, `it has more than ${redirectsMaxCount} redirects`);
}

async function openSend(context: CliContext, { allowsLoopback }: { readonly allowsLoopback: boolean }) {
  const { env, options, now } = context;
  const settings = await egressSettingsOf(context);
  const { named, all } = await readTrustedRoots(context);
  const caCertificates = settings?.caCertificates ?? [];
  const proxy = findHttpsProxy(env);
  const proxied: SendRequest | undefined =
    proxy === undefined ? undefined : createProxiedSend(proxy, [...all, ...caCertificates]);
  const egress = createEgress(
    {
      internalRanges: settings?.internalRanges ?? [],
      connectTo: settings?.connectTo ?? {},
      caCertificates: [...named, ...caCertificates],
    },
    { directory: join(options.home, "egress"), now, randomBytes, onEvent() {} },
  );
  const send: Send = async (url, signal, maxBytes) => {
    const headers = { "accept-encoding": "identity", "user-agent": "toolcrib" };
    const request = { method: "GET", url: url.href, headers, signal, maxBytes, callId: "install" };
    if (url.protocol === "http:") {
      if (allowsLoopback) return egress.sendToLoopback(request);
      throw new CliError("CLI_USAGE", `Cannot fetch "${url.href}": it is a server of this machine`, {
        hint: "servers of this machine often trust every caller; if you mean this one, add --allow-loopback",
      });
    }
    if (proxied !== undefined) return proxied(request);
    const allowed = parseAllowedHost(url.host);
    if (typeof allowed === "string")
      throw new CliError("CLI_USAGE", `Cannot fetch from "${url.host}": ${allowed}`);
    return egress.fetch(request, { id: "install", allow: [allowed], credentials: [] });
  };
  return { egress, send };
}

/** The section `egress` of the configuration; undefined where there is no configuration. */
async function egressSettingsOf(context: CliContext): Promise<GatewayConfig["egress"] | undefined> {
  try {
    return (await loadCliConfig(context)).config.egress;
  } catch (error) {
    if (isCodedError(error) && error.code === "CLI_CONFIG_NOT_FOUND") return undefined;
    throw error;
  }
}

function failed(url: string, reason: string): CliError {
  return new CliError("CLI_FETCH_FAILED", `Cannot fetch "${url}": ${reason}`);
}
