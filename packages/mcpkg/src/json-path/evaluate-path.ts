/**
 * Evaluates JSONPath (RFC 9535) within limits. Assertions of tests and mappings of chains use
 * this function. Paths and values come from packages and tools: an evaluation ends after a
 * limited number of steps, and patterns run in linear time.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { McpkgError } from "../mcpkg-error.ts";
import { type CompiledIRegexp, compileIRegexp } from "./i-regexp.ts";
import {
  type PathExpression,
  type PathFunction,
  type PathQuery,
  type PathSegment,
  type PathSelector,
  parsePath,
} from "./parse-path.ts";
import { PathBudget, type PathLimits } from "./path-budget.ts";

/** A node that a path selects. */
export class PathMatch {
  readonly value: JsonValue;
  readonly #parent: PathMatch | undefined;
  readonly #key: string | number;

  constructor(value: JsonValue, parent?: PathMatch, key: string | number = 0) {
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  /** The normalized path of the node (RFC 9535, section 2.7), such as `$['items'][0]`. */
  get path(): string {
    const keys: (string | number)[] = [];
    for (let node: PathMatch = this; node.#parent !== undefined; node = node.#parent) keys.push(node.#key);
    return `$${keys
      .reverse()
      .map((key) => (typeof key === "number" ? `[${key}]` : `['${escapeName(key)}']`))
      .join("")}`;
  }
}

/**
 * Returns the nodes of `value` that `path` selects, in the order of RFC 9535; members of objects in
 * their own order.
 *
 * @throws {McpkgError} `MCPKG_JSON_PATH_INVALID` for a text that is no JSONPath, and
 *   `MCPKG_JSON_PATH_LIMIT` for an evaluation beyond its limits.
 */
export function evaluatePath(path: string, value: JsonValue, limits: PathLimits = {}): readonly PathMatch[] {
  const parsed = parsePath(path);
  if ("reason" in parsed) {
    throw new McpkgError(
      "MCPKG_JSON_PATH_INVALID",
      `"${path.slice(0, 200)}" is not a JSONPath: ${parsed.reason}`,
      {
        hint: "see RFC 9535, such as $.status or $.items[0].id",
      },
    );
  }
  const budget = new PathBudget(path, limits);
  let selectedCount = 0;
  try {
    const selected = new Evaluation(new PathMatch(value), budget).run(parsed);
    selectedCount = selected.length;
    return selected;
  } finally {
    budget.finish(selectedCount);
  }
}

/** The result of an expression that has no value (RFC 9535, section 2.4.1). */
const nothing: unique symbol = Symbol("nothing");
type Value = JsonValue | typeof nothing;

/** Levels of a value past which it is not compared. */
const comparedMaxDepth = 1000;
/** Patterns that one evaluation keeps. */
const patternsMaxCount = 100;
/** Steps to compile a pattern; units of a text times the size of the pattern, and units of a text, that are one step. */
const stepsPerPattern = 500;
const patternWorkPerStep = 4;
const unitsPerStep = 16;

class Evaluation {
  readonly #root: PathMatch;
  readonly #budget: PathBudget;
  readonly #patterns = new Map<string, CompiledIRegexp | undefined>();

  constructor(root: PathMatch, budget: PathBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  run(query: PathQuery): readonly PathMatch[] {
    return this.#query(query, this.#root);
  }

  #query({ segments }: PathQuery, start: PathMatch): readonly PathMatch[] {
    let nodes: readonly PathMatch[] = [start];
    for (const segment of segments) {
      if (nodes.length === 0) break;
      nodes = this.#segment(segment, nodes);
    }
    return nodes;
  }

  #segment({ isDescendant, selectors }: PathSegment, nodes: readonly PathMatch[]): readonly PathMatch[] {
    const selected: PathMatch[] = [];
    for (const start of nodes) {
      // Nodes still to visit, the next one last.
      const open = [start];
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        for (const selector of selectors) this.#select(selector, node, selected);
        if (!isDescendant) continue;
        const children = this.#children(node);
        for (let at = children.length - 1; at >= 0; at -= 1) open.push(children[at] as PathMatch);
        this.#budget.checkNodes(open.length);
      }
    }
    return selected;
  }

