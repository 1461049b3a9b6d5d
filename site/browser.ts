/**
 * A browser for tests: Chromium of the system, driven by playwright-core of site/. Only what the
 * tests use is declared, because the packages of site/ are not there when types are checked.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = join(import.meta.dirname, "node_modules");

/** A message of the console of a page. */
interface ConsoleMessage {
  type(): string;
  text(): string;
}

/** A page in a tab. */
export interface BrowserPage {
  goto(url: string, options?: { waitUntil: "load" | "networkidle" }): Promise<unknown>;
  /** Evaluates an expression of JavaScript in the page. */
  evaluate(expression: string): Promise<unknown>;
  addScriptTag(options: { content: string }): Promise<unknown>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>;
  waitForSelector(selector: string, options?: { timeout: number }): Promise<unknown>;
  waitForURL(url: RegExp, options?: { timeout: number }): Promise<unknown>;
  url(): string;
  close(): Promise<void>;
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  on(event: "console", listener: (message: ConsoleMessage) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  on(event: "request", listener: (request: { url(): string }) => void): void;
}

/** The settings of the pages of a tab. */
interface ContextOptions {
  readonly colorScheme: "light" | "dark";
  readonly reducedMotion: "reduce";
  readonly viewport: { readonly width: number; readonly height: number };
}

/** A browser without a window. */
export interface Browser {
  newPage(options: ContextOptions): Promise<BrowserPage>;
  close(): Promise<void>;
}

/** Returns the program of Chromium; undefined where there is none. */
export function findChromium(): string | undefined {
  return ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
}

/** Starts Chromium. */
export async function startBrowser(program: string): Promise<Browser> {
  const { chromium } = await import(pathToFileURL(join(modules, "playwright-core/index.mjs")).href);
  // It runs as root in CI, and shows nothing but our own pages.
  return chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** The source of axe, which pages run. */
export function axeSource(): string {
  return readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");
}
