/** Opens the transport to a server: resolves its secrets and launches its process, if it has one. */

import { abortable } from "@toolcrib/lifecycle";
import {
  type ClientTransport,
  HttpTransport,
  SseTransport,
  StdioTransport,
  staticCredentials,
} from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
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
  options: { readonly timeoutMs: number; readonly messageMaxBytes: number; readonly signal: AbortSignal },
): Promise<OpenTransport> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const text = `The server could not be launched within ${options.timeoutMs} ms`;
    late.abort(new UpstreamError("UPSTREAM_UNAVAILABLE", text, { data: { server: settings.id } }));
  }, options.timeoutMs);
  const signal = AbortSignal.any([options.signal, late.signal]);
  try {
    const resolved = await abortable(settings.resolveTransport(), signal);
    return { ...(await connect(resolved, settings, deps, { ...options, signal })), resolved };
  } finally {
    clearTimeout(timer);
  }
}

async function connect(
  resolved: ResolvedTransport,
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  { messageMaxBytes, signal }: { readonly messageMaxBytes: number; readonly signal: AbortSignal },
): Promise<Omit<OpenTransport, "resolved">> {
  switch (resolved.kind) {
    case "custom":
      return { transport: resolved.transport, process: undefined };
    case "streamable_http":
    case "sse": {
      const { kind, url, headers, network } = resolved;
      const Transport = kind === "sse" ? SseTransport : HttpTransport;
      const transport = new Transport(deps.httpClient, {
        url,
        credentials: staticCredentials(headers),
        ...(network === undefined ? undefined : { network }),
        messageMaxBytes,
        now: deps.now,
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
      const transport = new StdioTransport(process, { lineMaxBytes: messageMaxBytes, now: deps.now });
      return { transport, process };
    }
  }
}
