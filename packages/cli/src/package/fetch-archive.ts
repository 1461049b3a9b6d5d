/**
 * Fetches the archives of packages: over https through the egress pipeline, which checks every
 * address, or through the proxy of the environment; over plain http from servers of this machine, where the
 * operator allows it. Follows redirects to https alone.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { FetchBytes } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type Downloads, openDownloads } from "../egress/open-downloads.ts";

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
  let opened: Promise<Downloads> | undefined;
  return {
    async fetchBytes(url, { signal, maxBytes }) {
      opened ??= loadConfigOrDefaults(context).then(({ config }) =>
        openDownloads(context, config.egress, "install"),
      );
      const send = sendOf(await opened, options);
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
      await found?.[Symbol.asyncDispose]();
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

function sendOf(downloads: Downloads, { allowsLoopback }: { readonly allowsLoopback: boolean }): Send {
  return async (url, signal, maxBytes) => {
    const headers = { "accept-encoding": "identity", "user-agent": "toolcrib" };
    const request = { url: url.href, headers, signal, maxBytes };
    if (url.protocol !== "http:") return downloads.fromHost(request);
    if (allowsLoopback) return downloads.fromLoopback(request);
    throw new CliError("CLI_USAGE", `Cannot fetch "${url.href}": it is a server of this machine`, {
      hint: "servers of this machine often trust every caller; if you mean this one, add --allow-loopback",
    });
  };
}

function failed(url: string, reason: string): CliError {
  return new CliError("CLI_FETCH_FAILED", `Cannot fetch "${url}": ${reason}`);
}
