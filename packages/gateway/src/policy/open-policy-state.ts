/** Opens what the policy of a running gateway depends on: its files, and the labels that clients have seen. */

import type { ApprovalBinding, CallLimits } from "@toolcrib/admission";
import type { LivePolicies } from "@toolcrib/cedar";
import type { PolicyConfig } from "@toolcrib/config";
import { type CodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { findIdleRules, type PolicyTargets, warnAboutIdleRules } from "@toolcrib/inventory";
import { createClientAttributes, type FilePolicies } from "@toolcrib/policy";
import { type AuditStore, SeenLabels } from "@toolcrib/store";
import { type Identity, ownNamespace } from "@toolcrib/tool";
import type { GatewayCore } from "../gateway-core.ts";

type PoliciesConfig = Parameters<typeof findIdleRules>[0] & { readonly policy: PolicyConfig };

/** The parts of the gateway that policy files need. */
export interface PoliciesDeps {
  readonly core: GatewayCore;
  /** Returns the configuration in force. */
  readonly config: () => PoliciesConfig;
  readonly record: AuditStore["record"];
  readonly logger: Logger;
}

/** The policy files of another configuration. Either `commit` or `abandon` is called, once. */
export interface PreparedPolicyFiles {
  readonly files: FilePolicies | undefined;
  /** Call it at once after the gateway decides by `files`. It changes all or, where it throws, nothing. */
  commit(): LivePolicies | undefined;
  abandon(): Promise<void>;
}

/** Prepares the policy files of another configuration. @throws {CedarError} `POLICY_INVALID` */
export async function preparePolicies(
  known: LivePolicies | undefined,
  { policy }: PoliciesConfig,
  deps: PoliciesDeps,
): Promise<PreparedPolicyFiles> {
  const { files, clients } = policy;
  if (known === undefined || files.length === 0) {
    const live = await openPolicies({ policy }, deps);
    return {
      files: live?.current,
      commit() {
        live?.start();
        known?.[Symbol.asyncDispose]().catch((error: unknown) =>
          deps.logger.error({ reason: messageOf(error) }, "replaced policies could not be ended"),
        );
        return live;
      },
      abandon: async () => await live?.[Symbol.asyncDispose](),
    };
  }
  const prepared = await known.prepare(files, createClientAttributes(clients));
  return {
    files: prepared.policies,
    commit() {
      prepared.commit();
      return known;
    },
    abandon: async () => prepared[Symbol.dispose](),
  };
}

/**
 * Opens the policy files of a configuration. `start` puts their policies in force, and those of each change of the files.
 *
 * @throws {CedarError} `POLICY_INVALID`
 */
export async function openPolicies(
  { policy: { files, clients } }: Pick<PoliciesConfig, "policy">,
  { core, config, record, logger }: PoliciesDeps,
): Promise<LivePolicies | undefined> {
  if (files.length === 0) return undefined;
  // Loaded on demand: most configurations have no policy files.
  const { LivePolicies } = await import("@toolcrib/cedar");
  const attributesOf = createClientAttributes(clients);
  const deps = {
    policy: core.policy,
    attributesOf,
    record,
    logger,
    onReplaced: () => core.service.policyReplaced(),
    checkNames(named: ReturnType<LivePolicies["namedTargets"]>) {
      const idle = findIdleRules(config(), core.index, core.roster, named);
      warnAboutIdleRules(
        logger,
        idle.filter(({ path }) => named.some(({ rule }) => rule === path)),
      );
    },
  };
  return await LivePolicies.load(files, deps);
}

/** Milliseconds between two polls for labels that other gateways of the home stored. */
const labelsPollMs = 1000;

/** Opens the labels that clients have seen. @param known the labels of all sources; without any, nothing is opened */
export async function openSeenLabels(
  known: readonly string[],
  {
    home,
    logger,
    now,
    randomBytes,
  }: {
    readonly home: string;
    readonly logger: Logger;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
    /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
    readonly randomBytes: (count: number) => Uint8Array;
  },
  opening: AsyncDisposableStack,
): Promise<SeenLabels | undefined> {
  if (known.length === 0) return undefined;
  const labels = new SeenLabels(home, {
    known,
    now,
    randomBytes,
    onProblem: ({ code, message }) => logger.warn({ code, reason: message }, "labels of data"),
  });
  await labels.refresh();
  let reading: Promise<void> | undefined;
  const timer = setInterval(() => {
    reading ??= labels.refresh().finally(() => (reading = undefined));
  }, labelsPollMs).unref();
  opening.defer(async () => {
    clearInterval(timer);
    await reading;
  });
  return labels;
}

/** The policy that is in force, and what it decides about. */
export interface PolicySituation extends PolicyTargets {
  /** The lists as they were when the gateway started, and the policy files with the texts that are in force. */
  readonly policy: PolicyConfig;
  /** Digest of the policies in force; absent where there are no policy files. */
  readonly digest?: string;
  /** The limit that would refuse the call of the question; null where none would, absent without a question about a target. */
  readonly limit?: RefusingLimit | null;
  /** What an approval of the call of the question is bound to now; absent without a question. */
  readonly approval?: ApprovalBinding;
}

/** A call about which the operator asks whether a limit would refuse it now, and whether an approval of it counts. */
export interface LimitQuestion {
  /** Id of a tool, resource or prompt. */
  readonly target: string;
  readonly identity: Identity;
}

/** A limit that would refuse a call now, as the caller would read it. */
export interface RefusingLimit extends Pick<CodedError, "code" | "message" | "hint"> {
  /** `limit.` and the name of the limit. */
  readonly rule: string;
}

/** Returns the limit that would refuse a call now: null for none, undefined where nothing has this id. Counts nothing. */
export function refusingLimitOf(
  limits: CallLimits | undefined,
  { targets }: Pick<PolicyTargets, "targets">,
  { target: id, identity }: LimitQuestion,
): RefusingLimit | null | undefined {
  const target = targets.find((one) => one.id === id);
  if (target === undefined) return undefined;
  const { wireName, server } = target;
  const isOwn = server.id === ownNamespace;
  const asked = { id: target.id, wireName, server: server.id, shownName: wireName, isOwn };
  const refusal = limits?.wouldRefuse(asked, { identity });
  if (refusal === undefined) return null;
  const { code, message, hint } = refusal.error;
  return { code, message, hint, rule: refusal.rule };
}

/** Returns the policy in force with what it decides about. @param live the policy files; undefined where there are none */
export function policySituationOf(
  policy: PolicyConfig,
  live: LivePolicies | undefined,
  about: PolicyTargets,
): PolicySituation {
  if (live === undefined) return { ...about, policy };
  return { ...about, policy: { ...policy, files: live.files }, digest: live.current.digest };
}
