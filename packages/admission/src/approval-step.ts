/**
 * The step of a governed call that asks for the operator's approval: tools of unverified servers
 * that are not known to be read-only are called only after an approval of exactly that
 * call. The operator's own calls need none: a client never approves for itself, and the
 * operator is the one who approves. The operator can let the person at a client decide, in a
 * form that the client shows; never about the calls of composites, which that client may have written.
 */

import { type CodedError, isCodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { approvedArgumentsMaxBytes, type CallApprovals, escapeUnsafe } from "@toolcrib/store";
import { type CallContext, type Identity, identityKey, isOperator, type ToolId } from "@toolcrib/tool";
import { AdmissionError } from "./admission-error.ts";

/** Dependencies of the step. */
export interface ApprovalStepDeps {
  /** Without them, calls that need an approval are refused. */
  readonly approvals: Pick<CallApprovals, "request" | "giveBack"> | undefined;
  /** Returns the digest of the policy in force. */
  readonly policyDigest: () => string;
  readonly logger: Logger;
  /** The command by which the operator approves. */
  readonly approveCommand: string;
  /** Clients whose person may approve calls in a form (MCP elicitation), by their `identityKey`. */
  readonly elicitedClients: ReadonlySet<string>;
  /** Stores and records the answer of a form. */
  readonly decide: (id: string, decision: "approved" | "denied", client: Identity) => Promise<unknown>;
}

/** The tool that is called. */
export interface ApprovableTarget {
  readonly id: ToolId;
  readonly wireName: string;
  /** Its name in messages to the client. */
  readonly shownName: string;
  readonly server: string | undefined;
  /** Facts to which an approval of each call is bound besides the call; undefined for a tool whose calls need none. */
  readonly approval:
    | {
        readonly server: string;
        /** The word for that source, for people. @default "server" */
        readonly noun?: string | undefined;
        readonly definitionDigest: string;
        /** Whether the tool declares that it writes, so that `mutability_class: read_only` would block it. */
        readonly declaresWrites: boolean;
        /** Whether the tool itself needs an approval, and not only tools that it calls. @default true */
        readonly isOwn?: boolean;
      }
    | undefined;
}

/** The requester of a call. */
export interface ApprovableOrigin extends Pick<CallContext, "identity" | "session"> {
  readonly clientChannel: Pick<CallContext, "ask">;
  readonly signal: AbortSignal | undefined;
  /** Whether the client chose this call itself: not a composite. */
  readonly isDirect: boolean;
}

/** A call that is about to be made. */
export interface ApprovableCall {
  readonly origin: ApprovableOrigin;
  readonly argumentsDigest?: string;
  /** Returns all arguments without known secrets; undefined where they are too large for an approval. */
  readonly whole: () => JsonObject | undefined;
  /** The inner calls that it makes; absent for a call that makes none, or chooses them while it runs. */
  readonly steps?: ApprovableSteps | undefined;
  /** Whether the policy lets the client approve its own calls of the target in a form. */
  readonly mayApprove: () => boolean;
}

/** The inner calls of a call, as far as they are known before it is made. */
export interface ApprovableSteps {
  /** Digest of everything about them that is shown, and of the definitions of their tools. */
  readonly digest: string;
  /** Returns them for the operator, without known secrets. */
  readonly show: () => readonly JsonObject[];
  /** Names of their tools whose calls need an approval. */
  readonly needing: readonly string[];
}

/** The outcome of the step: the approval that the call uses up, or the reason why it is not made. */
export type ApprovalOutcome =
  | {
      readonly kind: "approved";
      readonly approval: string;
      /** Gives the approval back where the call is not made after all. Returns whether it is valid again. Never rejects. */
      readonly giveBack: () => Promise<boolean>;
    }
  | { readonly kind: "refused"; readonly error: CodedError; readonly approval: string | undefined };

/** Whether a call of `target` by `identity` needs the step. */
export function isApprovalNeeded(
  { approval }: Pick<ApprovableTarget, "approval">,
  identity: Identity,
): boolean {
  return approval !== undefined && !isOperator(identity);
}

/** Asks for the approval of a call that needs one. Never rejects. */
export async function askApproval(
  deps: ApprovalStepDeps,
  target: ApprovableTarget,
  call: ApprovableCall,
): Promise<ApprovalOutcome> {
  const { approvals, policyDigest, approveCommand } = deps;
  const { origin, argumentsDigest, whole, steps } = call;
  const { identity } = origin;
  const { id: tool, approval } = target;
  if (approval === undefined || approvals === undefined || argumentsDigest === undefined) {
    return refused(
      new AdmissionError("APPROVAL_REQUIRED", `${required(target, call)}, and nobody can give it here`),
    );
  }
  const { issuer, subject, name } = identity;
  const client = { issuer, subject, name };
  try {
    const { server, definitionDigest } = approval;
    const asked = {
      client,
      tool,
      server,
      definitionDigest,
      argumentsDigest,
      policyDigest: policyDigest(),
      ...(steps === undefined ? {} : { stepsDigest: steps.digest }),
    };
    const show = () => {
      const args = whole();
      return args && { arguments: args, ...(steps === undefined ? {} : { steps: steps.show() }) };
    };
    let permission = await approvals.request(asked, show);
    if (permission.kind === "pending" && mayAskPerson(deps, call)) {
      const decision = await askPerson(target, origin, whole());
      if (decision !== undefined) await deps.decide(permission.id, decision, identity);
      permission = await approvals.request(asked, show);
    }
    if (permission.kind !== "approved") {
      const error = errorOf(target, call, permission, approveCommand);
      return refused(error, "id" in permission ? permission.id : undefined);
    }
    const { id, used } = permission;
    const giveBack = () =>
      approvals.giveBack(used).catch((error: unknown) => {
        // It stays used up: the operator is asked once more.
        const code = isCodedError(error) ? error.code : undefined;
        const facts = { approval: id, tool, code, reason: messageOf(error) };
        deps.logger.warn(facts, "an approval of a call that was not made could not be given back");
        return false;
      });
    return { kind: "approved", approval: id, giveBack };
  } catch (cause) {
    const message = `${required(target, call)}, and approvals cannot be read or stored: ${messageOf(cause)}`;
    const hint = isCodedError(cause) ? cause.hint : undefined;
    return refused(new AdmissionError("APPROVAL_UNAVAILABLE", message, { cause, hint }));
  }
}

/**
 * Returns the origin of a call that a person approved or a hook checked. Of `_meta`, only the trace of the call reaches
 * the server, and of the capabilities of the client which questions it answers: a client chooses the rest, nobody sees
 * it, and no approval is bound to it.
 */
export function checkedOrigin<Origin extends Pick<CallContext, "meta" | "clientCapabilities">>(
  origin: Origin,
): Origin {
  const kept = Object.entries(origin.meta ?? {}).filter(
    ([key, value]) => typeof value === "string" && traceForms[key]?.test(value) === true,
  );
  const meta = kept.length === 0 ? undefined : Object.fromEntries(kept);
  const { clientCapabilities } = origin;
  if (clientCapabilities === undefined) return { ...origin, meta };
  return { ...origin, meta, clientCapabilities: answerableQuestions(clientCapabilities) };
}

/** The members of the capabilities that say which questions a client answers (2025-11-25 and 2026-07-28). */
const questionForms: { readonly [capability: string]: readonly string[] } = {
  sampling: ["context", "tools"],
  elicitation: ["form", "url"],
  roots: [],
};

function answerableQuestions(given: JsonObject): JsonObject {
  const answerable = Object.entries(questionForms).flatMap(([name, forms]) => {
    const capability = given[name];
    if (!isJsonObject(capability)) return [];
    const known = forms.filter((form) => capability[form] !== undefined);
    return [[name, Object.fromEntries(known.map((form) => [form, {}]))]];
  });
  return Object.fromEntries(answerable) as JsonObject;
}

/** The members of a trace and their forms (W3C Trace Context). Baggage is data of applications, and not one of them. */
const traceForms: { readonly [key: string]: RegExp } = {
  traceparent: /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/,
  tracestate:
    /^[a-z0-9][\w*/@-]{0,255}=[!-+\--<>-~]{1,256}(?:,[a-z0-9][\w*/@-]{0,255}=[!-+\--<>-~]{1,256}){0,31}$/,
};

/** Longest time that a form waits for its answer, in milliseconds. @limit client */
const formTimeoutMs = 120_000;
/** Characters of the arguments in a form. @limit client */
const formMaxLength = 2000;

/** Whether the person at the client decides: the operator allowed that, the client shows forms, and no composite chose the call. */
function mayAskPerson(
  { elicitedClients }: ApprovalStepDeps,
  { origin: { identity, session, isDirect }, mayApprove }: ApprovableCall,
): boolean {
  return (
    isDirect &&
    elicitedClients.has(identityKey(identity)) &&
    mayApprove() &&
    isJsonObject(session?.capabilities["elicitation"])
  );
}

/**
 * Asks the person at the client about a call.
 *
 * @returns undefined without a decision: the form was closed or failed, or the arguments do not fit into it. Nobody
 *   approves what is not shown.
 */
async function askPerson(
  { wireName, server, approval }: ApprovableTarget,
  { clientChannel, signal }: ApprovableOrigin,
  args: JsonObject | undefined,
): Promise<"approved" | "denied" | undefined> {
  const shown = args === undefined ? undefined : escapeUnsafe(JSON.stringify(args));
  if (shown === undefined || shown.length > formMaxLength) return undefined;
  const params = {
    // Questions of servers begin with the name of the server, and never with that of the gateway.
    message: `Toolcrib asks: allow one call of "${wireName}" of the ${approval?.noun ?? "server"} "${server}", which nobody has verified? Arguments: ${shown}`,
    requestedSchema: {
      type: "object",
      properties: {
        approve: {
          type: "boolean",
          title: "Approve",
          description: "Make exactly this call, once",
          default: false,
        },
      },
      required: ["approve"],
    },
  };
  const timeout = AbortSignal.timeout(formTimeoutMs);
  try {
    const until = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const { action, content } = await clientChannel.ask("elicitation/create", params, until);
    if (action === "decline") return "denied";
    const isApproved = action === "accept" && isJsonObject(content) && content["approve"] === true;
    return isApproved ? "approved" : undefined;
  } catch {
    return undefined;
  }
}

function refused(error: CodedError, approval?: string): ApprovalOutcome {
  return { kind: "refused", error, approval };
}

function required(
  { shownName, approval }: ApprovableTarget,
  { steps }: Pick<ApprovableCall, "steps">,
): string {
  const start = `"${shownName}" was not called: each call needs the operator's approval, because`;
  const noun = approval?.noun ?? "server";
  const names = steps?.needing.map((name) => `"${name}"`).join(", ") ?? "";
  if (approval?.isOwn === false) return `${start} it calls tools of unverified sources: ${names}`;
  const own = `${start} its ${noun} "${approval?.server}" is unverified and the tool is not known to be read-only`;
  return names === "" ? own : `${own}; it calls other such tools: ${names}`;
}

type Permission = Awaited<ReturnType<CallApprovals["request"]>>;

function errorOf(
  target: ApprovableTarget,
  call: Pick<ApprovableCall, "steps">,
  permission: Exclude<Permission, { readonly kind: "approved" }>,
  command: string,
): AdmissionError {
  const isOwn = target.approval?.isOwn !== false;
  const names = [...(isOwn ? [target.wireName] : []), ...(call.steps?.needing ?? [])];
  const waiver = `policy.waive_approval: [${[...new Set(names)].map((name) => `"${name}"`).join(", ")}]`;
  const trust = `trust_state: verified for the ${names.length > 1 || !isOwn ? "sources" : (target.approval?.noun ?? "server")}`;
  switch (permission.kind) {
    case "pending":
      return new AdmissionError("APPROVAL_REQUIRED", required(target, call), {
        hint: `the operator can approve exactly this call: ${command} ${permission.id}; repeat the call with the same arguments within 10 minutes of the approval. To call the tool without approvals, the operator can set ${waiver}${target.approval?.declaresWrites === true ? "" : ", or mutability_class: read_only"}; or ${trust}, which also gives a process the network unless it has containment: { network_egress: deny }`,
        data: { approval: permission.id },
      });
    case "denied":
      return new AdmissionError(
        "APPROVAL_DENIED",
        `"${target.shownName}" was not called: exactly this call was denied (${permission.id})`,
        { hint: "do not repeat it; ask the user what to do instead", data: { approval: permission.id } },
      );
    case "full":
      return new AdmissionError(
        "APPROVALS_FULL",
        `${required(target, call)}, and too many calls of this client wait for one`,
        { hint: `wait until the operator decided about earlier calls (${command})` },
      );
    case "too_large":
      return new AdmissionError(
        "APPROVAL_TOO_LARGE",
        `${required(target, call)}, and nobody can read its arguments for one: they have more than ${approvedArgumentsMaxBytes} bytes, or a name in the call is too long`,
        {
          hint: `pass less in one call. To call the tool without approvals, the operator can set ${waiver}`,
        },
      );
  }
}
