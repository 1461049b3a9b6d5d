/** Sources, credentials, requests and events of the egress. Types only. */

import type { Socket as DatagramSocket } from "node:dgram";
import type { Server } from "node:net";
import type { HostPattern } from "@toolcrib/hosts";
import type { StartTimer } from "@toolcrib/lifecycle";

/** A sender of requests: the engine of one toolspec pair, or one local process. Events name it. */
export interface EgressSource {
  /** For example `toolspec:github` or `process:build`. Sources with different ids never share connections. */
  readonly id: string;
  /** The allowed hosts. */
  readonly allow: readonly AllowedHost[];
  /** The allowed ports of hosts that list none. @default [443] */
  readonly ports?: readonly number[];
  readonly credentials: readonly EgressCredential[];
  /** Origins that settings of the operator name. They are passed on unread, by a proxy only. @default none */
  readonly origins?: readonly NamedOrigin[];
  /** Returns the URL of the HTTP proxy (`http://user:password@proxy:3128`) that leads to an origin. @default none */
  readonly via?: (origin: NamedOrigin) => string | undefined;
}

/** A pattern of hosts, with their ports. */
export interface AllowedHost extends HostPattern {
  /** @default `ports` of the source */
  readonly ports?: readonly number[];
  /**
   * `passthrough`: the proxy checks the name in the TLS handshake and reads nothing else. A host that several patterns
   * match is passed through only when all of them say so. @default the proxy terminates TLS and checks each request
   */
  readonly tls?: "passthrough";
}

/**
 * One origin that a setting of the operator names, such as the registry of a package manager: of any spelling and at
 * any address but those of the metadata of a cloud, over plain HTTP too.
 */
export interface NamedOrigin {
  readonly scheme: "http" | "https";
  /** As `hostname` of a URL, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A secret that a source may use without seeing it. */
export interface EgressCredential {
  /** Its id in the manifest. */
  readonly id: string;
  /** Where the placeholder is expected, and where the secret is inserted. */
  readonly place: CredentialPlace;
  /** Represents the secret in the requests of the source; see `createPlaceholder`. */
  readonly placeholder: string;
  /** The name of the secret for the audit, never its value. */
  readonly secretName: string;
  /** `basic`: a secret that contains ":" is encoded in base64 before it is inserted; any other secret is already encoded. */
  readonly encoding?: "basic";
  /** Reads the current secret. Throws a `CodedError` if there is none. */
  read(): Promise<string> | string;
}

/**
 * The place of a credential in a request. `format` contains `{token}` once. The
 * value of a header or query parameter is the format with the placeholder and
 * nothing else; a path starts with it.
 */
export type CredentialPlace =
  | { readonly kind: "header"; readonly name: string; readonly format: string }
  | { readonly kind: "query"; readonly name: string; readonly format: string }
  | { readonly kind: "pathPrefix"; readonly format: string };

/** Settings of the operator for all sources. */
export interface EgressSettings {
  /** Address ranges (CIDR) that are allowed although they are not public. @default none */
  readonly internalRanges?: readonly string[];
  /** Replaces the address of a host: `{"api.example.com": "10.1.2.3:8443"}`. The address is checked like any other, and the certificate must be valid for the host. @default none */
  readonly connectTo?: { readonly [host: string]: string };
  /** Certificates (PEM) that are trusted in addition to the default roots. @default none */
  readonly caCertificates?: readonly string[];
  /** Time limit for DNS, TCP connection and TLS handshake. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** Time limit between a request and the head of its response. @default 60000 */
  readonly headersTimeoutMs?: number;
  /** Time limit between two parts of a body. @default 60000 */
  readonly bodyTimeoutMs?: number;
  /** Time limit of one `fetch`. @default 300000 */
  readonly requestTimeoutMs?: number;
  /** Largest head of a response. @default 65536 */
  readonly headersMaxBytes?: number;
  /** Maximum number of bytes that are read of a body, after decompression. @default 67108864 */
  readonly bodyMaxBytes?: number;
  /** Maximum number of connections of one source to one host. @default 16 */
  readonly connectionsPerHost?: number;
  /** Maximum number of pairs of source and host with open connections; the least recently used pair is closed first. @default 256 */
  readonly maxPools?: number;
  /** Time until an idle connection is closed. @default 20000 */
  readonly idleTimeoutMs?: number;
}

/** The dependencies of the egress. */
export interface EgressDeps {
  /** The folder of the local certificate authority (`<home>/egress`). Nothing else uses it. */
  readonly directory: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  /** Limits the time for which a proxy holds back bytes that can begin a secret. @default `setTimeout` */
  readonly startTimer?: StartTimer;
  /** Resolves a host, once for each connection; connections that are opened at the same time share a lookup. @default `dns.lookup` of the operating system */
  readonly resolve?: ResolveHost;
  /** Receives every event before the request continues. Must not throw. */
  onEvent(event: EgressEvent): void;
}

/** Returns the addresses of a host. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** An event of a request, for the audit. Contains no secret and no placeholder. */
export type EgressEvent = EgressEventOrigin &
  (
    | {
        /** A secret is about to be sent to `host`. */
        readonly kind: "secret.used";
        readonly credential: string;
        readonly secretName: string;
      }
    | {
        /** A request was refused before any part of it was sent. */
        readonly kind: "egress.denied";
        /** A code of this package. */
        readonly code: string;
        readonly reason: string;
      }
    | {
        /** A placeholder was found outside its place. The request was refused. */
        readonly kind: "egress.alarm";
        /** The credential of the placeholder; `undefined` for a placeholder that no current source has. */
        readonly credential: string | undefined;
        /** The source that the placeholder was created for. */
        readonly owner: string | undefined;
        /** `url`, `method`, `header:<name>`, `body`. */
        readonly where: string;
      }
    | {
        /** A response contained a secret, which was replaced. */
        readonly kind: "secret.echoed";
        readonly credential: string;
        readonly secretName: string;
        /** `header:<name>` or `body`. */
        readonly where: string;
      }
  );

/** The request that an event is about. */
export interface EgressEventOrigin {
  /** The id of the source. */
  readonly source: string;
  /** The host of the request; an invalid host is escaped and shortened. */
  readonly host: string;
  readonly callId?: string;
}

/** A request for `Egress.fetch`. */
export interface EgressRequest {
  readonly method: string;
  /** `https://`, host, path and query, with placeholders for the credentials in them. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Maximum number of bytes of the body that are returned. @default 10485760 */
  readonly maxBytes?: number;
  /** The call that sends the request, for the audit. */
  readonly callId?: string;
}

/** A response with any status. Redirects are not followed. */
export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; several values of one name are joined by ", ", cookies by a line feed. Without the content encoding and length, which are no longer valid. */
  readonly headers: { readonly [name: string]: string };
  /** Decompressed, without secrets, at most `maxBytes` of it. */
  readonly body: Uint8Array;
  /** The length of the complete body, decompressed and without secrets, up to `bodyMaxBytes`. Differs from that of `body` if the body was truncated. */
  readonly totalBytes: number;
}

