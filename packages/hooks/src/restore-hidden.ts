/**
 * Arguments that are partly hidden from a hook: the marks that it sees, and the values that come back
 * in their places. Each mark has an id that is random for the question, and a number for its place.
 * What stands at its own place is the original again; a mark anywhere else, or within another text,
 * is refused. So no hidden value is ever attached to another entry, however a hook moves what is
 * around it. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** Marks before they have an id. */
const plainMark = /\[(?:redacted|secret [^[\]]*)\]/g;

/** The arguments of one question. */
export class HiddenValues {
  /** The value that the hook is shown. */
  readonly shown: JsonObject;
  readonly #original: JsonObject;
  readonly #id: string;
  #marked = 0;

  /**
   * @param shown `original` with marks in place of values and in names, its members in their order
   * @param id unpredictable, so that nobody who writes arguments can write a mark
   */
  constructor(shown: JsonObject, original: JsonObject, id: string) {
    this.#original = original;
    this.#id = id;
    this.shown = this.#mark(shown, original) as JsonObject;
  }

  /** Returns `answered` with the hidden values, or why that is not possible, as the end of a sentence. */
  restore(answered: JsonObject): { readonly value: JsonObject } | string {
    try {
      return { value: this.#restore(answered, this.shown, this.#original) as JsonObject };
    } catch (error) {
      if (error instanceof ChangedMark)
        return "it changes or moves a part of the arguments that is hidden from it";
      throw error;
    }
  }

  #mark(shown: JsonValue, original: JsonValue): JsonValue {
    if (typeof shown === "string") return shown === original ? shown : this.#withId(shown);
    if (Array.isArray(shown) && Array.isArray(original)) {
      return shown.map((item, at) => this.#mark(item, original[at] ?? null));
    }
    if (!isJsonObject(shown) || !isJsonObject(original)) return shown;
    const names = originalNames(shown, original);
    return Object.fromEntries(
      Object.entries(shown).map(([name, member = null]) => {
        const originalName = names.get(name) ?? name;
        const shownName = name === originalName ? name : this.#withId(name);
        return [shownName, this.#mark(member, original[originalName] ?? null)];
      }),
    );
  }

  /** Returns a hidden text with an id in each of its marks. */
  #withId(text: string): string {
    this.#marked += 1;
    const id = `${this.#id}-${this.#marked}`;
    const marked = text.replace(plainMark, (mark) => `${mark.slice(0, -1)} ${id}]`);
    return marked === text ? `${text} [${id}]` : marked;
  }

  #restore(answered: JsonValue, shown: JsonValue | undefined, original: JsonValue | undefined): JsonValue {
    if (Array.isArray(answered)) {
      const [items, originals] =
        Array.isArray(shown) && Array.isArray(original) ? [shown, original] : [[], []];
      return answered.map((item, at) => this.#restore(item, items[at], originals[at]));
    }
    if (isJsonObject(answered)) {
      const [members, originals] =
        isJsonObject(shown) && isJsonObject(original) ? [shown, original] : [{}, {}];
      return this.#restoreMembers(answered, members, originals);
    }
    if (typeof answered !== "string") return answered;
    const isHidden = typeof shown === "string" && this.#isMarked(shown);
    if (isHidden && answered === shown) return original ?? answered;
    // A mark that lost its id would be sent as text in place of the value.
    if (this.#isMarked(answered) || (isHidden && hasStartOfMark(answered))) throw new ChangedMark();
    return answered;
  }

  #restoreMembers(answered: JsonObject, shown: JsonObject, original: JsonObject): JsonObject {
    const names = originalNames(shown, original);
    return Object.fromEntries(
      Object.entries(answered).map(([name, member = null]) => {
        const originalName = names.get(name);
        if (originalName !== undefined) {
          return [originalName, this.#restore(member, shown[name], original[originalName])];
        }
        if (this.#isMarked(name)) throw new ChangedMark();
        return [name, this.#restore(member, undefined, undefined)];
      }),
    );
  }

  #isMarked(text: string): boolean {
    return text.includes(this.#id);
  }
}

class ChangedMark extends Error {}

function hasStartOfMark(text: string): boolean {
  return text.includes("[redacted") || text.includes("[secret");
}

/** Names that come first in an object, whatever the order in which they were set. */
const indexName = /^(?:0|[1-9]\d*)$/;

/** Returns the name in `original` of each member of `shown`. A name can be hidden, too. */
function originalNames(shown: JsonObject, original: JsonObject): ReadonlyMap<string, string> {
  // A hidden number stands elsewhere than its mark; no mark is a number.
  const isInPlace = (name: string) => indexName.test(name) && Object.hasOwn(shown, name);
  const others = Object.keys(original).filter((name) => !isInPlace(name));
  let at = 0;
  return new Map(
    Object.keys(shown).map((name) => [name, isInPlace(name) ? name : (others[at++] ?? name)] as const),
  );
}
