/**
 * The parts of a request that a set of policies reads, so that decisions about requests that do
 * not differ in it can be shared. Everything that is not recognized counts as reading
 * the whole: a decision is shared too rarely, never wrongly.
 */

import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { type ArgumentQuestion, askedOperand } from "./argument-questions.ts";
import { entityOf, isVariable, memberOf, operandsOf, operationOf, textOf } from "./expressions.ts";
import { toUid } from "./policy-scope.ts";

/** The parts of requests that policies read. */
export interface PolicyReads {
  /** Members of the resource; `undefined`: possibly all of it. */
  readonly resource: ReadonlySet<string> | undefined;
  /** Ids of the tools, resources and prompts that policies name, as `type id`. */
  readonly named: ReadonlySet<string>;
  /** Members of the context; `undefined`: possibly all of it. */
  readonly context: ReadonlySet<string> | undefined;
  /** Members of the time; `undefined`: possibly all of it. */
  readonly times: ReadonlySet<string> | undefined;
  /** Names of arguments that are read as texts; `undefined`: possibly all. */
  readonly texts: ReadonlySet<string> | undefined;
  /** Names of arguments that are read as whole numbers; `undefined`: possibly all. */
  readonly integers: ReadonlySet<string> | undefined;
  /** The questions about these texts; an argument that is not among them counts as a whole. */
  readonly textQuestions: ArgumentQuestions;
  /** The same about whole numbers. */
  readonly integerQuestions: ArgumentQuestions;
}

/** All that policies ask about arguments, by their names; none where they ask only whether there is one. */
export type ArgumentQuestions = ReadonlyMap<string, readonly ArgumentQuestion[]>;

/** Returns what `policies` read, all of them together. */
export function readsOf(policies: readonly PolicyJson[]): PolicyReads {
  const reads = new ReadsCollector();
  for (const policy of policies) {
    const { resource, conditions } = policy;
    if (resource.op === "==" || resource.op === "in") {
      if ("entity" in resource) reads.name(toUid(resource.entity));
    } else if (resource.op === "is" && resource.in !== undefined && "entity" in resource.in) {
      reads.name(toUid(resource.in.entity));
    }
    for (const { body } of conditions) reads.visit(body);
  }
  return reads;
}

type ArgumentKind = "texts" | "integers";

/** An argument that an expression reads: its value, or whether there is one. */
interface ArgumentRead {
  readonly kind: ArgumentKind;
  /** Undefined for a name that the request decides. */
  readonly name: string | undefined;
  readonly isValue: boolean;
}

/** Returns what `context.arguments.getTag("path")` reads, and the same with `integers` and `hasTag`. */
function argumentReadOf(expr: Expr): ArgumentRead | undefined {
  const value = operationOf(expr, "getTag");
  const read = value ?? operationOf(expr, "hasTag");
  const member = read === undefined ? undefined : memberOf(read.left);
  if (read === undefined || member === undefined || !isVariable(member.left, "context")) return undefined;
  if (member.attr !== "arguments" && member.attr !== "integers") return undefined;
  const kind = member.attr === "arguments" ? "texts" : "integers";
  return { kind, name: textOf(read.right), isValue: value !== undefined };
}

/** Types of the targets of requests. */
const targetTypes: ReadonlySet<string | undefined> = new Set(["Tool", "Resource", "Prompt"]);

class ReadsCollector implements PolicyReads {
  readonly named = new Set<string>();
  resource: Set<string> | undefined = new Set();
  context: Set<string> | undefined = new Set();
  times: Set<string> | undefined = new Set();
  texts: Set<string> | undefined = new Set();
  integers: Set<string> | undefined = new Set();
  readonly #questions = { texts: new QuestionsByName(), integers: new QuestionsByName() };

  name({ type, id }: { readonly type: string; readonly id: string }): void {
    this.named.add(`${type} ${id}`);
  }

