/** The properties of a kind of document: its name, its codes, its displayable text. Types only. */

import type { Source } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/** Codes of a kind of document for the faults that any document can have. */
export interface StructureCodes {
  readonly fileTooLarge: string;
  readonly syntax: string;
  readonly tooComplex: string;
  readonly duplicateKey: string;
  readonly unknownField: string;
  readonly fieldRequired: string;
  readonly wrongType: string;
  readonly valueInvalid: string;
  /** Code for texts that YAML 1.1 interprets differently. @default no such check */
  readonly bareWord?: string;
}

/** A kind of document. */
export interface DocumentKind {
  /** Noun for the document in messages, such as `manifest`. */
  readonly noun: string;
  readonly codes: StructureCodes;
  /** Whether to accept comments, and a comma before a closing bracket, in JSON. @default false */
  readonly allowsComments?: boolean;
  /** Hint for an empty file. @default an empty file is not an error */
  readonly emptyHint?: string;
  /** Hint for a file that is too long. */
  readonly tooLargeHint?: string;
  /** Quotes `text` for messages. @default `quote` */
  readonly quote?: (text: string) => string;
  /**
   * Returns the displayable text, of the same length; `tree` is `undefined` if
   * the text cannot be read. @default stars replace possible secrets
   */
  readonly toShown?: (source: Source, tree: DocumentNode | undefined) => Source;
}
