/** A manifest as data: what the file says. */

/** Who puts the secret into requests: the egress proxy (`sealed`), or the engine (`entrusted`). */
export type Tier = "sealed" | "entrusted";
/** How an image is built. */
export type Builder = "go-static" | "node" | "python" | "toolpack";
/** What a credential is. */
export type CredentialType = "oauth2" | "api_key" | "basic" | "custom_env";

/** A manifest: what a tool server is, may reach, and needs. */
export interface Manifest {
  readonly schemaVersion: number;
  readonly name: string;
  readonly version: string;
  readonly source: { readonly repo: string; readonly tag: string; readonly package?: string };
  readonly image: ManifestImage;
  readonly tier: Tier;
  readonly entitlements?: { readonly egress?: readonly string[] };
  readonly credentials?: readonly ManifestCredential[];
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
  /** `go-static` where it is absent. */
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
}

/** How a credential enters requests. Sealed: one of `header`, `query` and `pathPrefix`. Entrusted: `env`. */
export interface ManifestInject {
  /** The header that carries it, with `format`. */
  readonly header?: string;
  /** The value of the header or query parameter, with `{token}`. */
  readonly format?: string;
  /** The query parameter that carries it (schemaVersion 2). */
  readonly query?: string;
  /** What is put before every path, with `{token}` (schemaVersion 2). */
  readonly pathPrefix?: string;
  /** The environment variable that holds it. */
  readonly env?: string;
}

/** A tool that a manifest lists. */
export interface ManifestTool {
  readonly name: string;
  /** Whether it is exposed by default; `false` where it is absent. */
  readonly default?: boolean;
}
