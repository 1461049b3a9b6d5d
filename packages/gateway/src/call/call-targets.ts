/**
 * Targets of governed calls for the tools of the index and for the resources
 * and prompts of servers. Everything that depends on the source comes from the
 * facts about it.
 */

import type { ToolOverrides } from "@toolcrib/discovery";
import type { Backend, BackendSelector, FeatureSource, IndexedTool, ToolIndex } from "@toolcrib/inventory";
import {
  deadlineOf,
  type FeatureKind,
  featureSubject,
  type SourceFacts,
  violationsOf,
} from "@toolcrib/inventory";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { findViolations, needsApproval, type ToolPatterns } from "@toolcrib/policy";
import { digestOf } from "@toolcrib/store";
import { isInputRequired } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import type { UnknownTools } from "../service/unknown-tool.ts";
import { advisedAnswer, withAdvice } from "./advised.ts";
import type { CallTarget } from "./call-target.ts";
import { currentEntry } from "./current-entry.ts";
import { currentFeature } from "./current-feature.ts";
import { sourceLabel, unverifiedLabel } from "./origin-label.ts";

/** Dependencies of `CallTargets`. */
export interface CallTargetsDeps {
  readonly selectBackend: BackendSelector;
  readonly index: Pick<ToolIndex, "find">;
  readonly unknownTools: Pick<UnknownTools, "errorFor">;
  /** Tools of unverified servers whose calls need no approval (`policy.waive_approval`). */
  readonly waived: ToolPatterns;
  /** Changes of tools by the operator. */
  readonly overrides: ToolOverrides;
}

/** Makes targets. The target of a tool is kept with its entry in the index. */
export class CallTargets {
  #deps: CallTargetsDeps;
  #targets = new WeakMap<IndexedTool, CallTarget>();
  #ownTargets = new WeakMap<IndexedTool, CallTarget>();

  constructor(deps: CallTargetsDeps) {
    this.#deps = deps;
  }

  /** Makes targets by other settings from now on. */
  replace({ waived, overrides }: Pick<CallTargetsDeps, "waived" | "overrides">): void {
    this.#deps = { ...this.#deps, waived, overrides };
    this.#targets = new WeakMap();
    this.#ownTargets = new WeakMap();
  }

