/**
 * Detects `serve.auth: none` on an address that other machines can reach, also
 * when the two settings come from different files.
 */

import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import { nodeAt, toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";
import { placeOf } from "./lint-ids.ts";
import { parseListen } from "./serve-shape.ts";
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

function lastOf(layers: readonly ConfigLayer[], field: "auth" | "listen"): Setting | undefined {
  const layer = layers.findLast(({ sections }) => sections.serve?.[field] !== undefined);
  const given = layer?.sections.serve?.[field];
  const value = typeof given === "object" ? "oauth" : given;
  const node = nodeAt(layer?.tree, ["serve", field]);
  return layer === undefined || value === undefined || node === undefined
    ? undefined
    : { value, source: layer.source, span: node.span };
}
