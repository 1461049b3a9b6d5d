/** The types of an import: servers with their origins, and what happens to each. */

import type { JsonObject } from "@toolcrib/json";

/** A secret of a server. Its value is in no output. */
export interface FoundSecret {
  /** The name in `secret_key_ref`. */
  readonly name: string;
  /** Its purpose, such as `variable GITHUB_TOKEN`. */
  readonly purpose: string;
  /** The value that goes into the store; undefined where only the user has it. */
  readonly value: string | undefined;
}

/** Where a server was found. */
export interface Origin {
  /** The id of the client. */
  readonly client: string;
  readonly file: string;
  readonly line: number;
  /** The name there. */
  readonly name: string;
  /** The folder of the project that alone has the server; undefined for a server of the user. */
  readonly project: string | undefined;
}

/** Why the user does not want a server, and since when. */
export interface Unwanted {
  /** `removed`: by `toolcrib remove`. `declined`: at the question of an import. */
  readonly reason: "removed" | "declined";
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A server that becomes an entry of `tool_servers`. */
export interface PlannedServer {
  readonly id: string;
  readonly entry: JsonObject;
  readonly secrets: readonly FoundSecret[];
  /** The first origin is the one that the entry was made from. */
  readonly origins: readonly Origin[];
  /** Command and arguments, or the URL, without secrets. */
  readonly shown: string;
  /** Why the version may change by itself; undefined where it is pinned, or no version is known. */
  readonly unpinned: string | undefined;
  /** The differences from the client's entry, one line each. */
  readonly notes: readonly string[];
  /** The access of its process here, in one line; undefined where it runs elsewhere. @default not known */
  readonly reach?: string | undefined;
  readonly isDisabled: boolean;
  /** Variables of the environment that it needs, and that are not set here. */
  readonly unset: readonly string[];
  /** That the user did not want it before. @default not known */
  readonly unwanted?: Unwanted;
}

/** A server that the configuration has already. */
export interface PresentServer {
  /** Its id in the configuration. */
  readonly id: string;
  /** Variables of the environment that it needs, and that are not set here. */
  readonly unset: readonly string[];
  /** Names of its secrets, where the file of the client does not have all of them. */
  readonly secrets: readonly string[];
}

/** A server that is not imported. */
export interface LeftOut {
  readonly origin: Origin;
  readonly reason: string;
  /** The entry of the configuration that is this server, and serves it. @default none */
  readonly present?: PresentServer;
  /** That it is left out because the user did not want it before. @default another reason */
  readonly unwanted?: Unwanted;
}

/** Something in a file that is not usable. */
export interface FileProblem {
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The plan of an import. */
export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  readonly leftOut: readonly LeftOut[];
  readonly problems: readonly FileProblem[];
  /** The files that were read. */
  readonly files: readonly string[];
}
