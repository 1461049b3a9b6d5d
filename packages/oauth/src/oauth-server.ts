/** The settings and dependencies of OAuth for one upstream server. Types only. */

import type { SecretStore } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";
import type { OAuthNetwork } from "./oauth-fetch.ts";

/** Reads a secret at the time of its use. */
type ReadSecret = () => Promise<string>;

/** OAuth settings of one upstream server (`transport.auth`). */
export interface OAuthServer {
  /** The `tool_servers` id. */
  readonly id: string;
  /** The URL of the server. */
  readonly url: string;
  /** `authorization_code`: a person logs in. `client_credentials`: the gateway has access of its own. */
  readonly grant: "authorization_code" | "client_credentials";
  /** `identity`: each client of the gateway has a login of its own. */
  readonly per: "gateway" | "identity";
  /** Scopes to ask for. @default those that the server names */
  readonly scopes?: readonly string[] | undefined;
  /** The issuer of the authorization server. @default the one that the server names */
  readonly issuer?: string | undefined;
  /** Id of a client that was registered before. @default registered at the login */
  readonly clientId?: string | undefined;
  /** Its secret. */
  readonly clientSecret?: ReadSecret | undefined;
  /** Its private key (PEM, PKCS #8), for private_key_jwt. */
  readonly privateKey?: ReadSecret | undefined;
  /** HTTPS URL of a client id metadata document, used where the authorization server supports it. */
  readonly clientMetadataUrl?: string | undefined;
  /** Port of the redirect to this machine, for authorization servers that compare it. @default a free one */
  readonly redirectPort?: number | undefined;
  /** Reads the certificates and the proxy of the connection. @default those of the machine, and none */
  readonly network?: (() => Promise<Pick<OAuthNetwork, "ca" | "proxy">>) | undefined;
}

/** Dependencies of OAuth. */
export interface OAuthDeps {
  /** Keeps the logins, encrypted. */
  readonly store: Pick<SecretStore, "get" | "set" | "delete">;
  /** Folder of the locks between processes; created if it is missing. */
  readonly lockFolder: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Gets each token and secret before it is used, for redaction. */
  readonly learn: (value: string) => void;
  /** Replaces the secrets that `learn` got, in texts of servers before they are cut. */
  readonly scrub: (text: string) => string;
  readonly internalRanges: readonly string[];
  /** PEM certificates that are trusted for all connections. */
  readonly ca?: string | undefined;
  /** The command that logs in, such as `toolcrib login NAME`, for messages. */
  readonly loginCommand: (serverId: string, identity: Identity | undefined) => string;
}