  #select(selector: PathSelector, node: PathMatch, selected: PathMatch[]): void {
    this.#budget.spend(1);
    const { value } = node;
    switch (selector.kind) {
      case "name":
        if (isJsonObject(value) && hasMember(value, selector.name)) {
          selected.push(new PathMatch(value[selector.name] as JsonValue, node, selector.name));
        }
        break;
      case "index": {
        if (!Array.isArray(value)) return;
        const index = selector.index < 0 ? value.length + selector.index : selector.index;
        if (index >= 0 && index < value.length) selected.push(new PathMatch(value[index], node, index));
        break;
      }
      case "slice":
        if (Array.isArray(value)) this.#slice(selector, node, value, selected);
        break;
      case "wildcard":
        for (const child of this.#children(node)) selected.push(child);
        break;
      case "filter":
        for (const child of this.#children(node)) {
          if (this.#isTrue(selector.condition, child)) selected.push(child);
        }
        break;
    }
    this.#budget.checkNodes(selected.length);
  }

  /** RFC 9535, section 2.3.4.2. */
  #slice(
    { start, end, step }: PathSelector & { readonly kind: "slice" },
    node: PathMatch,
    items: readonly JsonValue[],
    selected: PathMatch[],
  ): void {
    if (step === 0) return;
    const { length } = items;
    const normalize = (index: number) => (index < 0 ? length + index : index);
    const clamp = (index: number, least: number, most: number) => Math.min(Math.max(index, least), most);
    const [first, last] =
      step > 0
        ? [clamp(normalize(start ?? 0), 0, length), clamp(normalize(end ?? length), 0, length)]
        : [
            clamp(normalize(start ?? length - 1), -1, length - 1),
            end === undefined ? -1 : clamp(normalize(end), -1, length - 1),
          ];
    for (let at = first; step > 0 ? at < last : at > last; at += step) {
      this.#budget.spend(1);
      this.#budget.checkNodes(selected.length);
      selected.push(new PathMatch(items[at] as JsonValue, node, at));
    }
  }

