/**
 * The types of a parsed configuration: complete, checked, in camelCase. The
 * files that create these values translate the spelling of the documents
 * (`tool_servers`, `trust_state`); no other code uses it. It is one piece: the
 * types are one value, and most of them refer to one another.
 */

import type { PolicyFile } from "@toolcrib/cedar";
import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import type { ListSettings, ProfileSettings, ToolOverride } from "@toolcrib/discovery";
import type { Limits } from "@toolcrib/guards";
import type { TokenIssuer } from "@toolcrib/oauth";
import type {
  ContainmentPart,
  JudgedPart,
  MutabilityClass,
  PolicySettings,
  TrustState,
} from "@toolcrib/policy";
import type { SecretRef } from "@toolcrib/secrets";
import type { openTelemetry } from "@toolcrib/telemetry";
import type { AdoptedSource, Manifest, Toolspec } from "@toolcrib/toolspec";
import type { AuditConfig } from "./audit-config.ts";

/** The whole configuration of a gateway, with defaults. */
export interface GatewayConfig {
  /** In the order of their first declaration. */
  readonly toolServers: readonly ToolServerConfig[];
  /** In the order of their first declaration. */
  readonly toolspecs: readonly ToolspecConfig[];
  /** Settings of installed packages. */
  readonly packages: PackagesConfig;
  readonly egress: EgressConfig;
  readonly policy: PolicyConfig;
  /** Limits of calls. */
  readonly guards: GuardsConfig;
  /** Programs and URLs that are asked about calls. */
  readonly hooks: HooksConfig;
  readonly serve: ServeConfig;
  /** By name, in the order of the configuration. */
  readonly profiles: { readonly [name: string]: ProfileConfig };
  /** Changes of tools by the operator, in the order of the configuration (`tools`). */
  readonly toolOverrides: readonly ToolOverrideConfig[];
  readonly audit: AuditConfig;
  /** `undefined`: no telemetry is sent. */
  readonly telemetry: TelemetryConfig | undefined;
  /** Tests of installed packages in a running gateway (`tests`). */
  readonly tests: {
    /** Milliseconds between two runs; undefined: they do not run by themselves. */
    readonly everyMs: number | undefined;
  };
  /** Search of tools. */
  readonly search: SearchConfig;
  readonly execution: ExecutionConfig;
  readonly sandbox: SandboxConfig;
  /** Registries of tool packages, in the order in which they are asked. */
  readonly registries: readonly RegistryConfig[];
  /** The data labels of all tool servers and toolspecs, also where only some of them are started. */
  readonly dataLabels: readonly string[];
  /** Entries that are configured and not used: they are in none of the lists above. */
  readonly disabled: DisabledConfig;
}

/** Entries that their file (`enabled: false`) or the operator (`toolcrib disable`) switches off. */
export interface DisabledConfig {
  readonly toolServers: readonly ToolServerConfig[];
  readonly toolspecs: readonly ToolspecConfig[];
  /** Packages, which need not be installed. */
  readonly packages: readonly Pick<ToolServerConfig, "id" | "isOff">[];
}

/** The switches of the operator, which are set without editing files and win over `enabled` in the files. */
export interface Switches {
  /** Whether a server, toolspec or package is used, by its id; without an entry, its file decides. */
  readonly servers: ReadonlyMap<string, boolean>;
  /** Names or patterns of tools that nobody is offered. */
  readonly tools: readonly string[];
}

/** Search of tools (`search`). */
export interface SearchConfig {
  /** Whether searches teach words. @default true */
  readonly learns: boolean;
  /** Names of clients from which nothing is learned. */
  readonly learnsExcept: readonly string[];
  /** The endpoint by which search goes by meaning, too; undefined where there is none. */
  readonly embeddings: EmbeddingsConfig | undefined;
}

/** An OpenAI-compatible embeddings endpoint (`search.embeddings`). */
interface EmbeddingsConfig {
  readonly url: string;
  readonly model: string;
  /** The credential of the requests. */
  readonly secret: SecretRef | undefined;
  readonly dimensions: number | undefined;
  /** Milliseconds that a search waits for the vector of its query. */
  readonly timeoutMs: number;
}

/** The listing of tools at the endpoint of a profile; what it contains is in `policy.profiles`. */
export type ProfileConfig = ProfileSettings;

/** Changes by the operator of the tools that a pattern matches. */
export type ToolOverrideConfig = ToolOverride;

