/** The hooks of a registry: functions of the embedding program that are asked about calls. */

import { Hooks } from "@toolcrib/hooks";
import type { JsonObject } from "@toolcrib/json";
import type { RegistryConfig, RegistryHook } from "./registry-types.ts";

type HookRule = Parameters<Hooks["ask"]>[0];

/** Milliseconds in which a hook must answer, unless it says otherwise. */
const defaultTimeoutMs = 5000;

/** The limits that hooks of a configuration have by default. */
const limits = {
  maxRunning: 16,
  maxWaiting: 128,
  inputMaxBytes: 4 * 1024 * 1024,
  answerMaxBytes: 4 * 1024 * 1024,
};

type RegistryHooksDeps = Pick<ConstructorParameters<typeof Hooks>[1], "monotonicMs" | "randomBytes">;

/** Returns the hooks of `config`; undefined if it has none. @param deps as in `HooksDeps` */
export function createRegistryHooks(
  { hooks }: RegistryConfig,
  { monotonicMs, randomBytes }: RegistryHooksDeps,
): { readonly hooks: Hooks; readonly monotonicMs: () => number } | undefined {
  const { beforeCall = {}, afterCall = {} } = hooks ?? {};
  const rules = (some: { readonly [name: string]: RegistryHook }) => Object.entries(some).map(toRule);
  const settings = { before: rules(beforeCall), after: rules(afterCall), limits };
  if (settings.before.length + settings.after.length === 0) return undefined;
  return { hooks: new Hooks(settings, { clientKeys: () => [], monotonicMs, randomBytes }), monotonicMs };
}

function toRule([name, { tools, timeoutMs = defaultTimeoutMs, ask }]: [string, RegistryHook]): HookRule {
  return {
    name,
    tools,
    clients: undefined,
    timeoutMs,
    // As text, so that a function changes nothing of a call but by its answer.
    async send(question, { signal }) {
      return JSON.stringify(await ask(JSON.parse(question) as JsonObject, { signal })) ?? "";
    },
  };
}
