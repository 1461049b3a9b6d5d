/**
 * Checks one page of the site in a browser: at two widths, in light and dark, it
 * looks for errors of the console, requests to other origins, horizontal overflow, and whatever
 * axe finds.
 */

import type { BrowserPage } from "./browser.ts";

/** Widths of a telephone and of a laptop, with the heights of their screens. */
export const screens = { narrow: { width: 390, height: 844 }, wide: { width: 1280, height: 800 } } as const;

/** The extent of the check of a page. */
export interface PageCheck {
  /** Whether axe examines the page with its navigation, and in both themes and widths; otherwise the content, once. */
  readonly complete: boolean;
}

/** Rules of axe that do not hold here, each with the reason. */
const exceptions: { readonly [rule: string]: string } = {};

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** A tab in which pages are examined one after the other, so that scripts are loaded and compiled once. */
export class PageChecker implements AsyncDisposable {
  readonly #page: BrowserPage;
  readonly #axe: string;
  #problems: string[] = [];

  constructor(page: BrowserPage, origin: string, axe: string) {
    this.#page = page;
    this.#axe = axe;
    watch(page, origin, (problem) => this.#problems.push(problem));
  }

  /** Opens the page at `url` and returns what is wrong with it. */
  async check(url: string, { complete }: PageCheck): Promise<string[]> {
    const page = this.#page;
    this.#problems = [];
    const problems = this.#problems;
    await page.setViewportSize(screens.wide);
    await page.goto(url, { waitUntil: "load" });
    await page.waitForSelector(".vp-doc h1", { timeout: 60_000 });
    await page.evaluate(this.#axe);
    for (const theme of ["light", "dark"] as const) {
      await page.evaluate(`document.documentElement.classList.toggle("dark", ${theme === "dark"})`);
      for (const [name, screen] of Object.entries(screens)) {
        await page.setViewportSize(screen);
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        if (overflow !== 0) problems.push(`${name}, ${theme}: wider than the screen by ${overflow} pixels`);
        if (!complete && !(theme === "light" && name === "wide")) continue;
        problems.push(...(await runAxe(page, complete)).map((problem) => `${name}, ${theme}: ${problem}`));
      }
    }
    return problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.close();
  }
}

/** Reports errors of the console and requests to other origins. */
export function watch(page: BrowserPage, origin: string, report: (problem: string) => void): void {
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) report(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => report(`script: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) report(`request to ${url}`);
  });
}

async function runAxe(page: BrowserPage, complete: boolean): Promise<string[]> {
  const context = complete
    ? { include: [["html"]] }
    : { include: [["html"]], exclude: [[".VPNav"], [".VPSidebar"]] };
  const options = {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    rules: Object.fromEntries(Object.keys(exceptions).map((rule) => [rule, { enabled: false }])),
    resultTypes: ["violations"],
  };
  const found = await page.evaluate(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations))`,
  );
  const violations: readonly AxeViolation[] = JSON.parse(String(found));
  return violations.map(({ id, nodes }) => {
    const [first] = nodes;
    return `axe ${id} (${nodes.length}): ${first?.target.join(" ")}: ${first?.failureSummary.replace(/\s+/g, " ")}`;
  });
}