/** A registry of tool packages. */
export interface RegistryConfig {
  readonly name: string;
  /** Either this or a folder. */
  readonly url: string | undefined;
  /** Complete, or below `~/`. */
  readonly folder: string | undefined;
  /** Id of the key that signs its index. @default the key of the first index that is read */
  readonly keyId: string | undefined;
}

/** Limits of calls, and what calls cost (`guards`). */
export type GuardsConfig = ConstructorParameters<typeof Limits>[0];

type TelemetrySettings = Parameters<typeof openTelemetry>[0];

/** The telemetry of calls, and the connection to its collector (`telemetry`). */
export interface TelemetryConfig extends TelemetrySettings {
  /** Of the body of requests. @default "none" */
  readonly compression: "none" | "gzip";
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: ConfigText };
  /** Complete path of a PEM file of additional authorities. @default none */
  readonly caFile?: string;
  /** PEM certificate chain of the client. @default none */
  readonly clientCertificate?: ConfigText;
  /** PEM key of the client. @default none */
  readonly clientKey?: ConfigText;
}

/** Programs and URLs that are asked about calls (`hooks`). */
export interface HooksConfig {
  /** In the order in which they are asked. */
  readonly before: readonly HookConfig[];
  readonly after: readonly HookConfig[];
  readonly limits: HookLimits;
}

/** Limits of all hooks together. */
export interface HookLimits {
  /** Hooks that run at a time; those of one client get at most half of them. @default 16 */
  readonly maxRunning: number;
  /** Hooks that wait for their turn at a time; one client gets at most half of them. @default 128 */
  readonly maxWaiting: number;
  /** Bytes of one question to a hook. @default 4194304 */
  readonly inputMaxBytes: number;
  /** Bytes of one answer of a hook. @default 4194304 */
  readonly answerMaxBytes: number;
}

/** One hook: a command in a sandbox, or a URL. */
export interface HookConfig {
  /** Unique in its list. */
  readonly id: string;
  /** Patterns of tools, resources and prompts. @default all but Toolcrib's own tools */
  readonly tools: readonly string[] | undefined;
  /** Names of clients. @default all */
  readonly clients: readonly string[] | undefined;
  /** Seconds in which it must answer. @default 5 */
  readonly timeoutSeconds: number;
  readonly transport: TransportConfig;
  /** Of a command; undefined for a URL. */
  readonly containment:
    | Pick<ContainmentConfig, "networkEgress" | "egressAllow" | "egressPassthrough" | "readPaths">
    | undefined;
  /** Place of the declaration. Stars replace credentials. */
  readonly source: Source;
  readonly span: Span;
}

/** Access of a server: none, the entries of its list, or everything. */
export type ContainmentLevel = "deny" | "scoped" | "allow";

/** One entry of `tool_servers`, or one server of another program's file. */
export interface ToolServerConfig {
  /** Unique; also the namespace of its tools. Letters, digits and `_ . -`, at most 40, never `__`. */
  readonly id: string;
  /** Whether its file says `enabled: false`. @default false */
  readonly isOff?: boolean;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly transport: TransportConfig;
  /** @default "unverified" */
  readonly trustState: TrustState;
  /** Whether tools that are listed for the first time wait for approval. @default `ask` for unverified servers, else `pin` */
  readonly firstContact: "ask" | "pin";
  /** Whether each resource that it lists is accepted for itself, not only that it lists any. @default false */
  readonly pinsResources: boolean;
  /** @default "unknown" */
  readonly mutabilityClass: MutabilityClass;
  readonly containment: {
    /** As declared; an omitted field is `undefined`. */
    readonly declared: Partial<ContainmentConfig>;
    /** As declared, or else by trust state, and never below `policy.floor`. */
    readonly effective: ContainmentConfig;
    /** Whether the server is a process that runs in a sandbox. */
    readonly needsSandbox: boolean;
    /** Parts of `effective` that restrict the server and that the gateway enforces itself. */
    readonly enforced: readonly ContainmentPart[];
    /** Parts of `effective` that restrict the server and that only its sandbox can enforce. */
    readonly bySandbox: readonly ContainmentPart[];
    /** Parts of `effective` that restrict the server and that nobody enforces: it runs elsewhere. */
    readonly notEnforced: readonly ContainmentPart[];
    /** The parts of `notEnforced` that are `deny` on purpose, not by default: calls are judged by what tools declare. */
    readonly judged: readonly JudgedPart[];
  };
  readonly labels: { readonly [key: string]: string };
  /** The manifest that it is adopted from; absent for a server that the entry describes itself. */
  readonly adopted?: AdoptedServer | undefined;
  /** Labels of everything that it returns. */
  readonly dataLabels: readonly string[];
  /** The check of the types of arguments: `upstream` lets those pass that the server can convert. */
  readonly validation: "strict" | "upstream";
  /** Whether clients that can be asked get a session of their own. @default when the server is known to ask */
  readonly isInteractive?: boolean;
  /** Seconds without a call after which the server is stopped; absent for a server that starts with the gateway. @default 300 with `start: lazy` */
  readonly idleSeconds?: number;
  /** The warning about the parts that are not enforced, for display at start-up; empty when all are enforced. */
  readonly notEnforced: readonly string[];
  /** Why this server cannot start although the configuration is valid (a variable that only another program can fill). Empty when it can start. */
  readonly problems: readonly Diagnostic[];
  /** Place of the declaration, for errors that are found later. Stars replace credentials. */
  readonly source: Source;
  readonly span: Span;
}

