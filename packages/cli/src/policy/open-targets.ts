/**
 * The policy that a question is about, and everything that it decides about: tools, resources and prompts
 * of the running gateway, or of a gateway that is started for the command. What a running gateway decides
 * follows from the policy that it has in force, and not from files that changed after it.
 */

import { resolve } from "node:path";
import type { WaitingDefinitions } from "@toolcrib/admission";
import type { PolicyConfig } from "@toolcrib/config";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import { isJsonObject } from "@toolcrib/json";
import type { PolicyTarget } from "@toolcrib/policy";
import { getFromGateway, listTimeoutMs } from "../access/gateway-api.ts";
import { findReachableGateways, missingOf, noteMissing } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { statesOf } from "../access/server-states.ts";
import type { ServerState } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";

/** The context of a question about the policy. */
export interface PolicySituation {
  readonly policy: PolicyConfig;
  readonly targets: readonly PolicyTarget[];
  /** Those of which no call is made, whatever the policy decides; undefined where the files differ from those of the gateway, or it is of an earlier version. */
  readonly blocked: GatewayAnswer["blocked"] | undefined;
  /** Servers and toolspecs that are not available: what they have is not among the targets. */
  readonly unavailable: readonly ServerState[];
  /** The definition of the tool that the question is about, where it waits for approval. */
  readonly waiting?: WaitingTool | undefined;
  /** The limit that would refuse the call of `limitQuestion` now; null where none would, undefined where that is not known. */
  readonly limit?: GatewayAnswer["limit"];
  /** What an approval of that call is bound to now; undefined where that is not known. */
  readonly approval?: GatewayAnswer["approval"];
  readonly origin: PolicyOrigin;
}

/** A tool of which a definition waits for approval. */
export interface WaitingTool {
  readonly server: string;
  /** Whether another definition of it was accepted before. */
  readonly isChanged: boolean;
}

/** Where a policy comes from. */
export interface PolicyOrigin {
  /** `gateway`: in force in a running gateway. `files`: as the files are now. */
  readonly of: "gateway" | "files";
  /** Base URL of the gateway. */
  readonly url?: string;
  /** Digest of the policy files in force; absent where there are none. */
  readonly digest?: string;
  /** Files that differ from what is in force, each with the reason why that is so. */
  readonly notInForce: readonly string[];
}

/** Options of `openPolicySituation`. */
export interface SituationOptions {
  /** Whether the policy is that of the files, although a gateway runs with them. @default false */
  readonly onDisk?: boolean | undefined;
  /** The only tool, resource or prompt that the question is about: warnings about other servers are left out. @default all */
  readonly about?: string | undefined;
  /** Returns the call about which the gateway says whether a limit would refuse it now. @default none */
  readonly limitQuestion?:
    | ((found: Pick<PolicySituation, "policy" | "targets">) => Promise<LimitQuestion | undefined>)
    | undefined;
}

/** The answer of a running gateway. */
type GatewayAnswer = ReturnType<Gateway["policySituation"]>;
/** A call about which a gateway says whether a limit would refuse it now. */
export type LimitQuestion = NonNullable<Parameters<Gateway["policySituation"]>[0]>;

/**
 * Returns the policy of the running gateway of the home, or, without one, that of the files with the servers
 * started for the command. With `--config` of other files, the policy is that of the files, and the targets are
 * still those of the running gateway, so that a changed policy can be compared with what runs.
 *
 * @throws {CodedError} when the gateway or the configuration cannot be used.
 */
export async function openPolicySituation(
  context: CliContext,
  { onDisk = false, about, limitQuestion }: SituationOptions = {},
): Promise<PolicySituation> {
  const found = await findReachableGateways(context.options.home);
  const same = found.find((one) => isOfSameFiles(context, one));
  const running = same ?? found[0];
  if (running === undefined) return openLocalSituation(context, about, limitQuestion);
  const answer = await askGateway(running, context.signal);
  const status = await getFromGateway(running, "/api/v1/status", context.signal);
  const states = statesOf(status as unknown as GatewayStatus);
  const { targets, blocked } = answer;
  const unavailable = missingOf(states);
  const waiting = await findWaiting(about, states, targets, async (id) => {
    const path = `/api/v1/servers/${encodeURIComponent(id)}/definitions`;
    return (await getFromGateway(running, path, context.signal)) as unknown as WaitingDefinitions;
  });
  if (waiting === undefined) noteMissing(context, concerning(about, states, targets));
  // A gateway of an earlier version does not report its policy.
  if (onDisk || same === undefined || answer.policy === undefined) {
    const { config } = await loadCliConfig(withFilesOf(context, running.configFiles));
    const origin = { of: "files", notInForce: [] } as const;
    // What the gateway blocks follows from its own configuration.
    return { policy: config.policy, targets, blocked: undefined, unavailable, waiting, origin };
  }
  const { policy, digest } = answer;
  const notInForce = await findNotInForce(withFilesOf(context, running.configFiles), policy);
  for (const line of notInForce) warn(context, line);
  const origin = { of: "gateway", url: running.url, notInForce } as const;
  const question = await limitQuestion?.({ policy, targets });
  const { limit, approval } = question ? await askGateway(running, context.signal, question) : {};
  return {
    policy,
    targets,
    blocked,
    unavailable,
    waiting,
    limit,
    approval,
    origin: digest === undefined ? origin : { ...origin, digest },
  };
}

