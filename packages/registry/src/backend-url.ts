/**
 * Backend URLs of the registry document: `http(s)://` is streamable HTTP,
 * `sse://` and `sses://` legacy SSE over HTTP and HTTPS, `stdio://` the standard
 * streams of this process.
 */

import { RegistryError } from "./registry-error.ts";

/** A parsed backend URL. */
export type BackendAddress =
  | { readonly kind: "streamable_http" | "sse"; readonly url: string }
  | { readonly kind: "stdio" };

/** Parses `url`. @throws {RegistryError} `REGISTRY_INVALID_REQUEST` */
export function parseBackendUrl(url: string): BackendAddress {
  if (url === "stdio://") return { kind: "stdio" };
  if (url.startsWith("stdio:")) throw invalid(`"${url}" names a program, and a registry starts none`);
  const isSse = url.startsWith("sse://") || url.startsWith("sses://");
  const httpUrl = isSse ? url.replace(/^sse(s?):/, "http$1:") : url;
  if (!URL.canParse(httpUrl)) throw invalid(`"${url}" is not a URL`);
  const { protocol, username, password } = new URL(httpUrl);
  if (protocol !== "http:" && protocol !== "https:")
    throw invalid(`"${protocol}" is not a scheme of a backend URL`);
  if (username !== "" || password !== "") throw invalid("A backend URL must not contain user information");
  return { kind: isSse ? "sse" : "streamable_http", url: httpUrl };
}

function invalid(message: string): RegistryError {
  return new RegistryError("REGISTRY_INVALID_REQUEST", message, {
    hint: "allowed are http://, https://, sse://, sses:// and stdio://; credentials go into headers",
  });
}
