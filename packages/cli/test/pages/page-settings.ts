/**
 * Settings of pages whose commands need something before they run here: the servers and files that its reader has, and what stands
 * for a name, an address or an id of the reader. Everything else in a command is run as the page shows it.
 */

import type { ProcessOutcome, ServerProcess, TemporaryDirectory } from "@toolcrib/testing";
import { guideSettings } from "./guide-settings.ts";
import { operationsSettings } from "./operations-settings.ts";

/** Where the commands of a page run. */
export interface Place {
  /** The project, and the home of the user. */
  readonly directory: TemporaryDirectory;
  readonly env: NodeJS.ProcessEnv;
  /** Ends with the page. */
  readonly resources: AsyncDisposableStack;
  /** The servers that the page started so far. */
  readonly servers: readonly ServerProcess[];
  /** Runs a command as the page does. */
  readonly run: (command: string) => Promise<ProcessOutcome>;
}

/** Text of commands, and what stands in its place; a function is called at each use. */
export type Values = { readonly [text: string]: string | (() => string | Promise<string>) };

/** The settings of one page. */
export interface PageSetting {
  /** Whether the page begins without a configuration. @default false: with that of the quickstart */
  readonly isEmpty?: boolean;
  /** Whether its commands without output ask at a terminal, and get the answer yes; or also its transcripts. @default false */
  readonly asks?: boolean | "always";
  /** Returns what this machine lacks for the page; undefined where nothing is missing. */
  readonly needs?: () => Promise<string | undefined>;
  /** Runs before the first command. */
  readonly prepare?: (place: Place) => void | Promise<void>;
  /** Returns what stands for names, addresses and ids of the reader, after `prepare`. */
  readonly values?: (place: Place) => Values;
  /** Runs before a command; the second time that a page has it, `COMMAND (2)`. */
  readonly before?: { readonly [command: string]: (place: Place) => void | Promise<void> };
  /** Exit codes of commands that print what is wrong. */
  readonly codes?: { readonly [command: string]: number };
  /** Folders of commands that begin in another one. */
  readonly folders?: { readonly [command: string]: string };
}

export const pageSettings: { readonly [page: string]: PageSetting } = {
  ...guideSettings,
  ...operationsSettings,
};
