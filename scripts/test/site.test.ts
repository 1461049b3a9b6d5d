/** The documentation site without a browser: anchors, links, sidebar, and the addresses of pages. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { checkBuiltLinks } from "../../site/built-links.ts";
import { linksOf } from "../../site/links.ts";
import { headingSlug, listSitePages } from "../../site/pages.ts";
import { fillSidebar, readSidebar, type SidebarGroup } from "../../site/sidebar.ts";
import { createSiteOptions } from "../../site/site-options.ts";
import { checkSite } from "../docs/site-rules.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Writes `files` into a temporary folder, and runs `use` with it. */
async function withFiles(
  files: { readonly [path: string]: string },
  use: (folder: string) => void,
): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(directory.join(path)), { recursive: true });
    await writeFile(directory.join(path), text);
  }
  use(directory.path);
}

test("every page of docs is in the sidebar once, and every link of a page resolves", () => {
  const pages = listSitePages(root);
  const { groups, problems } = fillSidebar(readSidebar(root), pages);
  assert.deepEqual(problems, []);
  const shown = groups.flatMap((group) => group.pages.map(({ source }) => source));
  assert.deepEqual(shown.toSorted(), pages.map(({ source }) => source).toSorted());
  assert.ok(shown.filter((source) => source.startsWith("docs/")).length > 100);
  assert.deepEqual(
    checkSite(root).map(({ message }) => message),
    [],
  );
});

test("headings have the anchors of GitHub", () => {
  const check = (heading: string, expected: string) => assert.equal(headingSlug(heading), expected);
  check("Get started", "get-started");
  check("What's new in 2.0?", "whats-new-in-20");
  check("`toolcrib serve --stdio`".replaceAll("`", ""), "toolcrib-serve---stdio");
  check("HOME, XDG_CONFIG_HOME", "home-xdg_config_home");
  check("Über uns & mehr", "über-uns--mehr");
});

test("titles and anchors are read without marks, code blocks and repetitions", () =>
  withFiles(
    {
      "docs/a.md":
        "# The `a` [page](b.md)\n\n```sh\n# no heading\n```\n\n## Twice\n## Twice\n## **Bold** one ##\n",
    },
    (folder) => {
      const [page] = listSitePages(folder);
      assert.equal(page?.title, "The a page");
      assert.deepEqual(page?.anchors, ["the-a-page", "twice", "twice-1", "bold-one"]);
      assert.equal(page?.route, "/a.html");
    },
  ));

test("links in code are none", () => {
  const text = 'A [b](c.md#d), `[x](y)`, ![p](q.svg), <img src="r.svg">.\n\n```\n[m](n)\n```\n';
  assert.deepEqual(
    linksOf(text).map(({ href }) => href),
    ["c.md#d", "q.svg", "r.svg"],
  );
});

describe("a finding for", () => {
  const sidebar = JSON.stringify([{ text: "All", pages: ["docs/*.md"] }]);
  const check = (files: { readonly [path: string]: string }, expected: readonly string[]) =>
    withFiles({ "site/sidebar.json": sidebar, ...files }, (folder) =>
      assert.deepEqual(
        checkSite(folder).map(({ message }) => message),
        expected,
      ),
    );

  test("a link to a heading that does not exist", () =>
    check({ "docs/a.md": "# A\n[b](b.md#one) [b](b.md#two)", "docs/b.md": "# B\n## One" }, [
      'docs/b.md has no heading "#two"',
    ]));

  test("a link to a file that does not exist, and one out of the repository", () =>
    check({ "docs/a.md": "# A\n[b](../code.ts) [c](../../x) [d](../here.ts)", "here.ts": "" }, [
      '"code.ts" does not exist',
      '"../../x" leaves the repository',
    ]));

  test("a page that no group has", () =>
    check({ "docs/a.md": "# A", "docs/sub/b.md": "# B" }, ["sidebar.json has no group for docs/sub/b.md"]));
});

test("entries that name a page win over patterns, and unknown or repeated ones are reported", () =>
  withFiles({ "docs/a.md": "# A", "docs/b.md": "# B", "docs/c.md": "# C" }, (folder) => {
    const groups: readonly SidebarGroup[] = [
      { text: "One", pages: ["docs/c.md", "docs/*.md"] },
      { text: "Two", pages: ["docs/b.md", "docs/x.md", "docs/c.md"] },
      { text: "None", pages: ["docs/none/*.md"] },
    ];
    const { groups: filled, problems } = fillSidebar(groups, listSitePages(folder));
    assert.deepEqual(
      filled.map(({ text, pages }) => [text, pages.map(({ source }) => source)]),
      [
        ["One", ["docs/c.md", "docs/a.md"]],
        ["Two", ["docs/b.md"]],
      ],
    );
    assert.deepEqual(problems, [
      "sidebar.json names docs/x.md, which is no page",
      "sidebar.json names docs/c.md twice",
    ]);
  }));

test("a closed group is a link, and open on its own pages", () => {
  const { sidebars } = createSiteOptions(root, { base: "/", repository: undefined });
  const group = (path: string, name: string) => sidebars[path]?.find(({ text }) => text === name);
  assert.equal(group("/", "Decisions")?.items, undefined);
  assert.match(group("/", "Decisions")?.link ?? "", /^\/adr\/0001-/);
  assert.ok((group("/adr/", "Decisions")?.items?.length ?? 0) > 40);
  assert.equal(group("/adr/", "Packages")?.items, undefined);
  assert.ok((group("/", "Guides")?.items?.length ?? 0) > 10);
  assert.ok(group("/ARCHITECTURE.md", "Project")?.items !== undefined);
});

test("links of pages become addresses of the site, of the repository, or nothing", () => {
  const repository = "https://example.com/blob/main";
  const known = createSiteOptions(root, { base: "/", repository });
  const unknown = createSiteOptions(root, { base: "/", repository: undefined });
  const check = (href: string, expected: string | undefined, options = known) =>
    assert.equal(options.rewriteLink("docs/guides/policies.md", href), expected);
  check("audit.md", "/guides/audit.html");
  check("../reference/limits.md#admission", "/reference/limits.html#admission");
  check("../../packages/policy/README.md", "/packages/policy/README.html");
  check("../../packages/policy/src/index.ts", `${repository}/packages/policy/src/index.ts`);
  check("../../packages/policy/src/index.ts", undefined, unknown);
  check("https://example.org/", "https://example.org/");
  check("#limits", "#limits");
  check("../index.md", "/");
});

test("a built site with a broken link, or one that loads from elsewhere, has problems", () =>
  withFiles(
    {
      "index.html":
        '<h1 id="top"></h1><a href="/base/a.html#x">a</a><a href="/base/">self</a><a href="#top">top</a>',
      "a.html":
        '<a href="/b.html">b</a><script src="https://cdn.example.com/x.js"></script><a href="https://example.com/">y</a>',
    },
    (folder) => {
      const { problems } = checkBuiltLinks(folder, "/base/");
      assert.deepEqual(problems.toSorted(), [
        "a.html has /b.html, which is not below /base/",
        "a.html loads https://cdn.example.com/x.js",
        "index.html has /base/a.html#x, but a.html has no such anchor",
      ]);
    },
  ));