/** Returns the line that names the policy of an answer. */
export function originLine({ of, url, digest }: PolicyOrigin): string {
  if (of === "files") return "By the policy as its files are now";
  const version = digest === undefined ? "" : ` (${digest.slice(0, "sha256:".length + 12)}…)`;
  return safeLine(`By the policy in force in the gateway at ${url}${version}`);
}

/** Finds a target by its id or its wire name. */
export function findTarget(targets: readonly PolicyTarget[], name: string): PolicyTarget | undefined {
  return targets.find(({ id, wireName }) => id === name || wireName === name);
}

/**
 * Finds a tool by the name that the configuration gives it (`tools`) in place of the one at its server: policies
 * keep the server's name, and clients see the other. Returns nothing where the configuration cannot be read.
 */
export async function findRenamed(
  context: CliContext,
  targets: readonly PolicyTarget[],
  name: string,
): Promise<PolicyTarget | undefined> {
  const [running] = await findReachableGateways(context.options.home);
  let overrides: LoadedConfig["config"]["toolOverrides"];
  try {
    overrides = (await loadCliConfig(withFilesOf(context, running?.configFiles ?? []))).config.toolOverrides;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return undefined;
  }
  for (const { pattern, name: given } of overrides) {
    const target = given === undefined ? undefined : findTarget(targets, pattern);
    if (target === undefined) continue;
    const namespace = target.id.slice(0, target.id.indexOf(":"));
    if (name === `${namespace}:${given}` || name === `${namespace}__${given}`) return target;
  }
  return undefined;
}

async function openLocalSituation(
  context: CliContext,
  about: string | undefined,
  limitQuestion: SituationOptions["limitQuestion"],
): Promise<PolicySituation> {
  const loaded = await loadCliConfig(context);
  const logger = createCommandLogger(context, "silent");
  const { startLocalGateway } = await import("../access/local-tools.ts");
  await using gateway = await startLocalGateway(context, loaded, logger, undefined);
  const { policy, targets, blocked } = gateway.policySituation();
  const states = statesOf(gateway.sources());
  const waiting = await findWaiting(about, states, targets, (id) => gateway.approvals.definitions(id));
  if (waiting === undefined) noteMissing(context, concerning(about, states, targets));
  const origin = { of: "files", notInForce: [] } as const;
  const question = await limitQuestion?.({ policy, targets });
  const { limit, approval } = question ? gateway.policySituation(question) : {};
  const unavailable = missingOf(states);
  return { policy, targets, blocked, unavailable, waiting, limit, approval, origin };
}

/** Returns the definition of the tool `about` that waits for approval: the first one, or a changed one. */
async function findWaiting(
  about: string | undefined,
  states: readonly ServerState[],
  targets: readonly PolicyTarget[],
  definitionsOf: (id: string) => WaitingDefinitions | Promise<WaitingDefinitions>,
): Promise<WaitingTool | undefined> {
  if (about === undefined || findTarget(targets, about) !== undefined) return undefined;
  for (const { id } of states) {
    if (!isNameOf(about, id)) continue;
    const { definitions } = await definitionsOf(id);
    const waiting = definitions.find(
      ({ kind, name }) => kind === "tool" && (about === `${id}:${name}` || about === `${id}__${name}`),
    );
    if (waiting !== undefined) return { server: id, isChanged: waiting.isChanged };
  }
  return undefined;
}

/**
 * Returns the servers that a warning is about: none where `about` is known, and its own one where its name says which
 * that is. That this one is not available is part of the answer then; that other tools of it wait for approval is not.
 */