/** An upstream server that a manifest adopts (`transport.manifest`). */
export interface AdoptedServer {
  /** `NAME` or `NAME@VERSION` of the catalog, or a path, as written. */
  readonly reference: string;
  /** The tools of the manifest that are offered: those with `default: true`, all that it names, or a list. @default "default" */
  readonly tools: "all" | "default" | readonly string[];
  /** References to the secrets, by the credential ids of the manifest. */
  readonly credentials: { readonly [id: string]: SecretRef };
  /** The manifest; `undefined` when it was not read (`parseConfig` reads none). */
  readonly files: AdoptedManifest | undefined;
  /** Digest of the files, such as `sha256:…`. */
  readonly digest: string | undefined;
}

/** A valid manifest that adopts a server. */
export interface AdoptedManifest {
  readonly manifest: Manifest;
  readonly manifestFile: string;
  readonly source: AdoptedSource;
  /** Record of the package in the manifest: the lock of npm or Python, or the SHA-256 of the Go module. */
  readonly record: { readonly lock?: string | undefined; readonly moduleDigest?: string | undefined };
}

/** One entry of `toolspecs`: a REST API as tools. */
export interface ToolspecConfig {
  /** Unique among tool servers and toolspecs; also the namespace of its tools. @default the manifest's name */
  readonly id: string;
  /** Whether its file says `enabled: false`. @default false */
  readonly isOff?: boolean;
  readonly reference: ToolspecReference;
  /** References to the secrets, by the credential ids of the manifest. */
  readonly credentials: { readonly [id: string]: SecretRef };
  /** Values of the variables of base URLs and paths. */
  readonly variables: { readonly [name: string]: string };
  /** Path parameters whose slashes stay unencoded, as `tool.parameter`. */
  readonly reserved: readonly string[];
  /** `default`, also as an entry of a list: the tools that the manifest marks with `default: true`. @default "default" */
  readonly tools: "all" | "default" | readonly string[];
  readonly labels: { readonly [key: string]: string };
  /** Labels of everything that it returns. */
  readonly dataLabels: readonly string[];
  /** The files; `undefined` when they were not read (`parseConfig` reads none). */
  readonly pair: ToolspecPair | undefined;
  /** Digest of the files, such as `sha256:…`. */
  readonly pairDigest: string | undefined;
  /** Place of the declaration, for errors that are found later. Stars replace credentials. */
  readonly source: Source;
  readonly span: Span;
}

/** The settings of one installed package. */
export interface PackageConfig {
  /** @default true */
  readonly isEnabled: boolean;
  /** @default "unverified" */
  readonly trustState: TrustState;
  /** @default "unknown" */
  readonly mutabilityClass: MutabilityClass;
  /** Whether its definition waits for an approval when it is listed for the first time. @default "pin": installing it approved it */
  readonly firstContact: "ask" | "pin";
  /** As declared; an omitted field is `undefined`. */
  readonly declared: Partial<ContainmentConfig>;
  /** As declared, or else by trust state, and never below `policy.floor`. Paths are complete, or below `~/`. */
  readonly effective: ContainmentConfig;
  /** The URL of an http endpoint, in place of that of the manifest. */
  readonly endpointUrl: string | undefined;
  /** References to its secrets by what they are: `token`, `client_id`, `client_secret`, `refresh_token`. */
  readonly credentials: { readonly [id: string]: SecretRef };
  /** The only language whose implementations run. @default any */
  readonly language: string | undefined;
  /** The only implementation that runs. @default any */
  readonly implementation: string | undefined;
  readonly labels: { readonly [key: string]: string };
  /** Labels of everything that it returns. */
  readonly dataLabels: readonly string[];
  readonly limits: {
    /** Calls that run at a time. @default 4 */
    readonly maxConcurrentCalls: number;
    /** Bytes of the output of its program. @default 10 MiB */
    readonly outputMaxBytes: number;
  };
}

