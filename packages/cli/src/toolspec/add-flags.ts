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
  readonly yes?: boolean;
}
