/** A manifest as data. */

/** The component that inserts the secret into requests: the egress proxy (`sealed`) or the engine (`entrusted`). */
export type Tier = "sealed" | "entrusted";
/** The way in which an image is built. */
export type Builder = "go-static" | "node" | "python" | "toolpack";
/** Kind of a credential. */
export type CredentialType = "oauth2" | "api_key" | "basic" | "custom_env";

/** A manifest: the source of a tool server, the hosts that it may reach, and the credentials that it needs. */
export interface Manifest {
  readonly schemaVersion: number;
  readonly name: string;
  readonly version: string;
  readonly source: { readonly repo: string; readonly tag: string; readonly package?: string };
  readonly image: ManifestImage;
  readonly tier: Tier;
  readonly entitlements?: { readonly egress?: readonly string[] };
  readonly credentials?: readonly ManifestCredential[];
  readonly requires?: readonly ManifestRequirement[];
  readonly tools?: readonly ManifestTool[];
  readonly displayName?: string;
  readonly description?: string;
  readonly category?: string;
  readonly icon?: string;
}

/** The image of a manifest. */
export interface ManifestImage {
  readonly ref: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Absolute path within the image. */
  readonly entrypoint: string;
  /** @default "go-static" */
  readonly builder?: Builder;
}

/** A credential that a manifest declares. */
export interface ManifestCredential {
  readonly id: string;
  readonly type: CredentialType;
  readonly provider?: string;
  readonly scopes?: readonly string[];
  readonly inject: ManifestInject;
  readonly vendor?: string;
  /**
   * Sealed tier: the variable in which a process finds the placeholder of the secret (an addition to the document).
   * @default "TOOLCRIB_PLACEHOLDER"
   */
  readonly placeholderEnv?: string;
}

/** The place of a credential in requests. Sealed: one of `header`, `query` and `pathPrefix`. Entrusted: `env`. */
export interface ManifestInject {
  /** Header that carries the credential, with `format`. */
  readonly header?: string;
  /** Value of the header or query parameter; contains `{token}`. */
  readonly format?: string;
  /** Query parameter that carries the credential (schemaVersion 2). */
  readonly query?: string;
  /** Prefix of every path; contains `{token}` (schemaVersion 2). */
  readonly pathPrefix?: string;
  /** Environment variable that contains the credential. */
  readonly env?: string;
}

/**
 * A value that an adopted server does not work without and that only the operator knows (an addition to the document).
 * It has either `variable` or `argument`.
 */
export interface ManifestRequirement {
  /** The environment variable that has the value. */
  readonly variable?: string;
  /** The name of the value among the arguments, such as `FOLDER`. */
  readonly argument?: string;
  /** The option before the argument; without it the argument stands alone. */
  readonly option?: string;
  /** @default "text" */
  readonly value?: "text" | "read_folder" | "written_file";
  readonly description?: string;
}

/** A tool that a manifest lists. */
export interface ManifestTool {
  readonly name: string;
  /** Whether the tool is exposed by default. @default false */
  readonly default?: boolean;
}