/** The settings of installed packages (`packages`). */
export interface PackagesConfig {
  /** By toolId. */
  readonly byId: { readonly [toolId: string]: PackageConfig };
  /** Those of packages without an entry. */
  readonly others: PackageConfig;
  /** Programs of all packages that run at a time (`sandbox.max_package_programs`). @default 16 */
  readonly maxPrograms: number;
}

/** Reference to a manifest and a toolspec. */
export type ToolspecReference =
  /** An entry of the catalog; without a version the newest. */
  | { readonly kind: "catalog"; readonly name: string; readonly version: string | undefined }
  /** A path as written: a manifest, a toolspec, or a folder with one pair. */
  | { readonly kind: "path"; readonly path: string };

/** A manifest and its toolspec, both valid and consistent with one another. */
export interface ToolspecPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  readonly manifestFile: string;
  readonly toolspecFile: string;
}

/** Network egress of toolspecs (`egress`). */
export interface EgressConfig {
  /** CIDR ranges that connections may reach although they are not public. */
  readonly internalRanges: readonly string[];
  /** `address:port` by host, in place of DNS. */
  readonly connectTo: { readonly [host: string]: string };
  /** Complete paths. */
  readonly caFiles: readonly string[];
  /** Contents of the files (PEM); empty when they were not read. */
  readonly caCertificates: readonly string[];
}

/** The execution boundary of a server and its calls (`containment`). */
export interface ContainmentConfig {
  readonly networkEgress: ContainmentLevel;
  readonly filesystemWrite: ContainmentLevel;
  /** Deadline of each call, in seconds. */
  readonly maxExecutionSeconds: number;
  /** Host patterns; used when `networkEgress` is `scoped`. */
  readonly egressAllow: readonly string[];
  /** Those of `egressAllow` whose TLS the proxy does not read (`tls: passthrough`). */
  readonly egressPassthrough: readonly string[];
  /** Folders: absolute, below `~/`, or relative to the folder of the declaring file; used when `filesystemWrite` is `scoped`. */
  readonly writePaths: readonly string[];
  /** Folders or files that the process may read, written like `writePaths`. */
  readonly readPaths: readonly string[];
  /** Whether the process may read what its arguments name. */
  readonly readsArguments: boolean;
  /** Whether the process keeps a private folder as its home from one start to the next. */
  readonly hasState: boolean;
}

/** The transport of a server. The gateway resolves it to plain strings when the server starts. */
export type TransportConfig = StdioTransportConfig | HttpTransportConfig;

/** A server that Toolcrib starts as a subprocess, with MCP over its standard input and output. */
export interface StdioTransportConfig {
  readonly kind: "stdio";
  readonly command: ConfigText;
  readonly args: readonly ConfigText[];
  readonly env: { readonly [name: string]: ConfigText };
  /** Working folder; relative to the folder of the declaring file. @default the folder that Toolcrib was started in */
  readonly cwd: ConfigText | undefined;
  /** The only era that the server is used in. @default what it supports */
  readonly protocol?: "legacy" | "modern";
}

/** A server with an HTTP endpoint. */
export interface HttpTransportConfig {
  readonly kind: "sse" | "streamable_http";
  readonly url: ConfigText;
  readonly headers: { readonly [name: string]: ConfigText };
  /** Whether an `http` URL may name another machine. @default false */
  readonly allowHttp: boolean;
  /** URL of an HTTP proxy, or `env`. @default a direct connection */
  readonly proxy?: ConfigText;
  /** PEM file of additional authorities; relative to the folder of the declaring file. @default none */
  readonly caFile?: ConfigText;
  /** PEM certificate chain of the client. @default none */
  readonly clientCertificate?: ConfigText;
  /** PEM key of the client. @default none */
  readonly clientKey?: ConfigText;
  /** The only era that the server is used in. @default what it supports */
  readonly protocol?: "legacy" | "modern";
  /** OAuth. @default none */
  readonly auth?: OAuthConfig;
}

