/**
 * Reads an OpenAPI document and the documents that it references, from files or
 * over HTTPS through the egress pipeline, which reaches only the host of the
 * document. References must stay in the folder of the document or on its host, so
 * that a document cannot copy other files or internal pages into a toolspec.
 */

import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { createEgress, type Egress } from "@toolcrib/egress";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { parseHostPattern } from "@toolcrib/hosts";
import type { ImportOptions } from "@toolcrib/openapi";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createProxiedSend, findHttpsProxy } from "../toolpack/proxied-send.ts";
import { readTrustedRoots } from "../toolpack/trusted-roots.ts";

/** Largest document, in bytes. */
const documentMaxBytes = 48 * 1024 * 1024;
/** Maximum number of redirects, all on one host. */
const redirectsMaxCount = 5;
/** Time limit of one download, in milliseconds. */
const fetchTimeoutMs = 60_000;

/** A document, and a reader of the documents that it references. */
export interface DocumentReader extends AsyncDisposable {
  readonly source: { readonly name: string; readonly text: string };
  readonly readReference: NonNullable<ImportOptions["readReference"]>;
}

/**
 * Opens the document at `place`, a path or an https URL.
 *
 * @throws {CliError} `CLI_USAGE`, `CLI_FILE_UNUSABLE`, `CLI_FETCH_FAILED`
 * @throws {EgressError} for a host that cannot be reached
 */
export function openDocumentReader(context: CliContext, place: string): Promise<DocumentReader> {
  if (/^https:\/\//i.test(place)) return openUrl(context, place);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) {
    throw new CliError("CLI_USAGE", `Cannot read "${place}": only https URLs are fetched`, {
      hint: "use a file, or a URL that starts with https://",
    });
  }
  return openFile(context, place);
}

async function openFile(context: CliContext, place: string): Promise<DocumentReader> {
  const folder = dirname(resolve(context.directory, place));
  return {
    source: { name: place, text: await readFile(resolve(context.directory, place), place) },
    async readReference(reference, from) {
      if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(reference))
        throw refused("it is a URL, and this document is a file");
      const shown = join(dirname(from), decodePath(reference));
      const full = resolve(context.directory, shown);
      if (!isInside(folder, full) || !isInside(await realPathOf(folder), await realPathOf(full)))
        throw refused("it is outside the folder of the document");
      return { name: shown, text: await readFile(full, shown) };
    },
    async [Symbol.asyncDispose]() {},
  };
}

function isInside(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== ".." && !path.startsWith(`..${sep}`) && resolve(folder, path) === file;
}

/** Resolves links. Returns the path itself if it does not exist; reading it then fails. */
function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function decodePath(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    // An invalid escape sequence is literal text.
    return reference;
  }
}

function refused(reason: string): CliError {
  return new CliError("CLI_IMPORT_FAILED", `it is not read because ${reason}`);
}

async function readFile(full: string, shown: string): Promise<string> {
  try {
    const { bytes } = await readRegularFile(full, documentMaxBytes);
    return decode(bytes);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const state = isMissing ? "it does not exist" : reasonOf(error);
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${shown}": ${state}`);
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** Fetches a URL of the document's host. `name` is the URL after redirects. */
type FetchText = (url: string) => Promise<{ readonly name: string; readonly text: string }>;

async function openUrl(context: CliContext, place: string): Promise<DocumentReader> {
  const url = URL.canParse(place) ? new URL(place) : undefined;
  const pattern = url === undefined || url.port !== "" ? undefined : parseHostPattern(url.hostname);
  if (url === undefined || pattern?.kind !== "valid" || url.username !== "" || url.password !== "") {
    throw new CliError(
      "CLI_USAGE",
      `Cannot fetch "${place}": the URL must be https:// with a host name, without port and user`,
      {
        hint: "download the document and use the file",
      },
    );
  }
  const { named, all } = await readTrustedRoots(context);
  const proxy = findHttpsProxy(context.env);
  const egress = createImportEgress(context, named);
  const source = { id: "import:openapi", allow: [pattern.value], credentials: [] };
  const proxied = proxy === undefined ? undefined : createProxiedSend(proxy, all);
  const send = (target: string, signal: AbortSignal) => {
    const headers = {
      Accept: "application/json, application/yaml, text/yaml, */*",
      "User-Agent": "toolcrib",
    };
    const request = {
      method: "GET",
      url: target,
      headers,
      signal,
      maxBytes: documentMaxBytes,
      callId: "import",
    };
    return proxied === undefined ? egress.fetch(request, source) : proxied(request);
  };
  const fetchText = createFetchText(url.host, send, context.signal);
  try {
    return {
      source: await fetchText(url.href.replace(/#.*$/s, "")),
      async readReference(reference, from) {
        const target = URL.canParse(reference, from) ? new URL(reference, from) : undefined;
        // A blob: URL has the origin of its inner URL.
        if (target?.protocol !== url.protocol || target.host !== url.host) {
          throw refused("it is on another host");
        }
        return fetchText(target.href);
      },
      [Symbol.asyncDispose]: () => egress[Symbol.asyncDispose](),
    };
  } catch (error) {
    await egress[Symbol.asyncDispose]();
    throw error;
  }
}

function createImportEgress(context: CliContext, caCertificates: readonly string[]): Egress {
  const { options } = context;
  return createEgress(
    { caCertificates },
    { directory: join(options.home, "egress"), now: context.now, randomBytes, onEvent() {} },
  );
}

type Send = (
  url: string,
  signal: AbortSignal,
) => Promise<{
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: Uint8Array;
  readonly totalBytes?: number;
}>;

function createFetchText(host: string, send: Send, stop: AbortSignal): FetchText {
  return async (given) => {
    let url = given;
    for (let hop = 0; hop <= redirectsMaxCount; hop += 1) {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(fetchTimeoutMs)]);
      const response = await send(url, signal).catch((error: unknown) => {
        if (isCodedError(error) || stop.aborted) throw error;
        throw new CliError("CLI_FETCH_FAILED", `Cannot fetch "${url}": ${messageOf(error)}`);
      });
      const { location } = response.headers;
      const isRedirect = response.status >= 300 && response.status < 400 && location !== undefined;
      if (!isRedirect) return { name: url, text: textOf(url, response) };
      const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
      if (target?.protocol !== "https:" || target.host !== host) {
        const message = `Cannot fetch "${url}": it redirects to another host`;
        const hint = target === undefined ? undefined : `use that URL: ${target.href.slice(0, 500)}`;
        throw new CliError("CLI_FETCH_FAILED", message, hint === undefined ? {} : { hint });
      }
      url = target.href;
    }
    throw new CliError(
      "CLI_FETCH_FAILED",
      `Cannot fetch "${given}": more than ${redirectsMaxCount} redirects`,
    );
  };
}

function textOf(url: string, { status, body, totalBytes = body.length }: Awaited<ReturnType<Send>>): string {
  const fail = (state: string) => new CliError("CLI_FETCH_FAILED", `Cannot fetch "${url}": ${state}`);
  if (status !== 200) throw fail(`the response is HTTP ${status}`);
  if (totalBytes > body.length) throw fail(`it has more than ${documentMaxBytes.toLocaleString("en")} bytes`);
  try {
    return decode(body);
  } catch {
    throw fail("it is not UTF-8 text");
  }
}
