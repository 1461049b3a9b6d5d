/**
 * The policy of a gateway: the lists of the configuration, and then the policy
 * files where there are any. Both must allow. Both can be replaced while the
 * gateway runs; a decision sees either all of the old or all of the new ones.
 *
 * It records nothing, and it never allows what one of the two denies.
 */

import type { Identity, ToolId } from "@toolcrib/tool";
import type { CallFacts, PolicyAction, PolicyServer, PolicyTarget } from "./access-request.ts";
import type { Decision, ToolPolicy } from "./tool-policy.ts";

/** A request for a decision about one target. */
export interface PolicyRequest {
  readonly identity: Identity;
  readonly action: PolicyAction;
  readonly target: PolicyTarget;
  /** The facts about a call; undefined for every other action. */
  readonly call?: CallFacts | undefined;
}

/** Policies in files, loaded and ready. */
export interface FilePolicies {
  /** Digest of their texts, such as `sha256:…`. */
  readonly digest: string;
  /** Whether nothing decides for now: each decision that was not made before is a denial. */
  readonly isDown: boolean;
  /** Decides a request. Denies what no policy permits. Never throws. */
  decide(request: PolicyRequest): Decision;
  /** Whether the policies can allow `identity` anything of a server. */
  mayReach(identity: Identity, server: PolicyServer): boolean;
}

/** The subject of a decision, as its caller knows it. */
export interface PolicySubject {
  /** Of a tool, or of a resource (`server:resources/URI`) or prompt (`server:prompts/NAME`). */
  readonly id: ToolId;
  /** Its name on the wire; a pattern matches either name. */
  readonly wireName: string;
}

/** The questions of `AccessPolicy` about its subjects. It asks only where policy files exist. */
export interface SubjectFacts<Subject extends PolicySubject> {
  readonly targetOf: (subject: Subject) => PolicyTarget;
}

/** The policy of one gateway. */
export class AccessPolicy<Subject extends PolicySubject> {
  #lists: ToolPolicy;
  readonly #targetOf: SubjectFacts<Subject>["targetOf"];
  #files: FilePolicies | undefined;
  #generation = 0;

  constructor(lists: ToolPolicy, { targetOf }: SubjectFacts<Subject>, files?: FilePolicies) {
    this.#lists = lists;
    this.#targetOf = targetOf;
    this.#files = files;
  }

  /** The profile that narrows the rights of `identity`; undefined for none. */
  profileOf(identity: Identity): string | undefined {
    return this.#lists.profileOf(identity);
  }

  /** The profile that `identity` is bound to, so that it can use no other; undefined for none. */
  boundProfileOf(identity: Identity): string | undefined {
    return this.#lists.boundProfileOf(identity);
  }

  /** Counts the replacements of the policy. Decisions of different generations can differ. */
  get generation(): number {
    return this.#generation;
  }

  /** Digest of the policy files; undefined where there are none. */
  get filesDigest(): string | undefined {
    return this.#files?.digest;
  }

  /** Whether decisions about calls depend on policy files. */
  get hasFiles(): boolean {
    return this.#files !== undefined;
  }

  /** Whether policy files decide nothing new for now, so that nobody knows what a client may list. */
  get isDown(): boolean {
    return this.#files?.isDown === true;
  }

  /** The policy files in force; undefined where there are none. */
  get files(): FilePolicies | undefined {
    return this.#files;
  }

  /** Replaces the policy files. Later decisions are made by `files` only. */
  replaceFiles(files: FilePolicies): void {
    this.#files = files;
    this.#generation += 1;
  }

  /** Replaces the whole policy. Later decisions are made by `lists` and `files` only. */
  replace(lists: ToolPolicy, files: FilePolicies | undefined): void {
    this.#lists = lists;
    this.#files = files;
    this.#generation += 1;
  }

  /**
   * Decides whether a client may list or use something.
   *
   * @param call the facts about a call, for the action `call`; asked for only where policy files exist
   */
  decide(identity: Identity, subject: Subject, action: PolicyAction, call?: () => CallFacts): Decision {
    const decision = this.#lists.decide(identity, subject.id, subject.wireName);
    const files = this.#files;
    if (decision.kind === "deny") return decision;
    const whole =
      files?.decide({ identity, action, target: this.#targetOf(subject), call: call?.() }) ?? decision;
    if (whole.kind === "deny") return whole;
    // Last: only who may use something learns that it is switched off.
    return this.#lists.switchedOff(subject.id, subject.wireName) ?? whole;
  }

  /** Whether the lists allow something, and policy files could: what it is exactly is not known yet. */
  mayAllow(identity: Identity, subject: Subject): boolean {
    if (this.#lists.decide(identity, subject.id, subject.wireName).kind === "deny") return false;
    if (this.#lists.switchedOff(subject.id, subject.wireName) !== undefined) return false;
    return this.#files?.mayReach(identity, this.#targetOf(subject).server) ?? true;
  }

  /** Whether `identity` may list something. */
  allowsListing(identity: Identity, subject: Subject): boolean {
    return this.decide(identity, subject, "list").kind === "allow";
  }

  /**
   * Whether the rules can allow `identity` anything of a source.
   *
   * @param namespace of its tools; undefined where each tool has its own
   */
  mayReach(identity: Identity, namespace: string | undefined, server: () => PolicyServer): boolean {
    if (namespace !== undefined && !this.#lists.mayReach(identity, namespace)) return false;
    return this.#files?.mayReach(identity, server()) ?? true;
  }
}