/** OAuth as a client of a server (`transport.auth`). */
export interface OAuthConfig {
  /** @default "authorization_code" */
  readonly grant: "authorization_code" | "client_credentials";
  /** @default "gateway" */
  readonly per: "gateway" | "identity";
  /** @default those that the server names */
  readonly scopes: readonly string[] | undefined;
  /** @default the one that the server names */
  readonly issuer: string | undefined;
  /** @default registered at each login */
  readonly clientId: string | undefined;
  readonly clientSecret: ConfigText | undefined;
  /** PEM, PKCS #8. */
  readonly privateKey: ConfigText | undefined;
  readonly clientMetadataUrl: string | undefined;
  /** @default a free one */
  readonly redirectPort: number | undefined;
}

/** A text that may contain references to secrets and environment variables. */
export type ConfigText =
  /** `isSecret`: a credential in another program's file. */
  | { readonly kind: "literal"; readonly text: string; readonly isSecret: boolean; readonly span: Span }
  | { readonly kind: "secret"; readonly ref: SecretRef; readonly prefix: string; readonly span: Span }
  /** Only in other programs' files: `Bearer ${TOKEN}`. */
  | {
      readonly kind: "template";
      readonly text: string;
      readonly parts: readonly TemplatePart[];
      readonly isSecret: boolean;
      readonly span: Span;
    };

/** A part of a template: literal text, an environment variable, or the folder of the workspace. */
export type TemplatePart =
  | string
  | { readonly variable: string; readonly fallback: string | undefined }
  | { readonly folder: "workspace" };

