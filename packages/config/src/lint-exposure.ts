/**
 * Detects `serve.auth: none` on an address that other machines can reach, and a resource of `serve.auth` whose host the
 * endpoint does not answer, also when the settings come from different files.
 */

import { isIP } from "node:net";
import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import { nodeAt, toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";
import { placeOf } from "./lint-ids.ts";
import { parseListen, serveDefaults } from "./serve-shape.ts";
import { isLoopbackHost } from "./server-url.ts";

interface Setting {
  readonly value: string;
  readonly source: Source;
  readonly span: Span;
}

/** Returns findings about the exposure of the endpoint that `layers` together configure. */
export function lintExposure(layers: readonly ConfigLayer[]): Diagnostic[] {
  const auth = lastOf(layers, "auth");
  const listen = lastOf(layers, "listen");
  if (auth?.value !== "none" || listen === undefined) return [];
  const host = parseListen(listen.value)?.host;
  if (host === undefined || isLoopbackHost(host)) return [];
  const elsewhere = listen.source === auth.source ? "" : ` (${placeOf(listen)})`;
  return [
    toDiagnostic(
      {
        code: "CONFIG_AUTH_EXPOSED",
        message: `serve.auth none is refused on ${quote(listen.value)}${elsewhere}: other machines can reach that address`,
        hint: "write auth: token, or listen on 127.0.0.1",
        span: auth.span,
        path: "serve.auth",
      },
      auth.source,
    ),
  ];
}

/** Warns where clients use a host (`serve.auth.resource`) whose requests the endpoint refuses. @param layers all of them */
export function lintResourceHost(layers: readonly ConfigLayer[]): Diagnostic[] {
  const auth = lastOf(layers, "auth");
  const given = layers.findLast(({ sections }) => sections.serve?.auth !== undefined)?.sections.serve?.auth;
  const resource = typeof given === "object" ? given.resource : undefined;
  if (auth === undefined || resource === undefined || !URL.canParse(resource)) return [];
  const { host, hostname } = new URL(resource);
  const listening = parseListen(lastOf(layers, "listen")?.value ?? serveDefaults.listen)?.host.toLowerCase();
  const allowed = layers.findLast(({ sections }) => sections.serve?.allowed_hosts !== undefined)?.sections
    .serve?.allowed_hosts;
  const isAllowed = allowed?.some((one) => [host, hostname].includes(one.toLowerCase())) === true;
  if (isAllowed || isLoopbackHost(hostname) || listening === hostname || isIP(hostname) !== 0) return [];
  return [
    toDiagnostic(
      {
        severity: "warning",
        code: "CONFIG_RESOURCE_HOST",
        message: `Requests to ${quote(hostname)} are refused, which serve.auth.resource names: it is not in serve.allowed_hosts`,
        hint: `write allowed_hosts: [${hostname}], unless a proxy replaces the Host header`,
        span: auth.span,
        path: "serve.auth",
      },
      auth.source,
    ),
  ];
}

function lastOf(layers: readonly ConfigLayer[], field: "auth" | "listen"): Setting | undefined {
  const layer = layers.findLast(({ sections }) => sections.serve?.[field] !== undefined);
  const given = layer?.sections.serve?.[field];
  const value = typeof given === "object" ? "oauth" : given;
  const node = nodeAt(layer?.tree, ["serve", field]);
  return layer === undefined || value === undefined || node === undefined
    ? undefined
    : { value, source: layer.source, span: node.span };
}
