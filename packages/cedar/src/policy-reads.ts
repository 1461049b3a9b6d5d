/**
 * The parts of a request that a set of policies reads, so that decisions about requests that do
 * not differ in it can be shared. Everything that is not recognized counts as reading
 * the whole: a decision is shared too rarely, never wrongly.
 */

import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
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
}

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

class ReadsCollector implements PolicyReads {
  readonly named = new Set<string>();
  resource: Set<string> | undefined = new Set();
  context: Set<string> | undefined = new Set();
  times: Set<string> | undefined = new Set();
  texts: Set<string> | undefined = new Set();
  integers: Set<string> | undefined = new Set();

  name({ type, id }: { readonly type: string; readonly id: string }): void {
    this.named.add(`${type} ${id}`);
  }

  visit(expr: Expr): void {
    if (this.#visitArgument(expr) || this.#visitMember(expr) || this.#visitComparison(expr)) return;
    if (isVariable(expr, "resource")) this.resource = undefined;
    if (isVariable(expr, "context")) {
      this.context = undefined;
      this.times = undefined;
      this.texts = undefined;
      this.integers = undefined;
    }
    for (const operand of operandsOf(expr)) this.visit(operand);
  }

  /** `context.arguments.getTag("path")`, and the same with `integers` and `hasTag`. */
  #visitArgument(expr: Expr): boolean {
    const read = operationOf(expr, "getTag") ?? operationOf(expr, "hasTag");
    const member = read === undefined ? undefined : memberOf(read.left);
    if (read === undefined || member === undefined || !isVariable(member.left, "context")) return false;
    if (member.attr !== "arguments" && member.attr !== "integers") return false;
    const name = textOf(read.right);
    const kind = member.attr === "arguments" ? "texts" : "integers";
    if (name === undefined) {
      this[kind] = undefined;
      this.visit(read.right);
    } else {
      this[kind]?.add(name);
    }
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