/** Allow and deny patterns of tools, resources and prompts: globs over `namespace:name` and `namespace__name`. */
export interface PolicyRules {
  /** `undefined`: everything that is not denied. */
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** Access rules for everyone and for single clients, and the minimum containment (`policy`). */
export interface PolicyConfig extends PolicyRules {
  /** Additional rules for single clients, by name. */
  readonly clients: { readonly [name: string]: ClientRules };
  /** Patterns of tools of unverified servers whose calls need no approval. */
  readonly waiveApproval: readonly string[];
  /** Policies in Cedar. Without a file, the lists alone decide. */
  readonly files: readonly PolicyFile[];
  readonly floor: PolicyFloor;
  /** Contents of the profiles; absent without profiles. */
  readonly profiles?: PolicySettings["profiles"];
  /** Names or patterns of tools that nobody is offered (`toolcrib disable tool`); absent without any. */
  readonly disabled?: PolicySettings["disabled"];
}

/** The rules of one client. */
export interface ClientRules extends PolicyRules {
  /** The client, as its identity provider identifies it. @default the local client of that name: a token, `cli`, `stdio`, … */
  readonly identity?: { readonly issuer: string; readonly subject: string } | undefined;
  /** Whether the person at the client may approve its calls through elicitation. @default false */
  readonly approvesByElicitation?: boolean;
  /** The profile that the client is bound to. @default none */
  readonly profile?: string | undefined;
  /** Roles in policies. @default none */
  readonly roles?: readonly string[] | undefined;
  /** Labels in policies. @default none */
  readonly labels?: { readonly [key: string]: string } | undefined;
}

/** The minimum containment of every tool server. An omitted field requires nothing. */
export interface PolicyFloor {
  readonly networkEgress: ContainmentLevel | undefined;
  readonly filesystemWrite: ContainmentLevel | undefined;
  /** Longest `max_execution_seconds` that a server may have. */
  readonly maxExecutionSeconds: number | undefined;
}

/** The HTTP endpoint: address, authentication, listed tools, limits. */
export interface ServeConfig {
  /** Address and port; port 0 takes a free one. @default 127.0.0.1:7420 */
  readonly listen: { readonly host: string; readonly port: number };
  /** Authentication of clients; `none` only on loopback. @default "token" */
  readonly auth: "token" | "none";
  /** Access tokens of identity providers, besides or instead of tokens of the home. @default none are accepted */
  readonly oauth?: ServeOAuthConfig;
  /** The listing of tools. `auto` becomes `search` where the list costs more than `list.tokenBudget`. @default "full" */
  readonly mode: "full" | "search" | "auto";
  /** Lists of the mode `auto`. @default 10000 tokens, 8 tools */
  readonly list: Pick<ListSettings, "tokenBudget" | "mostUsed">;
  /** Tokens of a result that a client receives at once; 0 for any number. @default 25000, or 0 in the mode `full` */
  readonly results: { readonly tokenBudget: number | undefined };
  /** Longest time that the first list or search of a client waits for starting servers; for a silent one a fifth of it. @default 5 */
  readonly listWaitSeconds: number;
  /** Whether other gateways may use the home at the same time. @default true */
  readonly sharesHome: boolean;
  /** Tool patterns: never listed, and listed in every mode. */
  readonly tools: { readonly hidden: readonly string[]; readonly pinned: readonly string[] };
  /** Accepted `Host` values in addition to those of `listen` and loopback. */
  readonly allowedHosts: readonly string[];
  /** Accepted `Origin` values in addition to loopback. */
  readonly allowedOrigins: readonly string[];
  readonly limits: ServeLimits;
}

/** OAuth from clients (`serve.auth` as a map). */
export interface ServeOAuthConfig {
  /** The URL of the endpoint as clients know it. */
  readonly resource: string;
  /** Whether tokens of the home are accepted. @default true */
  readonly acceptsTokens: boolean;
  readonly issuers: readonly (Omit<TokenIssuer, "introspection"> & {
    readonly introspection:
      | { readonly url: string | undefined; readonly clientId: string; readonly clientSecret: ConfigText }
      | undefined;
  })[];
}

/** Limits of one gateway (`serve.limits`). */
export interface ServeLimits {
  /** Longest request body, in bytes. @default 4194304 */
  readonly bodyMaxBytes: number;
  /** Longest result of a call, in bytes. @default 16777216 */
  readonly resultMaxBytes: number;
  /** Maximum number of sessions at a time; one client gets at most half of them. @default 1000 */
  readonly maxSessions: number;
  /** Seconds after which an unused session is closed. @default 3600 */
  readonly sessionIdleSeconds: number;
  /** Maximum number of calls in flight at a time; one client gets at most half of them. @default 1024 */
  readonly maxConcurrentCalls: number;
  /** Maximum number of calls that run at one server at a time; one client gets at most half of them. @default 128 */
  readonly maxCallsPerServer: number;
  /** Maximum number of calls that wait for one server at a time; one client gets at most half of them. @default 256 */
  readonly maxQueuedCallsPerServer: number;
  /** Maximum number of tasks that are kept at a time; one client gets at most half of them. @default 1000 */
  readonly maxTasks: number;
  /** Bytes of the results of tasks that are kept; one client gets at most half of them. @default 67108864 */
  readonly taskResultsMaxBytes: number;
  /** Seconds for which a task is kept where its client names no time. @default 3600 */
  readonly taskTtlSeconds: number;
  /** Most seconds for which a task is kept. @default 86400 */
  readonly taskTtlMaxSeconds: number;
}

/** Limits of one run of a composite tool (`execution`). */
export interface ExecutionConfig {
  /**
   * `true`: the tools that save and run composites are listed in every mode. `false`: there are no composites and no
   * saved tools. `undefined`: these tools are listed in mode `full`, and not in mode `search`.
   */
  readonly isEnabled: boolean | undefined;
  /** Milliseconds, waiting for tools included. @default 30000 */
  readonly timeoutMs: number;
  /** Live bytes of the program's values. @default 134217728 */
  readonly memoryBytes: number;
  /** @default 10000000 */
  readonly steps: number;
  /** Deepest nesting of the program's function calls. @default 200 */
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
  /** Place of execution: the gateway (`none`), or a separate process. @default "none" */
  readonly isolation: "none" | "process";
}

/** Sandboxes of processes (`sandbox`). */
export interface SandboxConfig {
  /**
   * `required`: a server whose sandbox this machine cannot build does not start. `preferred`: it starts uncontained.
   * @default "required"
   */
  readonly mode: "required" | "preferred";
  /** Hosts that fetches of packages reach in addition to their registries: `host` or `host:port`. @default none */
  readonly registryHosts: readonly string[];
  /** Limits of all sandboxes together, those that are written. */
  readonly totals: {
    readonly memoryBytes?: number;
    readonly processes?: number;
    readonly sandboxes?: number;
  };
}
