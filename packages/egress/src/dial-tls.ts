/**
 * Connects to a host: TCP to addresses that were checked, then TLS with the name
 * of the host, verified against its certificate. Performs no lookup: Node gets
 * the addresses instead, and tries them in turn. Ignores the environment
 * (`NODE_TLS_REJECT_UNAUTHORIZED`).
 */

import { X509Certificate } from "node:crypto";
import type { OnReadOpts, TcpNetConnectOpts } from "node:net";
import type { ConnectionOptions, SecureContext, TLSSocket } from "node:tls";
import { isSameAddress } from "./address/address-rules.ts";
import type { DialPlan } from "./address/host-resolver.ts";
import type { Authority } from "./authority.ts";
import { EgressError } from "./egress-error.ts";

/** The default root certificates of Node, and those that the operator added. */
export class TrustedRoots {
  readonly #added: readonly string[];
  #context: SecureContext | undefined;

  /**
   * @param added texts in PEM, of one certificate or several.
   * @throws {EgressError} `EGRESS_SETTINGS_INVALID` for a text without a certificate, or with an invalid one.
   */
  constructor(added: readonly string[]) {
    this.#added = added.flatMap(parseCertificates);
  }

  /** The roots as a TLS context, created on first use. */
  get context(): SecureContext {
    // Without additional certificates, Node uses its default CA certificates, which it has already parsed.
    const { createSecureContext, getCACertificates } = loadTls();
    this.#context ??= createSecureContext(
      this.#added.length === 0 ? {} : { ca: [...getCACertificates("default"), ...this.#added] },
    );
    return this.#context;
  }
}

/** Returns Node's module of TLS, which takes 3 MB, so that it is loaded with the first connection. */
function loadTls(): typeof import("node:tls") {
  return process.getBuiltinModule("node:tls");
}

/** Options of a connection. */
export interface DialOptions {
  readonly roots: TrustedRoots;
  /** The offered protocols, the preferred one first. @default ["http/1.1"] */
  readonly protocols?: readonly string[];
  /** The session of an earlier connection of the same source to the same host, which shortens the handshake. */
  readonly session?: Buffer;
  /** Receives the data of the connection, in memory of its own. Without it, the socket is read as a stream. */
  readonly onRead?: OnReadOpts | undefined;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Validates certificates: TLS ignores invalid ones, and connections would fail without a reason. */
function parseCertificates(pem: string): readonly string[] {
  const certificates = pem.match(certificatePattern) ?? [];
  try {
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (cause) {
    throw new EgressError("EGRESS_SETTINGS_INVALID", "Cannot read a trusted certificate: it is not valid", {
      cause,
    });
  }
  if (certificates.length > 0) return certificates;
  const hint = "write certificates in PEM, each between its BEGIN and END line";
  throw new EgressError("EGRESS_SETTINGS_INVALID", "Cannot find a certificate in a trusted text", {
    hint,
  });
}

/**
 * Connects to `authority` at the addresses of `plan`.
 *
 * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_TLS_FAILED`; the reason of `signal`.
 */
export function dialTls(authority: Authority, plan: DialPlan, options: DialOptions): Promise<TLSSocket> {
  const { roots, protocols = ["http/1.1"], session, onRead, signal } = options;
  signal.throwIfAborted();
  const { host } = authority;
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  let hasConnected = false;
  const connection: ConnectionOptions & TcpNetConnectOpts = {
    host,
    port: plan.port,
    lookup: (_, __, callback) => callback(null, [...plan.addresses]),
    autoSelectFamily: true,
    servername: host,
    ALPNProtocols: [...protocols],
    secureContext: roots.context,
    session,
    rejectUnauthorized: true,
    ...(onRead === undefined ? {} : { onread: onRead }),
  };
  const socket = loadTls().connect(connection);
  const fail = (error: unknown): void => {
    socket.destroy();
    reject(error);
  };
  const abort = (): void => fail(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket.setNoDelay(true);
  socket.on("connect", () => {
    hasConnected = true;
  });
  // This listener stays for the life of the socket: an error while it is idle must not be uncaught.
  socket.on("error", (cause) => fail(hasConnected ? tlsFailed(host, cause) : unreachable(host, cause)));
  socket.on("close", () => reject(hasConnected ? tlsFailed(host) : unreachable(host)));
  socket.on("secureConnect", () => {
    const { remoteAddress = "" } = socket;
    if (plan.addresses.some(({ address }) => isSameAddress(address, remoteAddress))) resolve(socket);
    else fail(unreachable(host));
  });
  return promise.finally(() => {
    signal.removeEventListener("abort", abort);
  });
}

function unreachable(host: string, cause?: unknown): EgressError {
  return new EgressError(
    "EGRESS_UNREACHABLE",
    `Cannot connect to "${host}": no address accepts a connection`,
    {
      cause,
    },
  );
}

function tlsFailed(host: string, cause?: unknown): EgressError {
  const code = codeOf(cause);
  const detail = code === undefined ? "" : ` (${code})`;
  return new EgressError("EGRESS_TLS_FAILED", `Cannot trust "${host}": the TLS handshake failed${detail}`, {
    cause,
    hint: "check the name of the host and its certificate; for a certificate authority of your own, see egress.ca_files",
  });
}

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const { code } = cause;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
