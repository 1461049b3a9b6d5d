/**
 * Connects to a host: TCP to addresses that were judged, then TLS with the
 * host's name, whose certificate must hold for it. Nothing is looked up here;
 * Node is handed the addresses in place of a lookup, and tries them in turn.
 * The environment (`NODE_TLS_REJECT_UNAUTHORIZED`) has no say.
 */

import { X509Certificate } from "node:crypto";
import type { OnReadOpts, TcpNetConnectOpts } from "node:net";
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { isSameAddress } from "./address/address-rules.ts";
import type { DialPlan } from "./address/find-addresses.ts";
import type { Authority } from "./authority.ts";
import { EgressError } from "./egress-error.ts";

/** The certificates that are trusted. */
export interface TrustedRoots {
  /** All of them, as PEM. */
  readonly certificates: () => readonly string[];
  /** The same, for connections. Made when it is first asked for. */
  readonly context: () => SecureContext;
}

/** How to connect. */
export interface DialOptions {
  readonly roots: TrustedRoots;
  /** The protocols that are offered, the preferred one first. @default ["http/1.1"] */
  readonly protocols?: readonly string[];
  /** Of an earlier connection to the same host by the same source, to shorten the handshake. */
  readonly session?: Buffer;
  /** Takes what the connection reads, in memory of its own. Without it, the socket is read as a stream. */
  readonly onRead?: OnReadOpts | undefined;
  /** Ends the attempt: a deadline, or nobody waits any more. */
  readonly signal: AbortSignal;
}

/**
 * The default roots and `extra`.
 *
 * @param extra texts of one certificate or several.
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID` for a text without one, or with one that cannot be read.
 */
export function createTrustedRoots(extra: readonly string[]): TrustedRoots {
  const own = extra.flatMap(parseCertificates);
  const certificates = (): readonly string[] => [...getCACertificates("default"), ...own];
  let context: SecureContext | undefined;
  return {
    certificates,
    context() {
      // Without certificates of its own, those of Node, which it keeps ready.
      context ??= createSecureContext(own.length === 0 ? {} : { ca: [...certificates()] });
      return context;
    },
  };
}

const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** TLS itself passes over what it cannot read, and the host would not be trusted, without a reason. */
function parseCertificates(pem: string): readonly string[] {
  const certificates = pem.match(certificatePattern) ?? [];
  try {
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (cause) {
    throw new EgressError("EGRESS_SETTINGS_INVALID", "Cannot read a certificate that is to be trusted", {
      cause,
    });
  }
  if (certificates.length > 0) return certificates;
  const hint = "certificates are given in PEM, each between its BEGIN and END line";
  throw new EgressError("EGRESS_SETTINGS_INVALID", "Cannot find a certificate in what is to be trusted", {
    hint,
  });
}

/**
 * Connect to `authority` at the addresses of `plan`.
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
    secureContext: roots.context(),
    session,
    rejectUnauthorized: true,
    ...(onRead === undefined ? {} : { onread: onRead }),
  };
  const socket = connect(connection);
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
  // Stays for the life of the socket: one that breaks while it is idle must not be an uncaught error.
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
    hint: "a certificate authority of your own is trusted once it is among egress.ca_files",
  });
}

function codeOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const { code } = cause;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
