/**
 * A configuration after reading: complete, checked, in our words (camelCase).
 * The documents' own spelling (`tool_servers`, `trust_state`) ends here: it is
 * translated once, in the files that make these values.
 */

import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import type { Manifest, Toolspec } from "@toolcrib/toolspec";

/** Everything that the gateway is told, defaults filled in. */
export interface GatewayConfig {
  /** In the order of their first declaration. */
  readonly toolServers: readonly ToolServerConfig[];
  /** In the order of their first declaration. */
  readonly toolspecs: readonly ToolspecConfig[];
  readonly egress: EgressConfig;
  readonly policy: PolicyConfig;
  readonly serve: ServeConfig;
  readonly audit: AuditConfig;
  readonly execution: ExecutionConfig;
}

/** How far the operator trusts a server. */
export type TrustState = "unverified" | "verified" | "certified";
/** What the operator says of a server's tools. */
export type MutabilityClass = "read_only" | "write" | "unknown";
/** What a server may reach: nothing, what its list names, everything. */
export type ContainmentLevel = "deny" | "scoped" | "allow";

/** One entry of `tool_servers`, or one server of another program's file. */
export interface ToolServerConfig {
  /** Unique; also the namespace of its tools. Letters, digits and `_ . -`, at most 40, never `__`. */
  readonly id: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly transport: TransportConfig;
  /** @default "unverified" */
  readonly trustState: TrustState;
  /** @default "unknown" */
  readonly mutabilityClass: MutabilityClass;
  readonly containment: {
    /** What the configuration says; what it leaves out is `undefined`. */
    readonly declared: Partial<ContainmentConfig>;
    /** What holds: declared, else by trust state, and never below `policy.floor`. */
    readonly effective: ContainmentConfig;
    /** Parts of `effective` that restrict the server and that this version enforces. */
    readonly enforced: readonly ContainmentPart[];
    /** Parts of `effective` that restrict the server and that this version does not enforce. */
    readonly notEnforced: readonly ContainmentPart[];
  };
  readonly labels: { readonly [key: string]: string };
  /** The warning about the parts that are not enforced, to be shown at start; empty where there are none. */
  readonly notEnforced: readonly string[];
  /** Why this server cannot start although the configuration is valid (a variable that only another program can fill). Empty when it can. */
  readonly problems: readonly Diagnostic[];
  /** Where it is declared, for errors that are found later. Credentials are starred out. */
  readonly source: Source;
  readonly span: Span;
}

/** One entry of `toolspecs`: a REST API as tools. */
export interface ToolspecConfig {
  /** Unique among tool servers and toolspecs; also the namespace of its tools. @default the manifest's name */
  readonly id: string;
  readonly reference: ToolspecReference;
  /** Where the secrets are kept, by the ids that the manifest gives its credentials. */
  readonly credentials: { readonly [id: string]: SecretRef };
  /** Values of the variables of base URLs and paths. */
  readonly variables: { readonly [name: string]: string };
  /** Path parameters whose slashes are kept, as `tool.parameter`. */
  readonly reserved: readonly string[];
  /** `default`: those that the manifest marks so. @default "default" */
  readonly tools: "all" | "default" | readonly string[];
  readonly labels: { readonly [key: string]: string };
  /** The files; `undefined` where nobody has read them (`parseConfig` reads none). */
  readonly pair: ToolspecPair | undefined;
  /** Digest of the files, such as `sha256:…`. */
  readonly pairDigest: string | undefined;
  /** Where it is declared, for errors that are found later. Credentials are starred out. */
  readonly source: Source;
  readonly span: Span;
}

/** Which manifest and toolspec. */
export type ToolspecReference =
  /** Of the catalogue; without a version the newest. */
  | { readonly kind: "catalog"; readonly name: string; readonly version: string | undefined }
  /** As it is written: a manifest, a toolspec, or a folder with one pair. */
  | { readonly kind: "path"; readonly path: string };

/** A manifest and its toolspec, both sound and fitting one another. */
export interface ToolspecPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  readonly manifestFile: string;
  readonly toolspecFile: string;
}

/** The way out of toolspecs (`egress`). */
export interface EgressConfig {
  /** Ranges (CIDR) that may be connected to although they are not public. */
  readonly internalRanges: readonly string[];
  /** `address:port` by host, in place of DNS. */
  readonly connectTo: { readonly [host: string]: string };
  /** Complete paths. */
  readonly caFiles: readonly string[];
  /** What the files hold (PEM); empty where nobody has read them. */
  readonly caCertificates: readonly string[];
}

/** The boundary within which a server and its calls must stay (`containment`). */
export interface ContainmentConfig {
  readonly networkEgress: ContainmentLevel;
  readonly filesystemWrite: ContainmentLevel;
  /** Deadline of each call, in seconds. */
  readonly maxExecutionSeconds: number;
  /** Host patterns; used when `networkEgress` is `scoped`. */
  readonly egressAllow: readonly string[];
  /** Absolute folders, or below `~/`; used when `filesystemWrite` is `scoped`. */
  readonly writePaths: readonly string[];
}

/** A field of `containment` that can restrict a server, as the configuration spells it. */
export type ContainmentPart = "network_egress" | "filesystem_write" | "max_execution_seconds";

