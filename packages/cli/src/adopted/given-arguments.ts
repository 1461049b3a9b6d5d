/** Finds out which of the arguments that a manifest requires were given among those of its server. Pure. */

import type { ManifestRequirement } from "../toolspec/entry-text.ts";

/**
 * Returns the required arguments that were not given. One with an option is given by the option, or by its first letter,
 * and a value. The others are given by words in their order that are neither options nor values of required ones. A word
 * after another option can be its value: only the server knows. For a path, it counts where it is one.
 *
 * @param isPath whether a word names something in the file system
 */
export function missingArguments(
  requires: readonly ManifestRequirement[],
  words: readonly string[],
  isPath: (word: string) => boolean,
): ReadonlySet<ManifestRequirement> {
  const required = requires.filter(({ variable }) => variable === undefined);
  const missing = new Set(required);
  const free: { readonly word: string; readonly isAfterOption: boolean }[] = [];
  for (let at = 0, isAfterOption = false, areAllFree = false; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!areAllFree && word === "--") {
      areAllFree = true;
      isAfterOption = false;
    } else if (areAllFree || !isOption(word)) {
      free.push({ word, isAfterOption });
      isAfterOption = false;
    } else {
      const [name = "", value] = partsOf(word);
      const named = required.find(({ option }) => option !== undefined && isNameOf(name, option));
      const isSeparate = named !== undefined && value === undefined;
      if (named !== undefined && (value ?? words[at + 1] ?? "") !== "") missing.delete(named);
      if (isSeparate) at += 1;
      isAfterOption = named === undefined && value === undefined;
    }
  }
  for (const one of required.filter(({ option }) => option === undefined)) {
    const needsPath = one.value === "read_folder" || one.value === "written_file";
    const found = free.findIndex(({ word, isAfterOption }) => !isAfterOption || !needsPath || isPath(word));
    if (found === -1) break;
    free.splice(0, found + 1);
    missing.delete(one);
  }
  return missing;
}

function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith("-");
}

/** The name of an option, and its value where that is in the same word. */
function partsOf(word: string): readonly [name: string, value?: string] {
  const at = word.indexOf("=");
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

/** Whether the name is the option, or its first letter. */
function isNameOf(name: string, option: string): boolean {
  return name === option || (option.startsWith("--") && name === option.slice(1, 3));
}
