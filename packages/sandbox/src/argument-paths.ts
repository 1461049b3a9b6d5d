/**
 * The paths that an argument of a program names: the argument itself, the value of an option (`--dir=PATH`) or of a
 * variable (`DIR=PATH`), a `file:` URL, and each part of a list of absolute paths (`PATH:PATH`, `PATH,PATH`). Pure:
 * whether one exists, what it really is and whether it may be shown is decided by the caller.
 */

import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A path that an argument names. */
export interface ArgumentPath {
  /** Absolute. */
  readonly path: string;
  /** Whether it is written as a path, and not as a word that may also be the name of a file. */
  readonly isExplicit: boolean;
  /** Whether it is the whole argument, as a program or script is. */
  readonly isWhole: boolean;
  /** Whether the working folder decides what it names. */
  readonly isRelative: boolean;
}

const argumentMaxLength = 32_768;
const pathMaxLength = 4_096;
/** Parts of a list that are looked at. */
const partsMaxCount = 64;

/** Returns the paths that `argument` names. @param directory the working folder of the program, absolute */
export function pathsInArgument(argument: string, directory: string): readonly ArgumentPath[] {
  if (argument === "" || argument.length > argumentMaxLength || argument.includes("\0")) return [];
  const value = /^(?:--?[A-Za-z][\w.-]{0,100}|[A-Za-z_][\w.-]{0,100})=(.+)$/s.exec(argument)?.[1];
  const texts = value === undefined ? [argument] : [argument, value];
  return texts.flatMap((text) => {
    const isWhole = text === argument;
    const url = pathOfUrl(text);
    if (url !== undefined) return [{ path: url, isExplicit: true, isWhole: false, isRelative: false }];
    const parts = listParts(text).map((part) => ({
      path: resolve(part),
      isExplicit: true,
      isWhole: false,
      isRelative: false,
    }));
    if (text.length > pathMaxLength) return parts;
    const isRelative = !isAbsolute(text);
    const isExplicit = !isRelative || /^\.{1,2}(?:\/|$)/.test(text);
    return [{ path: resolve(directory, text), isExplicit, isWhole, isRelative }, ...parts];
  });
}

/** Returns the parts of a list of absolute paths; a part without one, such as a mode (`PATH:PATH:ro`), is left out. */
function listParts(text: string): readonly string[] {
  if (!isAbsolute(text)) return [];
  const parts = text.split(/[:,;]/, partsMaxCount);
  return parts.length < 2 ? [] : parts.filter((part) => isAbsolute(part) && part.length <= pathMaxLength);
}

/** Returns the path of a `file:` URL of this machine. */
function pathOfUrl(text: string): string | undefined {
  if (!/^file:\/\//i.test(text)) return undefined;
  try {
    const url = new URL(text);
    url.search = "";
    url.hash = "";
    const path = url.hostname === "" ? fileURLToPath(url) : "";
    return path === "" || path.includes("\0") || path.length > pathMaxLength ? undefined : path;
  } catch {
    // It is no URL, or one of another machine.
    return undefined;
  }
}