function concerning(
  about: string | undefined,
  states: readonly ServerState[],
  targets: readonly PolicyTarget[],
): readonly ServerState[] {
  if (about === undefined) return states;
  if (findTarget(targets, about) !== undefined) return [];
  const own = states.filter(({ id }) => isNameOf(about, id));
  return own.length === 0 ? states : own.filter((one) => missingOf([one]).length === 0);
}

/** Whether `name` is, by its form, one of the server or toolspec `id`. */
export function isNameOf(name: string, id: string): boolean {
  return name.startsWith(`${id}:`) || name.startsWith(`${id}__`);
}

async function askGateway(
  running: RunningGateway,
  signal: AbortSignal,
  question?: LimitQuestion,
): Promise<
  Pick<GatewayAnswer, "targets" | "digest"> &
    Partial<Pick<GatewayAnswer, "policy" | "approval" | "blocked" | "limit">>
> {
  const path = `/api/v1/policy/targets${question === undefined ? "" : `?${queryOf(question)}`}`;
  const answer = await getFromGateway(running, path, signal, listTimeoutMs);
  if (!isJsonObject(answer) || !Array.isArray(answer["targets"])) {
    const message = `The gateway at ${running.url} does not report what its policy decides about`;
    throw new CliError("CLI_GATEWAY_UNUSABLE", message, { hint: "it may run another version: restart it" });
  }
  return answer as unknown as GatewayAnswer;
}

function queryOf({ target, identity: { issuer, subject, name } }: LimitQuestion): URLSearchParams {
  return new URLSearchParams({ target, issuer, subject, name });
}

/** Whether the command is about the configuration of a gateway: it names no other one. */
function isOfSameFiles({ options, directory }: CliContext, { configFiles }: RunningGateway): boolean {
  const named = options.configFiles.map((path) => resolve(directory, path));
  return named.length === 0 || JSON.stringify(named) === JSON.stringify(configFiles);
}

/** Returns the context with the configuration of the running gateway, unless `--config` names another one. */
function withFilesOf(context: CliContext, files: readonly string[]): CliContext {
  const { options } = context;
  if (options.configFiles.length > 0 || files.length === 0) return context;
  return { ...context, options: { ...options, configFiles: files } };
}

/** Compares the files with the policy in force. Never rejects. */
async function findNotInForce(context: CliContext, inForce: PolicyConfig): Promise<readonly string[]> {
  let onDisk: PolicyConfig;
  try {
    onDisk = (await loadCliConfig(context)).config.policy;
  } catch (error) {
    const broken = brokenFiles(error);
    const which = broken.length === 0 ? context.options.configFiles : broken;
    const why = broken.length === 0 ? `: ${messageOf(error)}` : "";
    return which.map((name) =>
      asTyped(`${name} is broken and is not in force${why}; see toolcrib policy check`, context),
    );
  }
  const lists = ({ allow, deny, clients, waiveApproval }: PolicyConfig) =>
    JSON.stringify([allow, deny, clients, waiveApproval]);
  const changed = onDisk.files.filter(
    ({ path, text }) => inForce.files.find((one) => one.path === path)?.text !== text,
  );
  const removed = inForce.files.filter(({ path }) => !onDisk.files.some((one) => one.path === path));
  return [
    ...(lists(onDisk) === lists(inForce)
      ? []
      : [
          asTyped(
            "the section policy of the configuration changed and is not in force: run toolcrib reload, which says why",
            context,
          ),
        ]),
    ...changed.map(({ name }) => `${name} differs and is not in force yet`),
    ...removed.map(({ name }) =>
      asTyped(
        `${name} was removed from policy.files and is still in force: run toolcrib reload, which says why`,
        context,
      ),
    ),
  ];
}

/** Returns the names of the files with errors. */
function brokenFiles(error: unknown): readonly string[] {
  const found = isCodedError(error) ? error.data?.["diagnostics"] : undefined;
  const diagnostics = (Array.isArray(found) ? found : []) as readonly {
    readonly severity: string;
    readonly source?: { readonly name: string };
  }[];
  return [
    ...new Set(
      diagnostics.flatMap(({ severity, source }) =>
        severity === "error" && source !== undefined ? [source.name] : [],
      ),
    ),
  ];
}

function warn({ output }: CliContext, text: string): void {
  output.note(`${output.noteStyle("yellow", "warning")}: ${safeLine(text)}`);
}
