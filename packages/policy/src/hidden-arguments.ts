/**
 * Rules that keep arguments out of previews (`audit.redact`): which arguments of a call are
 * hidden, by the tool and by their places. Without rules it costs nothing. Pure.
 *
 * The arguments of `call_tool` contain those of another tool, whose rules apply inside. Where it names no tool
 * that exists, all rules apply: a misspelled name must not reveal what the right one hides.
 */

import type { ToolId } from "@toolcrib/tool";
import { ToolPatterns } from "./tool-patterns.ts";

/** Places of hidden values, relative to a value: the names that lead to each, of which `*` stands for any name or index. */
type HiddenPlaces = readonly (readonly string[])[];

const nowhere: HiddenPlaces = [];

/** The names of a tool. */
interface ToolNames {
  readonly id: ToolId;
  readonly wireName: string;
}

/** A rule: the arguments of the tools that a pattern names. */
interface HidingRule {
  readonly tool: string;
  /** Each as `user.token`, or as `/user/token`. */
  readonly arguments: readonly string[];
}

/** Tools whose places are remembered. */
const rememberedMaxCount = 10_000;

/** The rules of one gateway. */
export class HiddenArguments {
  readonly #rules: readonly { readonly tools: ToolPatterns; readonly places: HiddenPlaces }[];
  readonly #all: HiddenPlaces;
  readonly #deps: { readonly callToolId: string; readonly find: (name: string) => ToolNames | undefined };
  readonly #places = new Map<string, HiddenPlaces>();

  /**
   * @param deps `callToolId` is the id of the tool that calls another one, by `name` and with `arguments`; `find`
   *   returns the names of a tool
   */
  constructor(
    rules: readonly HidingRule[],
    deps: { readonly callToolId: string; readonly find: (name: string) => ToolNames | undefined },
  ) {
    this.#rules = rules.map(({ tool, arguments: names }) => ({
      tools: new ToolPatterns([tool]),
      places: names.map(toPlace),
    }));
    this.#all = this.#rules.flatMap(({ places }) => places);
    this.#deps = deps;
  }

  /** The hidden arguments of a call. */
  of(target: ToolNames, args: { readonly [name: string]: unknown }): HiddenPlaces {
    if (this.#rules.length === 0) return nowhere;
    const own = this.#placesOf(target);
    if (target.id !== this.#deps.callToolId) return own;
    const name = args["name"];
    const called = typeof name === "string" ? this.#deps.find(name) : undefined;
    const inner = called === undefined ? this.#all : this.#placesOf(called);
    return inner.length === 0 ? own : [...own, ...inner.map((place) => ["arguments", ...place])];
  }

  #placesOf({ id, wireName }: ToolNames): HiddenPlaces {
    const known = this.#places.get(id);
    if (known !== undefined) return known;
    const matching = this.#rules.filter(({ tools }) => tools.find(id, wireName) !== undefined);
    const places = matching.flatMap((rule) => rule.places);
    if (this.#places.size >= rememberedMaxCount) this.#places.clear();
    this.#places.set(id, places);
    return places;
  }
}

/** Converts `user.token`, or `/user/token` as in JSON Pointer, to the names that lead to the value. */
function toPlace(written: string): readonly string[] {
  if (!written.startsWith("/")) return written.split(".");
  return written
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}