  /** Returns the target that calls the tool of `entry`. @param isPrefixed false on the endpoint of its server */
  forTool(entry: IndexedTool, isPrefixed = true): CallTarget {
    const targets = isPrefixed ? this.#targets : this.#ownTargets;
    let target = targets.get(entry);
    if (target === undefined) {
      target = toolTarget(entry, isPrefixed ? entry.listedName : entry.shownDefinition.name, this.#deps);
      targets.set(entry, target);
    }
    return target;
  }

  /** Returns the target of the tool `name`, by its id or wire name, that the index has now. */
  find(name: string): CallTarget | undefined {
    const entry = this.#deps.index.find(name);
    return entry && this.forTool(entry);
  }

  /**
   * Returns a target for a resource or prompt of `source`.
   *
   * @param method `resources/read`, `prompts/get` or `completion/complete`; its parameters are the call's arguments.
   */
  forFeature(source: FeatureSource, kind: FeatureKind, name: string, method: string): CallTarget {
    const { wireName } = featureSubject(source, kind, name);
    const assertCurrent = currentFeature(source, kind, name, wireName);
    const target = this.forFeatureAction(source, kind, name, method, async (params, context) => {
      const current = () => {
        context.recheck?.();
        assertCurrent(context.era);
      };
      return toResult(await source.features.request(method, params, context, current), wireName);
    });
    // Several servers can list one URI.
    return method === "resources/read"
      ? { ...target, label: target.label ?? sourceLabel(source.id) }
      : target;
  }

  /** Returns a target that runs `execute` for a resource or prompt of `source`, as an answer to `method`. */
  forFeatureAction(
    source: FeatureSource,
    kind: FeatureKind,
    name: string,
    method: string,
    execute: CallTarget["execute"],
  ): CallTarget {
    const subject = featureSubject(source, kind, name);
    const { id, wireName } = subject;
    return {
      subject,
      id,
      wireName,
      method,
      shownName: wireName,
      origin: source.source.origin,
      isOwn: false,
      ...governanceOf(source.id, source.facts),
      violations: violationsOf(subject),
      ...unverifiedFacts(source.id, source.facts),
      // Reading a resource or a prompt changes nothing.
      approval: undefined,
      definitionDigest: () => "",
      plan: undefined,
      callsTools: false,
      asksForInnerCalls: false,
      deadlineMs: source.facts.deadlineMs,
      inputSchema: undefined,
      shownSchema: undefined,
      override: undefined,
      coercesArguments: false,
      passesNulls: false,
      outputSchema: undefined,
      execute,
    };
  }
}

function toolTarget(entry: IndexedTool, shownName: string, deps: CallTargetsDeps): CallTarget {
  const { id, wireName, tool, source, facts } = entry;
  let definitionDigest: string | undefined;
  return {
    subject: entry,
    id,
    wireName,
    method: "tools/call",
    shownName,
    origin: tool.origin,
    isOwn: facts.isOwn,
    ...governanceOf(source.id, facts),
    violations: violationsOf(entry),
    ...unverifiedFacts(source.id, facts),
    approval: approvalOf(entry, deps),
    definitionDigest: () => (definitionDigest ??= digestOf(tool.definition)),
    plan: source.planCall && ((args, caller) => source.planCall?.(tool, args, caller)),
    callsTools: facts.callsTools,
    asksForInnerCalls: facts.callsTools && source.returnsQuestions !== true,
    deadlineMs: deadlineOf(source, facts, tool),
    inputSchema: source.checksArguments === true ? undefined : tool.definition.inputSchema,
    shownSchema: entry.shownDefinition.inputSchema,
    override: deps.overrides.of(id, wireName),
    coercesArguments: facts.coercesArguments,
    passesNulls: facts.backendKind === "mcp",
    outputSchema: tool.definition.outputSchema,
    taskSupport: tool.definition.execution?.taskSupport,
    async execute(args, context) {
      const current = () => {
        context.recheck?.();
        return currentEntry(entry, shownName, context, deps);
      };
      let backend = chosenBackend(entry, deps);
      const connecting = backend.source.connect?.(context);
      if (connecting !== undefined) {
        await connecting;
        backend = chosenBackend(current(), deps);
      }
      const { advise } = facts;
      if (advise === undefined)
        return toToolResult(
          await backend.source.call(backend.tool, args, context, current),
          shownName,
          backend,
        );
      const answer = await advisedAnswer(backend.source.call(backend.tool, args, context, current), advise);
      return withAdvice(toToolResult(answer, shownName, backend), advise);
    },
  };
}

function unverifiedFacts(
  sourceId: string,
  { trust }: SourceFacts,
): Pick<CallTarget, "isUnverified" | "label"> {
  const isUnverified = trust?.trustState === "unverified";
  return { isUnverified, label: isUnverified ? unverifiedLabel(sourceId) : undefined };
}

/** Returns what approvals of calls of a tool are bound to; undefined where its calls need none. */
function approvalOf(
  { id, wireName, tool, source, facts }: IndexedTool,
  { waived }: CallTargetsDeps,
): CallTarget["approval"] {
  const { trust } = facts;
  const claims = tool.definition.annotations ?? {};
  if (trust === undefined || !needsApproval(trust, claims) || waived.find(id, wireName) !== undefined) {
    return undefined;
  }
  const ifReadOnly = findViolations({ ...trust, mutabilityClass: "read_only" }, claims);
  return {
    server: source.id,
    noun: facts.configured?.group.slice(0, -1),
    definitionDigest: digestOf(tool.definition),
    declaresWrites: ifReadOnly.some(({ rule }) => rule.event === "mutability.violation"),
  };
}

/** @throws {GatewayError} `BACKEND_NOT_FOUND` */
function chosenBackend({ id, backends }: IndexedTool, { selectBackend }: CallTargetsDeps): Backend {
  const backend = backends.length === 1 ? backends[0] : selectBackend(backends);
  if (backend !== undefined && backends.includes(backend)) return backend;
  throw new GatewayError("BACKEND_NOT_FOUND", `The backend selector chose no backend of "${id}"`);
}

function governanceOf(
  sourceId: string,
  { configured, containment, deadlineSetting }: SourceFacts,
): Pick<CallTarget, "server" | "containment" | "deadlineSetting"> {
  return {
    server: configured === undefined ? undefined : sourceId,
    containment: containment(),
    deadlineSetting,
  };
}

/** Returns the answer of a source if it is a result. @throws {GatewayError} `RESULT_INVALID` */
function toResult(answer: unknown, wireName: string): JsonObject {
  if (isJsonObject(answer)) return answer;
  throw new GatewayError("RESULT_INVALID", `The answer of "${wireName}" is not a result`, {
    hint: "report it to the operator of this server; the answer was not passed on",
  });
}

/** Adds an empty content list where a server left it out. */
function toToolResult(answer: unknown, wireName: string, { source }: Backend): JsonObject {
  const result = toResult(answer, wireName);
  if (isInputRequired(result)) {
    if (source.returnsQuestions === true) return result;
    const { resultType: _type, inputRequests: _requests, requestState: _state, ...rest } = result;
    return { content: [], ...rest };
  }
  return Array.isArray(result["content"]) ? result : { ...result, content: [] };
}
