/** The options of a registry, of its backends, tools, lists and calls, and what each may be. Data only. */

import { searchFields } from "@toolcrib/search";
import {
  anyOption,
  booleanOption,
  choiceOption,
  functionOption,
  integerOption,
  mapOption,
  numberOption,
  type OptionCheck,
  type OptionChecks,
  objectOption,
  recordOption,
  textListOption,
  textOption,
} from "./check-options.ts";
import type { LocalToolOptions } from "./local-source.ts";
import type {
  BackendConfig,
  ListingOptions,
  ListToolsOptions,
  RegistryConfig,
  RegistryHook,
  ServeOptions,
} from "./registry-types.ts";

/** Longest pause before the first retry, in milliseconds: later pauses are not longer either. */
const retryIntervalMaxMs = 60_000;
/** Most retries: they take years. */
const retriesMax = 1_000_000;
/** Largest weight of a field and saturation of a search. */
const weightMax = 1_000;

/** Checks of all fields of `Options`. */
type ChecksOf<Options> = { readonly [Name in keyof Required<Options>]: OptionCheck };

const rules = { allow: textListOption, deny: textListOption };

const listing: ChecksOf<ListingOptions> = {
  mode: choiceOption("full", "search", "auto"),
  ownTools: booleanOption,
  hidden: textListOption,
  pinned: textListOption,
};

const field = recordOption({ boost: numberOption(0, weightMax), b: numberOption(0, 1) });

const hook: ChecksOf<RegistryHook> = {
  tools: textListOption,
  timeoutMs: integerOption(1, 300_000),
  ask: functionOption,
};
const hooks = mapOption(recordOption(hook));

/** Options of `createRegistry`. */
export const registryOptions: ChecksOf<RegistryConfig> = {
  serverInfo: recordOption({ name: textOption, version: textOption, title: textOption }),
  backendSelector: functionOption,
  search: recordOption({
    k1: numberOption(0, weightMax),
    fields: recordOption(Object.fromEntries(searchFields.map((name) => [name, field]))),
  }),
  listing: recordOption(listing),
  policy: recordOption({
    ...rules,
    clients: mapOption(recordOption({ ...rules, identity: objectOption })),
    floor: objectOption,
  }),
  hooks: recordOption({ beforeCall: hooks, afterCall: hooks }),
  auditHome: textOption,
  logger: objectOption,
};

/** Options of `registerBackend`. */
export const backendOptions: ChecksOf<BackendConfig> = {
  name: textOption,
  namespace: textOption,
  url: textOption,
  headers: mapOption(textOption),
  maxRetries: integerOption(0, retriesMax),
  retryInterval: numberOption(1, retryIntervalMaxMs),
  transport: functionOption,
};

/** Options of `registerLocal`. */
export const localToolOptions: ChecksOf<LocalToolOptions> = {
  namespace: textOption,
  tags: textListOption,
  version: textOption,
  // The check of the definition covers these.
  title: anyOption,
  outputSchema: anyOption,
  annotations: anyOption,
};

/** Options of `listTools`. */
export const listToolsOptions: ChecksOf<ListToolsOptions> = {
  namespace: textOption,
  tags: textListOption,
  cursor: textOption,
  limit: integerOption(1, 1000),
  ownTools: booleanOption,
};

/** Options of `serveHttp` and `serveSse`. */
export const serveOptions: ChecksOf<ServeOptions> = { authenticate: functionOption };

/** Options of `execute`. */
export const callOptions: OptionChecks = { signal: objectOption, onProgress: functionOption };
