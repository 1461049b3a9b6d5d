/** What the egress is told and tells: sources, credentials, requests, events. Types only. */

import type { HostPattern } from "@toolcrib/hosts";

/** Who sends: the engine of one toolspec pair, or one local process. Events name it. */
export interface EgressSource {
  /** Such as `toolspec:github` or `process:build`. Connections are shared within one id only. */
  readonly id: string;
  /** The hosts that it may reach. */
  readonly allow: readonly HostPattern[];
  /** The ports that it may reach. @default [443] */
  readonly ports?: readonly number[];
  readonly credentials: readonly EgressCredential[];
}

/** A secret that a source may use without seeing it. */
export interface EgressCredential {
  /** Its id in the manifest. */
  readonly id: string;
  /** Where the placeholder is expected, and the secret put. */
  readonly place: CredentialPlace;
  /** What stands for the secret on the source's side: see `createPlaceholder`. */
  readonly placeholder: string;
  /** The name of the secret for the audit, never its value. */
  readonly secretName: string;
  /** `basic`: a secret that contains ":" is base64-encoded before it takes its place; any other is so already. */
  readonly encoding?: "basic";
  /** The secret as it is now. Throws a `CodedError` when there is none. */
  read(): Promise<string> | string;
}

/**
 * A place of a request that carries a credential. `format` contains `{token}`
 * once. A value of a header or of the query is the format with the placeholder
 * and nothing else; a path begins with it.
 */
export type CredentialPlace =
  | { readonly kind: "header"; readonly name: string; readonly format: string }
  | { readonly kind: "query"; readonly name: string; readonly format: string }
  | { readonly kind: "pathPrefix"; readonly format: string };

/** What the operator settles for all sources. */
export interface EgressSettings {
  /** Address ranges (CIDR) that may be dialled though they are no public ones. @default none */
  readonly internalRanges?: readonly string[];
  /** Where to connect for a host: `{"api.example.com": "10.1.2.3:8443"}`. The address is judged all the same, and the certificate must be the host's. @default none */
  readonly connectTo?: { readonly [host: string]: string };
  /** Certificates (PEM) that are trusted besides the default roots. @default none */
  readonly caCertificates?: readonly string[];
  /** Longest time to find the addresses of a host, connect and finish the TLS handshake. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** Longest time between a request and the head of its response. @default 60000 */
  readonly headersTimeoutMs?: number;
  /** Longest time between two parts of a body. @default 60000 */
  readonly bodyTimeoutMs?: number;
  /** Longest time of one `fetch`. @default 300000 */
  readonly requestTimeoutMs?: number;
  /** Largest head of a response. @default 65536 */
  readonly headersMaxBytes?: number;
  /** Where reading a body stops, counted decompressed. @default 67108864 */
  readonly bodyMaxBytes?: number;
  /** Most connections of one source to one host. @default 16 */
  readonly connectionsPerHost?: number;
  /** Most pairs of source and host with open connections; the one used longest ago is closed first. @default 256 */
  readonly maxPools?: number;
  /** How long an idle connection is kept. @default 20000 */
  readonly idleTimeoutMs?: number;
}

/** What the egress needs of the world. */
export interface EgressDeps {
  /** A folder of its own (`<home>/egress`): the local certificate authority of the proxy. */
  readonly directory: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  /** The addresses of a host, asked once for each connection. @default `dns.lookup` of the operating system */
  readonly resolve?: ResolveHost;
  /** Told of every secret used, every refusal and every alarm, before the request goes on. Must not throw. */
  onEvent(event: EgressEvent): void;
}

/** Find the addresses of a host. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** What was done with a request, for the audit. Holds no secret and no placeholder. */
export type EgressEvent = EgressEventOrigin &
  (
    | {
        /** A secret is about to be sent to `host`. */
        readonly kind: "secret.used";
        readonly credential: string;
        readonly secretName: string;
      }
    | {
        /** A request was refused before anything of it was sent. */
        readonly kind: "egress.denied";
        /** One of this package's codes. */
        readonly code: string;
        readonly reason: string;
      }
    | {
        /** A placeholder stood where it must not be. The request was refused. */
        readonly kind: "egress.alarm";
        /** The credential that it stands for; `undefined` for a placeholder that no source of now has. */
        readonly credential: string | undefined;
        /** The source that the placeholder was given to. */
        readonly owner: string | undefined;
        /** `url`, `method`, `header:<name>`, `body`. */
        readonly where: string;
      }
    | {
        /** A response contained a secret, which was taken out. */
        readonly kind: "secret.echoed";
        readonly credential: string;
        readonly secretName: string;
        /** `header:<name>` or `body`. */
        readonly where: string;
      }
  );

/** Whose request an event is about. */
export interface EgressEventOrigin {
  /** The id of the source. */
  readonly source: string;
  /** The host of the request; as it was written, escaped and cut, where it is no host. */
  readonly host: string;
  readonly callId?: string;
}

/** A request for `Egress.fetch`. */
export interface EgressRequest {
  readonly method: string;
  /** `https://`, host, path and query; with placeholders, where credentials go there. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
  /** Most bytes of the body that are kept. @default 10485760 */
  readonly maxBytes?: number;
  /** The call that the request is part of, for the audit. */
  readonly callId?: string;
}

/** A response, whatever its status. Redirects are not followed. */
export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; several values of one name are joined by ", ", cookies by a line feed. Without encoding and length, which no longer hold. */
  readonly headers: { readonly [name: string]: string };
  /** Decompressed, without secrets, at most `maxBytes` of it. */
  readonly body: Uint8Array;
  /** The length of the whole body, decompressed and without secrets, as far as it was read (`bodyMaxBytes`): that of `body`, unless it was cut. */
  readonly totalBytes: number;
}

/** The one way out. */
export interface Egress extends AsyncDisposable {
  /**
   * Send `request` for `source`.
   *
   * @throws {EgressError} with any code of this package; the reason of `signal`, when that was aborted.
   */
  fetch(request: EgressRequest, source: EgressSource): Promise<EgressResponse>;
  /** Listen for one process, on a port of 127.0.0.1 that is its own, as an HTTP proxy. */
  openProxy(source: EgressSource): Promise<EgressProxy>;
}

/** A proxy for one source. Disposing ends its connections. */
export interface EgressProxy extends AsyncDisposable {
  /** For `HTTPS_PROXY`. */
  readonly url: string;
  /** The certificate of the local authority alone, for `NODE_EXTRA_CA_CERTS`. */
  readonly caFile: string;
  /** The default roots and the local authority, for `SSL_CERT_FILE`. */
  readonly caBundleFile: string;
}