/** How a server is reached. `resolveTransport` makes plain strings of it. */
export type TransportConfig = StdioTransportConfig | HttpTransportConfig;

/** A server that Toolcrib starts and speaks to over its standard input and output. */
export interface StdioTransportConfig {
  readonly kind: "stdio";
  readonly command: ConfigText;
  readonly args: readonly ConfigText[];
  readonly env: { readonly [name: string]: ConfigText };
  /** Working folder; relative to the folder of the declaring file. @default the folder that Toolcrib was started in */
  readonly cwd: ConfigText | undefined;
}

/** A server that is reached by HTTP. */
export interface HttpTransportConfig {
  readonly kind: "sse" | "streamable_http";
  readonly url: ConfigText;
  readonly headers: { readonly [name: string]: ConfigText };
  /** Whether an `http` URL may lead off this machine. @default false */
  readonly allowHttp: boolean;
}

/** A text that may be complete only once secrets and environment are read. */
export type ConfigText =
  /** `isSecret`: a credential that stands in another program's file. */
  | { readonly kind: "literal"; readonly text: string; readonly isSecret: boolean; readonly span: Span }
  | { readonly kind: "secret"; readonly ref: SecretRef; readonly prefix: string; readonly span: Span }
  /** Of other programs' files only: `Bearer ${TOKEN}`. */
  | {
      readonly kind: "template";
      readonly text: string;
      readonly parts: readonly TemplatePart[];
      readonly isSecret: boolean;
      readonly span: Span;
    };

/** A piece of a template: itself, an environment variable, or the folder that the file belongs to. */
export type TemplatePart =
  | string
  | { readonly variable: string; readonly fallback: string | undefined }
  | { readonly folder: "workspace" };

/** Where a secret is kept. `named` is the scalar form of `secret_key_ref`. */
export type SecretRef =
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "store"; readonly name: string }
  | { readonly kind: "keychain"; readonly name: string };

/** Which tools may be used. Patterns are globs over `namespace:name` and `namespace__name`. */
export interface PolicyRules {
  /** `undefined`: everything that is not denied. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** Who may use which tools, and the least containment (`policy`). */
export interface PolicyConfig extends PolicyRules {
  /** Further rules by the name of the identity that calls. */
  readonly clients: { readonly [identity: string]: PolicyRules };
  readonly floor: PolicyFloor;
}

/** The least containment of every tool server. Nothing declared: no demand. */
export interface PolicyFloor {
  readonly networkEgress: ContainmentLevel | undefined;
  readonly filesystemWrite: ContainmentLevel | undefined;
  /** Longest `max_execution_seconds` that a server may have. */
  readonly maxExecutionSeconds: number | undefined;
}

/** What the endpoint offers and to whom. */
export interface ServeConfig {
  /** Address and port; port 0 takes a free one. @default 127.0.0.1:7420 */
  readonly listen: { readonly host: string; readonly port: number };
  /** How clients prove who they are; `none` only on loopback. @default "token" */
  readonly auth: "token" | "none";
  /** How tools are listed. `auto` becomes `search` above `autoModeMaxTools` tools. @default "full" */
  readonly mode: "full" | "search" | "auto";
  /** Tool patterns: never listed, and listed in every mode. */
  readonly tools: { readonly hidden: readonly string[]; readonly pinned: readonly string[] };
  /** `Host` values that are answered besides those of `listen` and loopback. */
  readonly allowedHosts: readonly string[];
  /** `Origin` values that are answered besides loopback ones. */
  readonly allowedOrigins: readonly string[];
  readonly limits: ServeLimits;
}

/** What one gateway takes on (`serve.limits`). */
export interface ServeLimits {
  /** Longest request body, in bytes. @default 4194304 */
  readonly bodyMaxBytes: number;
  /** Longest result of a call, in bytes. @default 16777216 */
  readonly resultMaxBytes: number;
  /** Most sessions at a time. @default 1000 */
  readonly maxSessions: number;
  /** Seconds after which an unused session is closed. @default 3600 */
  readonly sessionIdleSeconds: number;
  /** Most calls under way at a time. @default 256 */
  readonly maxConcurrentCalls: number;
}

/** What one run of a composite tool may use (`execution`). */
export interface ExecutionConfig {
  /** Milliseconds, waiting for tools included. @default 30000 */
  readonly timeoutMs: number;
  /** Live bytes of the program's values. @default 134217728 */
  readonly memoryBytes: number;
  /** @default 10000000 */
  readonly steps: number;
  /** Calls of the program's functions within one another. @default 200 */
  readonly callDepth: number;
  /** @default 100 */
  readonly toolCalls: number;
  /** Tool calls at a time. @default 8 */
  readonly parallelWidth: number;
  /** @default 65536 */
  readonly logBytes: number;
  /** Of the result as JSON. @default 1048576 */
  readonly resultBytes: number;
  /** Whether errors carry their stack. @default false */
  readonly debug: boolean;
  /** Where it runs: in the gateway, or in a process of its own. @default "none" */
  readonly isolation: "none" | "process";
}

/** The audit trail (`audit`). */
export interface AuditConfig {
  /** What an audit record survives: the death of the process, or of the machine. @default "process" */
  readonly durability: "process" | "fsync";
}