  visit(expr: Expr): void {
    if (this.#visitQuestion(expr) || this.#visitArgument(expr)) return;
    if (this.#visitMember(expr) || this.#visitComparison(expr)) return;
    const literal = entityOf(expr)?.type;
    // A literal can be the target itself, or the arguments of the call.
    if (isVariable(expr, "resource") || targetTypes.has(literal)) this.resource = undefined;
    if (literal === "Arguments") this.texts = undefined;
    if (literal === "Integers") this.integers = undefined;
    if (isVariable(expr, "context")) {
      this.context = undefined;
      this.times = undefined;
      this.texts = undefined;
      this.integers = undefined;
    }
    for (const operand of operandsOf(expr)) this.visit(operand);
  }

  get textQuestions(): ArgumentQuestions {
    return this.#questions.texts.asked();
  }

  get integerQuestions(): ArgumentQuestions {
    return this.#questions.integers.asked();
  }

  /** A read of an argument that is no part of a question, or of whether there is one. */
  #visitArgument(expr: Expr): boolean {
    const read = argumentReadOf(expr);
    // Where the request decides the name, all arguments are passed on.
    if (read?.name === undefined) return false;
    const { kind, name, isValue } = read;
    this[kind]?.add(name);
    if (isValue) this.#questions[kind].readWhole(name);
    else this.#questions[kind].know(name);
    return true;
  }

  /** A question about an argument, such as `context.arguments.getTag("path") like "/etc/*"`. */
  #visitQuestion(expr: Expr): boolean {
    const asked = askedOperand(expr);
    const read = asked && argumentReadOf(asked.operand);
    if (asked === undefined || read?.name === undefined || !read.isValue) return false;
    this[read.kind]?.add(read.name);
    this.#questions[read.kind].ask(read.name, asked.question);
    return true;
  }

  /** `resource.read_only`, `context.depth`, and the same with `has`. */
  #visitMember(expr: Expr): boolean {
    const member = memberOf(expr);
    if (member === undefined) return false;
    if (isVariable(member.left, "resource")) {
      this.resource?.add(member.attr);
      return true;
    }
    const outer = memberOf(member.left);
    if (outer?.attr === "time" && isVariable(outer.left, "context")) {
      this.context?.add("time");
      this.times?.add(member.attr);
      return true;
    }
    if (!isVariable(member.left, "context")) return false;
    if (member.attr === "time") this.times = undefined;
    // Passed on as an entity, it can be asked for any argument.
    if (member.attr === "arguments") this.texts = undefined;
    if (member.attr === "integers") this.integers = undefined;
    this.context?.add(member.attr);
    return true;
  }

  /** `resource == Tool::"…"`, `resource in ToolServer::"…"`, `resource is Tool`. */
  #visitComparison(expr: Expr): boolean {
    const compared = operationOf(expr, "==") ?? operationOf(expr, "!=") ?? operationOf(expr, "in");
    if (compared !== undefined && isVariable(compared.left, "resource")) {
      const uid = entityOf(compared.right);
      if (uid === undefined) return false;
      this.name(uid);
      return true;
    }
    const kind = operationOf<{ readonly left: Expr; readonly in?: Expr }>(expr, "is");
    if (kind === undefined || !isVariable(kind.left, "resource")) return false;
    if (kind.in === undefined) return true;
    const uid = entityOf(kind.in);
    if (uid === undefined) return false;
    this.name(uid);
    return true;
  }
}

/** Most questions about one argument, and about all arguments of one kind: each is answered for each call. */
const questionMaxCount = { one: 64, all: 256 } as const;

/** Questions about arguments of one kind. */
class QuestionsByName {
  readonly #questions = new Map<string, ArgumentQuestion[]>();
  /** Arguments that are read in another way, too. */
  readonly #whole = new Set<string>();

  know(name: string): void {
    this.#questions.set(name, this.#questions.get(name) ?? []);
  }

  ask(name: string, question: ArgumentQuestion): void {
    this.know(name);
    this.#questions.get(name)?.push(question);
  }

  readWhole(name: string): void {
    this.#whole.add(name);
  }

  /** Arguments about which too much is asked count as a whole. */
  asked(): ArgumentQuestions {
    let count = 0;
    const asked = [...this.#questions].filter(([name, { length }]) => {
      if (this.#whole.has(name) || length > questionMaxCount.one) return false;
      count += length;
      return count <= questionMaxCount.all;
    });
    return new Map(asked);
  }
}