  #children(node: PathMatch): readonly PathMatch[] {
    const { value } = node;
    if (typeof value !== "object" || value === null) return [];
    if (Array.isArray(value)) {
      this.#budget.spend(value.length);
      this.#budget.checkNodes(value.length);
      return value.map((item: JsonValue, index) => new PathMatch(item, node, index));
    }
    const names = Object.keys(value).filter((name) => hasMember(value as JsonObject, name));
    this.#budget.spend(names.length);
    this.#budget.checkNodes(names.length);
    return names.map((name) => new PathMatch((value as JsonObject)[name] as JsonValue, node, name));
  }

  /** The truth of an expression as a condition: a query is true when it selects a node. */
  #isTrue(expression: PathExpression, current: PathMatch): boolean {
    this.#budget.spend(1);
    switch (expression.kind) {
      case "query":
        return this.#nodes(expression, current).length > 0;
      case "not":
        return !this.#isTrue(expression.operand, current);
      case "infix": {
        const { operator, left, right } = expression;
        if (operator === "&&") return this.#isTrue(left, current) && this.#isTrue(right, current);
        if (operator === "||") return this.#isTrue(left, current) || this.#isTrue(right, current);
        return this.#compare(this.#value(left, current), operator, this.#value(right, current));
      }
      case "call":
        return this.#call(expression.name, expression.args, current) === true;
      case "literal":
        // Literals are no conditions; the parser refuses them.
        return false;
    }
  }

  /** The value of an operand or argument. The parser allows only queries that select one node at most. */
  #value(expression: PathExpression, current: PathMatch): Value {
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "query": {
        const [node] = this.#nodes(expression, current);
        return node === undefined ? nothing : node.value;
      }
      case "call":
        return this.#call(expression.name, expression.args, current);
      default:
        return nothing;
    }
  }

  #nodes(
    { from, query }: PathExpression & { readonly kind: "query" },
    current: PathMatch,
  ): readonly PathMatch[] {
    return this.#query(query, from === "root" ? this.#root : current);
  }

  #call(name: PathFunction, args: readonly PathExpression[], current: PathMatch): Value {
    const [first, second] = args;
    if (first === undefined) return nothing;
    switch (name) {
      case "count":
        return this.#argumentNodes(first, current).length;
      case "value": {
        const nodes = this.#argumentNodes(first, current);
        return nodes.length === 1 ? (nodes[0] as PathMatch).value : nothing;
      }
      case "length":
        return this.#length(this.#value(first, current));
      case "match":
      case "search": {
        const text = this.#value(first, current);
        const pattern = second === undefined ? nothing : this.#value(second, current);
        if (typeof text !== "string" || typeof pattern !== "string") return false;
        return this.#matches(text, pattern, name === "match");
      }
    }
  }

  #argumentNodes(expression: PathExpression, current: PathMatch): readonly PathMatch[] {
    return expression.kind === "query" ? this.#nodes(expression, current) : [];
  }

  #length(value: Value): Value {
    if (typeof value === "string") {
      this.#budget.spend(value.length / unitsPerStep);
      let count = 0;
      for (const _character of value) count += 1;
      return count;
    }
    if (Array.isArray(value)) return value.length;
    return isJsonObject(value) ? Object.keys(value).filter((name) => hasMember(value, name)).length : nothing;
  }

  #matches(text: string, pattern: string, isWhole: boolean): boolean {
    const regexp = this.#pattern(pattern, isWhole);
    if (regexp === undefined) return false;
    this.#budget.spend(1 + (text.length * regexp.size) / patternWorkPerStep);
    return regexp.test(text);
  }

  #pattern(pattern: string, isWhole: boolean): CompiledIRegexp | undefined {
    const key = `${isWhole ? "^" : ""}/${pattern}`;
    if (this.#patterns.has(key)) return this.#patterns.get(key);
    this.#budget.spend(stepsPerPattern);
    const outcome = compileIRegexp(pattern, isWhole);
    if (outcome.kind === "unsupported") {
      throw this.#budget.exceeded(
        `the pattern "${pattern.slice(0, 100)}", which is not supported: ${outcome.reason}`,
      );
    }
    const regexp = outcome.kind === "compiled" ? outcome.regexp : undefined;
    if (regexp !== undefined) this.#budget.spend(regexp.size);
    if (this.#patterns.size >= patternsMaxCount) this.#patterns.clear();
    this.#patterns.set(key, regexp);
    return regexp;
  }

  /** RFC 9535, section 2.3.5.2.2. */
  #compare(left: Value, operator: string, right: Value): boolean {
    switch (operator) {
      case "==":
        return this.#isEqual(left, right, 0);
      case "!=":
        return !this.#isEqual(left, right, 0);
      case "<":
        return this.#isLess(left, right);
      case ">":
        return this.#isLess(right, left);
      case "<=":
        return this.#isLess(left, right) || this.#isEqual(left, right, 0);
      default:
        return this.#isLess(right, left) || this.#isEqual(left, right, 0);
    }
  }

  #isLess(left: Value, right: Value): boolean {
    if (typeof left === "number" && typeof right === "number") return left < right;
    if (typeof left !== "string" || typeof right !== "string") return false;
    this.#budget.spend(Math.min(left.length, right.length) / unitsPerStep);
    return compareCharacters(left, right) < 0;
  }

  #isEqual(left: Value, right: Value, depth: number): boolean {
    this.#budget.spend(1);
    if (left === right) return true;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
      return false;
    if (depth > comparedMaxDepth)
      throw this.#budget.exceeded(`to compare more than ${comparedMaxDepth} levels`);
    if (Array.isArray(left) || Array.isArray(right)) {
      if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
      return left.every((item, at) => this.#isEqual(item, right[at], depth + 1));
    }
    return this.#hasEqualMembers(left as JsonObject, right as JsonObject, depth + 1);
  }

  #hasEqualMembers(left: JsonObject, right: JsonObject, depth: number): boolean {
    const names = Object.keys(left).filter((name) => hasMember(left, name));
    const others = Object.keys(right).filter((name) => hasMember(right, name));
    if (names.length !== others.length) return false;
    return names.every(
      (name) =>
        hasMember(right, name) && this.#isEqual(left[name] as JsonValue, right[name] as JsonValue, depth),
    );
  }
}

/** Whether `value` has the member `name` as JSON: its own, and not undefined. */
function hasMember(value: JsonObject, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Compares by Unicode scalar values; `<` of strings compares UTF-16 units. */
function compareCharacters(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  if (at >= left.length || at >= right.length) return left.length - right.length;
  const ranks = [left, right].map((text) => {
    const unit = text.charCodeAt(at);
    // Surrogates stand for characters past all others.
    return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
  });
  return (ranks[0] as number) - (ranks[1] as number);
}

const namedEscapes: { readonly [character: string]: string } = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "'": "\\'",
  "\\": "\\\\",
};

function escapeName(name: string): string {
  return name.replace(
    /[\u0000-\u001f'\\]/g,
    (character) =>
      namedEscapes[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
