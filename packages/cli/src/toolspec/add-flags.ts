/** Options of `toolcrib add`. */
export interface AddFlags {
  readonly id?: string;
  readonly secret?: readonly (readonly [credential: string, name: string])[];
  readonly withoutSecrets?: boolean;
  readonly variable?: readonly (readonly [name: string, value: string])[];
  readonly allTools?: boolean;
  /** Of a server: its arguments, variables, and the paths that it reads and writes. */
  readonly serverArg?: readonly string[];
  readonly env?: readonly (readonly [name: string, value: string])[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** Hosts that the process of a server may reach. */
  readonly allow?: readonly string[];
  /** The program of a package that has several. */
  readonly program?: string;
  /** Of a `server.json` or bundle: values that it asks for, and which of its packages and endpoints. */
  readonly set?: readonly (readonly [string, string])[];
  readonly use?: number;
  /** Why a server is saved although its trial failed. */
  readonly untested?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}
