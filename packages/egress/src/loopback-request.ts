/**
 * Sends one request to a server of this machine, over plain HTTP. For addresses that the operator
 * wrote into the configuration, and for nothing that a request, a tool or a result names: a server
 * on loopback often trusts every caller.
 *
 * It performs no lookup: `localhost` is 127.0.0.1 or ::1. It follows no redirect, uses no proxy, and
 * keeps no connection.
 */

import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { EgressError } from "./egress-error.ts";
import type { EgressResponse, LoopbackRequest } from "./egress-types.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { request } = process.getBuiltinModule("node:http");

/**
 * Sends the request.
 *
 * @throws {EgressError} `EGRESS_AUTHORITY_INVALID` for another destination, `EGRESS_CONNECTION_LOST`; the reason of `signal`.
 */
export function sendToLoopback({
  method = "POST",
  url,
  headers,
  body,
  signal,
  maxBytes,
}: LoopbackRequest): Promise<EgressResponse> {
  signal.throwIfAborted();
  const { hostname, port, pathname, search, protocol } = new URL(url);
  const addresses = addressesOf(hostname);
  if (protocol !== "http:" || addresses.length === 0) {
    throw new EgressError(
      "EGRESS_AUTHORITY_INVALID",
      `"${hostname}" is not a plain HTTP server of this machine`,
    );
  }
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
  const sent = request(
    {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 80 : Number(port),
      path: `${pathname}${search}`,
      method,
      headers: body === undefined ? headers : { ...headers, "content-length": String(body.length) },
      agent: false,
      lookup: (_host, { all }, callback) => {
        const [first] = addresses;
        if (all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? "", first?.family);
      },
    },
    (response) => {
      const parts: Buffer[] = [];
      let totalBytes = 0;
      response.on("data", (part: Buffer) => {
        totalBytes += part.length;
        if (totalBytes <= maxBytes) parts.push(part);
        else response.destroy();
      });
      response.once("close", () => {
        if (!response.complete && totalBytes <= maxBytes) reject(lost(hostname));
        else {
          resolve({
            status: response.statusCode ?? 0,
            headers: keptHeaders(response.headers),
            body: Buffer.concat(parts),
            totalBytes,
          });
        }
      });
      response.on("error", (cause) => reject(lost(hostname, cause)));
    },
  );
  const abort = (): void => {
    reject(signal.reason);
    sent.destroy();
  };
  signal.addEventListener("abort", abort, { once: true });
  sent.on("error", (cause) => reject(lost(hostname, cause)));
  sent.end(body);
  return promise.finally(() => signal.removeEventListener("abort", abort));
}

/** Headers that say what the response is, and what to do next. */
const keptNames = ["content-type", "etag", "location", "retry-after"] as const;

function keptHeaders(headers: IncomingHttpHeaders): { readonly [name: string]: string } {
  return Object.fromEntries(
    keptNames.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

/** Returns the addresses of a name or address of this machine; none for another one. */
function addressesOf(hostname: string): readonly { readonly address: string; readonly family: 4 | 6 }[] {
  const name = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) {
    return [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
  }
  if (isIP(name) === 4 && name.startsWith("127.")) return [{ address: name, family: 4 }];
  return name === "::1" ? [{ address: name, family: 6 }] : [];
}

function lost(host: string, cause?: unknown): EgressError {
  return new EgressError("EGRESS_CONNECTION_LOST", `Cannot read from "${host}": the connection failed`, {
    cause,
  });
}
