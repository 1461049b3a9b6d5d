/** The settings of installed packages, as a configuration has them. Types only. */

import type { MutabilityClass, TrustState } from "@toolcrib/policy";
import type { ContainedServer } from "@toolcrib/sandbox";
import type { SecretRef } from "@toolcrib/secrets";

/** The settings of one installed package. */
export interface PackageConfig {
  readonly isEnabled: boolean;
  readonly trustState: TrustState;
  readonly mutabilityClass: MutabilityClass;
  /** Whether its definition waits for an approval when it is listed for the first time. */
  readonly firstContact: "ask" | "pin";
  /** As declared; an omitted field is `undefined`. */
  readonly declared: { readonly maxExecutionSeconds?: number | undefined };
  /** As declared, or else by trust state. Paths are complete, or below `~/`. */
  readonly effective: ContainedServer["containment"]["effective"] & {
    /** Deadline of each call, in seconds. */
    readonly maxExecutionSeconds: number;
  };
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
    /** Calls that run at a time. */
    readonly maxConcurrentCalls: number;
    /** Bytes of the output of its program. */
    readonly outputMaxBytes: number;
  };
}

/** The settings of all installed packages. */
export interface PackagesConfig<Config extends PackageConfig = PackageConfig> {
  /** By toolId. */
  readonly byId: { readonly [toolId: string]: Config };
  /** Those of packages without an entry. */
  readonly others: Config;
  /** Programs of all packages that run at a time. */
  readonly maxPrograms: number;
}