/** A request to a server of this machine. */
export interface LoopbackRequest {
  /** @default "POST" */
  readonly method?: string;
  /** `http://` with localhost, an address in 127.0.0.0/8, or [::1]. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** @default none */
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Maximum number of bytes of the body that are read; `totalBytes` of a longer one is larger. */
  readonly maxBytes: number;
}

/** Sends the requests of sources to the network. */
export interface Egress extends AsyncDisposable {
  /**
   * Sends `request` for `source`.
   *
   * @throws {EgressError} with any code of this package; the reason of `signal` if that aborts.
   */
  fetch(request: EgressRequest, source: EgressSource): Promise<EgressResponse>;
  /**
   * Sends a request to a server of this machine, over plain HTTP: only to an address that the operator wrote
   * into the configuration.
   *
   * @throws {EgressError} `EGRESS_AUTHORITY_INVALID` for another destination, `EGRESS_CONNECTION_LOST`; the reason of `signal`.
   */
  sendToLoopback(request: LoopbackRequest): Promise<EgressResponse>;
  /** Opens an HTTP proxy for one process, on a port of 127.0.0.1 of its own. */
  openProxy(source: EgressSource): Promise<EgressProxy>;
  /** Opens an HTTP proxy for one process in a network of its own, in which the process reaches it at `port` of 127.0.0.1. */
  openHandedProxy(source: EgressSource, port: number): Promise<HandedProxy>;
}

/** A proxy for one source. Disposing closes its connections. */
export interface EgressProxy extends AsyncDisposable {
  /** The value for `HTTPS_PROXY`. */
  readonly url: string;
  /** The file with the certificate of the local authority only, for `NODE_EXTRA_CA_CERTS`. */
  readonly caFile: string;
  /** The file with the default roots and the local authority, for `SSL_CERT_FILE`. */
  readonly caBundleFile: string;
}

/** A place in another network namespace at which a listener was opened. */
export interface ListenPlace {
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
}

/** A proxy that serves listeners of another network namespace. */
export interface HandedProxy extends EgressProxy {
  /** Places for programs that look up names themselves and ignore proxies, in addition to that of the proxy. */
  readonly places: readonly ListenPlace[];
  /** Serves `listener`, which was opened in that namespace at `place`. Disposing closes it. */
  takeListener(listener: Server | DatagramSocket, place: ListenPlace): void;
  /** Returns the number of bytes that the process got through the proxy so far. */
  receivedBytes(): number;
}
