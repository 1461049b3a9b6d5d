/**
 * The test of the site in a browser: builds it, serves it on loopback below a path, and opens
 * every page. Prints a line for each problem, and at the end `N passed, N failed`.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axeSource, type Browser, type BrowserPage, findChromium, startBrowser } from "./browser.ts";
import { buildSite } from "./build-site.ts";
import { checkBuiltLinks } from "./built-links.ts";
import { PageChecker, screens, watch } from "./check-page.ts";
import { installDependencies } from "./dependencies.ts";
import { listSitePages, type SitePage } from "./pages.ts";
import { startSiteServer } from "./serve-site.ts";

/** The site must work below a path, too. */
const base = "/toolcrib/";
/** Tabs at a time. */
const tabs = 3;
const root = join(import.meta.dirname, "..");

/** Pages of each layout, which axe examines at both widths and in both themes. */
const layouts = [
  "docs/index.md",
  "docs/guides/policies.md",
  "docs/guides/connecting-clients.md",
  "docs/reference/enforcement.md",
  "bench/RESULTS.md",
  "README.md",
];

/** A check with the problems that it found. */
interface Checked {
  readonly name: string;
  readonly problems: readonly string[];
}

/** Runs all checks. Returns the exit code. */
export async function testSite(): Promise<number> {
  const log = (line: string) => console.log(line);
  const program = findChromium();
  if (program === undefined) {
    log("# skipped: needs Chromium\n0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-site-"));
  try {
    if (!installDependencies(log) || (await buildSite({ base, output: folder }, log)) === undefined) {
      log("The site cannot be built\n0 passed, 1 failed");
      return 1;
    }
    log(`# built after ${Math.round(process.uptime())} s`);
    const built = checkBuiltLinks(folder, base);
    const results = [
      { name: `${built.links} links of the built site`, problems: built.problems },
      ...(await inBrowser(program, folder)),
    ];
    const failed = results.filter(({ problems }) => problems.length > 0);
    for (const { name, problems } of failed) log(`not ok ${name}\n  ${problems.join("\n  ")}`);
    log(`${results.length - failed.length} passed, ${failed.length} failed`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inBrowser(program: string, folder: string): Promise<Checked[]> {
  await using server = await startSiteServer(folder, { base, port: 0 });
  const browser = await startBrowser(program);
  try {
    const pages = listSitePages(root);
    const axe = axeSource();
    const queue = [...pages];
    const results: Checked[] = [];
    const work = async () => {
      await using checker = new PageChecker(await newPage(browser, "wide"), new URL(server.url).origin, axe);
      for (let page = queue.shift(); page !== undefined; page = queue.shift()) {
        results.push({ name: page.source, problems: await examine(checker, server.url, page) });
        if (results.length % 25 === 0) console.log(`# ${results.length} of ${pages.length} pages`);
      }
    };
    await Promise.all(Array.from({ length: tabs }, work));
    for (const [name, run] of Object.entries({ findsByWords, isReachedByKeyboard, remembersTheTheme })) {
      results.push({ name, problems: await run(browser, server.url) });
    }
    return results;
  } finally {
    await browser.close();
  }
}

async function examine(checker: PageChecker, url: string, page: SitePage): Promise<readonly string[]> {
  try {
    return await checker.check(url + page.route.slice(1), { complete: layouts.includes(page.source) });
  } catch (error) {
    return [String(error)];
  }
}

const newPage = (browser: Browser, screen: keyof typeof screens) =>
  browser.newPage({ colorScheme: "light", reducedMotion: "reduce", viewport: screens[screen] });

/** Uses a page of its own, and returns what `use` and the page report. */
async function onPage(
  browser: Browser,
  url: string,
  use: (page: BrowserPage, report: (problem: string) => void) => Promise<void>,
): Promise<string[]> {
  const page = await newPage(browser, "wide");
  const problems: string[] = [];
  const report = (problem: string) => void problems.push(problem);
  watch(page, new URL(url).origin, report);
  try {
    await use(page, report);
  } catch (error) {
    report(String(error));
  } finally {
    await page.close();
  }
  return problems;
}

const timeout = 60_000;

/** The search, opened and used with the keyboard alone, finds a page by words and shows it. */
function findsByWords(browser: Browser, url: string): Promise<string[]> {
  return onPage(browser, url, async (page, report) => {
    await page.goto(url, { waitUntil: "networkidle" });
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".VPLocalSearchBox input", { timeout });
    await page.keyboard.type("change a policy");
    await page.waitForSelector(".VPLocalSearchBox .result", { timeout });
    const links = await page.evaluate(
      `[...document.querySelectorAll(".VPLocalSearchBox .result")].map((link) => link.href).join(" ")`,
    );
    if (!String(links).includes("guides/policies")) report(`found only ${links}`);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\.html/, { timeout });
  });
}

/** Evaluates to the part of the page that has the focus. */
const focusedPart = `(() => {
  const focused = document.activeElement;
  const isIn = (selector) => focused.closest(selector) !== null;
  if (focused === null || focused === document.body) return "nothing";
  if (isIn(".VPSkipLink")) return "skip link";
  if (getComputedStyle(focused).outlineStyle === "none") return "invisible focus of " + focused.className;
  if (isIn(".VPNav")) return "navigation";
  if (isIn(".VPSidebar")) return "sidebar";
  return isIn(".VPContent") ? "content" : "other";
})()`;

/** Tab goes through the skip link, the navigation and the sidebar to the content; Enter follows. */
function isReachedByKeyboard(browser: Browser, url: string): Promise<string[]> {
  return onPage(browser, url, async (page, report) => {
    await page.goto(`${url}guides/policies.html`, { waitUntil: "networkidle" });
    const parts = new Set<string>();
    for (let count = 0; count < 400 && !parts.has("content"); count += 1) {
      await page.keyboard.press("Tab");
      parts.add(String(await page.evaluate(focusedPart)));
    }
    for (const part of ["skip link", "navigation", "sidebar", "content"]) {
      if (!parts.has(part)) report(`Tab does not reach the ${part}`);
    }
    for (const part of parts) if (part.startsWith("invisible")) report(part);
    await page.goto(`${url}guides/policies.html`, { waitUntil: "networkidle" });
    await page.evaluate(`document.querySelector(".VPSidebar a[href$='guides/audit.html']").focus()`);
    await page.keyboard.press("Enter");
    await page.waitForURL(/guides\/audit\.html$/, { timeout });
  });
}

/** The switch of the theme works from the keyboard, and the next page has the theme, too. */
function remembersTheTheme(browser: Browser, url: string): Promise<string[]> {
  return onPage(browser, url, async (page, report) => {
    const isDark = `document.documentElement.classList.contains("dark")`;
    await page.goto(url, { waitUntil: "networkidle" });
    if (await page.evaluate(isDark)) report("dark where the system is light");
    await page.evaluate(`document.querySelector(".VPNavBar .VPSwitchAppearance").focus()`);
    await page.keyboard.press("Enter");
    await page.goto(`${url}guides/policies.html`, { waitUntil: "networkidle" });
    if (!(await page.evaluate(isDark))) report("the next page is light again");
  });
}
