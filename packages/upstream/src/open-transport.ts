/** Opens the transport to a server: resolves its secrets and launches its process, if it has one. */

import { abortable } from "@toolcrib/lifecycle";
import {
  type ClientTransport,
  type CredentialProvider,
  HttpTransport,
  SseTransport,
  StdioTransport,
  staticCredentials,
} from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import type { ClientSession } from "@toolcrib/tool";
import { UpstreamError } from "./upstream-error.ts";
import type { ResolvedTransport, UpstreamDeps, UpstreamSettings } from "./upstream-options.ts";

/** An open transport with the process and the settings that it uses. */
export interface OpenTransport {
  readonly transport: ClientTransport;
  readonly process: LaunchedProcess | undefined;
  /** The settings that it was opened with, secrets included. */
  readonly resolved: ResolvedTransport;
}

/**
 * Opens the transport of `settings`.
 *
 * @throws {UpstreamError} `UPSTREAM_UNAVAILABLE` when it takes longer than `timeoutMs`; also what
 *   `resolveTransport` and the launcher throw.
 */
export async function openTransport(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  options: {
    readonly timeoutMs: number;
    readonly messageMaxBytes: number;
    /** The client whose own session it is. */
    readonly owner: ClientSession | undefined;
    readonly signal: AbortSignal;
    /** Gets what to say of a server that prints text where messages belong, without secrets (stdio). */
    readonly onPrinted: (text: string) => void;
  },
): Promise<OpenTransport> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const text = `The server could not be launched within ${options.timeoutMs} ms`;
    late.abort(new UpstreamError("UPSTREAM_UNAVAILABLE", text, { data: { server: settings.id } }));
  }, options.timeoutMs);
  const signal = AbortSignal.any([options.signal, late.signal]);
  try {
    const { owner } = options;
    // What belongs to the gateway is never used for a client that has no identity.
    if (settings.isPerIdentity === true && owner !== undefined && owner.identity === undefined) {
      const text = `The server "${settings.id}" needs a client with an identity`;
      throw new UpstreamError("UPSTREAM_UNAVAILABLE", text, { data: { server: settings.id } });
    }
    const resolved = await abortable(settings.resolveTransport(owner?.identity), signal);
    return { ...(await connect(resolved, settings, deps, { ...options, signal })), resolved };
  } finally {
    clearTimeout(timer);
  }
}

async function connect(
  resolved: ResolvedTransport,
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  options: Pick<Parameters<typeof openTransport>[2], "messageMaxBytes" | "owner" | "signal" | "onPrinted">,
): Promise<Omit<OpenTransport, "resolved">> {
  const { messageMaxBytes, owner, signal } = options;
  switch (resolved.kind) {
    case "custom":
      return { transport: resolved.transport, process: undefined };
    case "streamable_http":
    case "sse": {
      const { kind, url, headers, network } = resolved;
      const Transport = kind === "sse" ? SseTransport : HttpTransport;
      const transport = new Transport(deps.httpClient, {
        url,
        credentials: withHeaders(headers, settings.credentialsFor?.(owner?.identity)),
        ...(network === undefined ? undefined : { network }),
        messageMaxBytes,
        now: deps.now,
        scrub: settings.scrub,
      });
      return { transport, process: undefined };
    }
    case "stdio": {
      const { command, args, env, cwd } = resolved;
      const { id: label, scrub, contain } = settings;
      const process = await deps.launcher.launch(
        { command, args, env, cwd, label, scrub, contain },
        { signal },
      );
      const onText = (text: string) => options.onPrinted(process.note(`${printedText}: ${text.trim()}`));
      const transport = new StdioTransport(process, {
        lineMaxBytes: messageMaxBytes,
        now: deps.now,
        onText,
        scrub,
      });
      return { transport, process };
    }
  }
}

/** The fault of a server that prints where only messages belong. */
const printedText = "it wrote something that is not JSON-RPC on its standard output";

/** Returns credentials with the headers of the transport, which those of `provider` replace. */
function withHeaders(
  headers: { readonly [name: string]: string },
  provider: CredentialProvider | undefined,
): CredentialProvider {
  const fixed = staticCredentials(headers);
  if (provider === undefined) return fixed;
  return Object.assign(
    async (request: Parameters<CredentialProvider>[0]) => ({
      ...(await fixed(request)),
      ...(await provider(request)),
    }),
    provider.refused === undefined ? {} : { refused: provider.refused },
  );
}
