/** What is particular to a kind of document: its name, its codes, what of it may be shown. Types only. */

import type { Source } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/** What any document can get wrong, by the code of its kind. */
export interface StructureCodes {
  readonly fileTooLarge: string;
  readonly syntax: string;
  readonly tooComplex: string;
  readonly duplicateKey: string;
  readonly unknownField: string;
  readonly fieldRequired: string;
  readonly wrongType: string;
  readonly valueInvalid: string;
  /** For texts that another version of YAML reads as something else. @default such texts are not looked for */
  readonly bareWord?: string;
}

/** A kind of document. */
export interface DocumentKind {
  /** What it is called in messages, such as `manifest`. */
  readonly noun: string;
  readonly codes: StructureCodes;
  /** Whether JSON may have comments and a comma before a closing bracket. @default false */
  readonly allowsComments?: boolean;
  /** What to write into an empty file, where that is an error. @default an empty file is none */
  readonly emptyHint?: string;
  /** What to do about a file that is too long. */
  readonly tooLargeHint?: string;
  /** `text` as messages quote it. @default `quote` */
  readonly quote?: (text: string) => string;
  /**
   * The text that findings may show, of the same length; `tree` is `undefined`
   * where the text cannot be read. @default what looks like a secret is starred out
   */
  readonly toShown?: (source: Source, tree: DocumentNode | undefined) => Source;
}
