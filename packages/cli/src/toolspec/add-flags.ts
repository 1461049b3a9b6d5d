/** Options of `toolcrib add`. */
export interface AddFlags {
  readonly id?: string;
  readonly secret?: readonly (readonly [credential: string, name: string])[];
  readonly withoutSecrets?: boolean;
  readonly variable?: readonly (readonly [name: string, value: string])[];
  readonly allTools?: boolean;
  readonly yes?: boolean;
}
