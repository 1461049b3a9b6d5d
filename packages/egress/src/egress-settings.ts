/** Resolves the settings of an egress. */

import type { EgressSettings } from "./egress-types.ts";

/** Settings with all defaults. */
export type ResolvedSettings = {
  readonly [Name in keyof EgressSettings]-?: NonNullable<EgressSettings[Name]>;
};

/** Returns `settings` with the defaults that `EgressSettings` documents. */
export function resolveEgressSettings(settings: EgressSettings): ResolvedSettings {
  return {
    internalRanges: settings.internalRanges ?? [],
    connectTo: settings.connectTo ?? {},
    caCertificates: settings.caCertificates ?? [],
    connectTimeoutMs: settings.connectTimeoutMs ?? 10_000,
    headersTimeoutMs: settings.headersTimeoutMs ?? 60_000,
    bodyTimeoutMs: settings.bodyTimeoutMs ?? 60_000,
    requestTimeoutMs: settings.requestTimeoutMs ?? 300_000,
    headersMaxBytes: settings.headersMaxBytes ?? 65_536,
    bodyMaxBytes: settings.bodyMaxBytes ?? 64 << 20,
    connectionsPerHost: settings.connectionsPerHost ?? 16,
    maxPools: settings.maxPools ?? 256,
    idleTimeoutMs: settings.idleTimeoutMs ?? 20_000,
  };
}
