/**
 * Reads single files of a registry, from its folder or its web server, within a size and a time. It
 * trusts nothing that it reads; redirects are not followed.
 */

import { join } from "node:path";
import { CodedError, messageOf } from "@toolcrib/diagnostics";
import { readOptional } from "../folder/registry-folder.ts";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import type { RegistryPlace } from "./registry-place.ts";

/** A request for one file by GET. */
export interface RegistryRequest {
  /** https, or http to this machine. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Bytes of the body after which reading stops. */
  readonly maxBytes: number;
}

/** A response with any status. */
export interface RegistryResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** At most `maxBytes` of the body. */
  readonly body: Uint8Array;
  /** Larger than the length of `body` where the body is longer than `maxBytes`. */
  readonly totalBytes?: number;
}

/** Sends a request for a file of a registry. */
export type SendRegistryRequest = (request: RegistryRequest) => Promise<RegistryResponse>;

/** Options of `readRegistryFile`. */
export interface ReadFileOptions {
  /** Path in the registry. */
  readonly path: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The `ETag` of a copy. */
  readonly etag?: string | undefined;
}

/** A file that was read, or the news that a copy is current. */
export type RegistryFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly etag: string | undefined }
  | { readonly kind: "unchanged" };

/**
 * Reads a file.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_UNREACHABLE`, `MCPKG_REGISTRY_TIMED_OUT`, `MCPKG_REGISTRY_RESPONSE_INVALID`, `MCPKG_REGISTRY_TOO_LARGE`; the reason of `signal`
 */
export async function readRegistryFile(
  place: RegistryPlace,
  send: SendRegistryRequest,
  options: ReadFileOptions,
): Promise<RegistryFile> {
  options.signal.throwIfAborted();
  if (place.kind === "url")
    return await readUrl(new URL(options.path.replaceAll("+", "%2B"), place.url).href, send, options);
  const path = join(place.path, options.path);
  const bytes = await readOptional(path, options.maxBytes);
  if (bytes === undefined) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_UNREACHABLE",
      `Cannot read "${path}": there is no such file`,
    );
  }
  return { kind: "read", bytes: requireSize(path, bytes, bytes.length, options.maxBytes), etag: undefined };
}

async function readUrl(
  url: string,
  send: SendRegistryRequest,
  options: ReadFileOptions,
): Promise<RegistryFile> {
  const { maxBytes, timeoutMs, etag } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([options.signal, deadline]);
  const headers = {
    accept: "*/*",
    "accept-encoding": "identity",
    "user-agent": "toolcrib",
    ...(etag === undefined ? {} : { "if-none-match": etag }),
  };
  let response: RegistryResponse;
  try {
    response = await send({ url, headers, signal, maxBytes });
  } catch (cause) {
    options.signal.throwIfAborted();
    if (deadline.aborted) {
      const message = `Cannot read "${url}": the registry did not send it in ${timeoutMs} ms`;
      throw new McpkgRegistryError("MCPKG_REGISTRY_TIMED_OUT", message, { cause, hint: "try again later" });
    }
    const hint = cause instanceof CodedError ? cause.hint : undefined;
    throw new McpkgRegistryError("MCPKG_REGISTRY_UNREACHABLE", `Cannot read "${url}": ${messageOf(cause)}`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    });
  }
  const { status, body, totalBytes = body.length } = response;
  if (status === 304 && etag !== undefined) return { kind: "unchanged" };
  if (status !== 200) throw unexpectedStatus(url, response);
  return {
    kind: "read",
    bytes: requireSize(url, body, totalBytes, maxBytes),
    etag: usableEtag(response.headers["etag"]),
  };
}

function unexpectedStatus(url: string, { status, headers }: RegistryResponse): McpkgRegistryError {
  const isRedirect = status >= 300 && status < 400 && headers["location"] !== undefined;
  const hint = isRedirect
    ? `redirects are not followed; if you trust it, use: ${headers["location"]?.slice(0, 300)}`
    : status === 404
      ? "check the URL of the registry: index.json must be there, and all files that it names"
      : undefined;
  const code = status >= 500 ? "MCPKG_REGISTRY_UNREACHABLE" : "MCPKG_REGISTRY_RESPONSE_INVALID";
  return new McpkgRegistryError(code, `Cannot read "${url}": the response is HTTP ${status}`, {
    ...(hint === undefined ? {} : { hint }),
  });
}

function requireSize(name: string, bytes: Uint8Array, totalBytes: number, maxBytes: number): Uint8Array {
  if (totalBytes <= maxBytes && bytes.length <= maxBytes) return bytes;
  throw new McpkgRegistryError(
    "MCPKG_REGISTRY_TOO_LARGE",
    `Cannot read "${name}": it has more than ${maxBytes} bytes`,
  );
}

/** A header that can be sent back as it is. */
function usableEtag(etag: string | undefined): string | undefined {
  return etag !== undefined && /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/.test(etag) ? etag : undefined;
}
