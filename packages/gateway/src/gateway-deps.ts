/** Dependencies of a gateway that its process provides. */

import type { Logger } from "@toolcrib/diagnostics";
import type { HttpServerDeps } from "@toolcrib/http";
import type { SpawnWrap } from "@toolcrib/process";
import type { UpstreamLimits } from "@toolcrib/upstream";
import type { SourceContext } from "./sources/open-sources.ts";

/** Dependencies of a gateway on its process. */
export interface GatewayDeps {
  /** Home folder (`~/.toolcrib`); created if it is missing. */
  readonly home: string;
  /** Text after `toolcrib` in commands for the operator that clients see, such as " --home DIR". @default none */
  readonly homeFlag?: string | undefined;
  /** Environment of the process: PATH, HOME and the variables that `secret_key_ref: {env: …}` names. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  /** Folder of the project whose packages are offered, besides those of the home. @default `directory` */
  readonly projectFolder?: string | undefined;
  readonly logger: Logger;
  /** This program's version, as clients and servers see it. */
  readonly version: string;
  /** Files that the configuration was read from, for the audit. */
  readonly configFiles: readonly string[];
  /** Authenticates clients of the HTTP server, unless `serve.auth` is `none`. @default by the tokens of the home */
  readonly authenticate?: HttpServerDeps["authenticate"];
  /** Wraps each process of a tool server or a composite in a sandbox. @default processes are started as they are */
  readonly wrap?: SpawnWrap | undefined;
  /** Packages whose tests run: they take the place of installed ones, and their definitions wait for no approval. @default none */
  readonly trialPackages?: SourceContext["trialPackages"];
  /** Loads the configuration anew and applies it, for the operator (`POST /api/v1/reload`). @default it cannot be reloaded */
  readonly reload?: (() => Promise<object>) | undefined;
  /** Limits of upstream servers, which tests change. @default `resolveUpstreamLimits` */
  readonly upstreamLimits?: UpstreamLimits;
}
