/**
 * The configuration of VitePress. What it knows of the repository is in site-options.ts; here is
 * how it reads Markdown: no HTML of pages, anchors of GitHub, links of GitHub.
 */

import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type MarkdownOptions } from "vitepress";
import { headingSlug } from "../pages.ts";
import { createSiteOptions, readSettings } from "../site-options.ts";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

const root = fileURLToPath(new URL("../..", import.meta.url));
const settings = readSettings(process.env);
const options = createSiteOptions(root, settings);

const modulePath = (name: string) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));

/** Rewrites the links of each page before VitePress sees them. */
function rewriteLinks(markdown: MarkdownIt): void {
  markdown.core.ruler.push("toolcrib-links", (state) => {
    const path = state.env.realPath ?? state.env.path;
    const from = relative(root, path).split(sep).join("/");
    for (const { type, children } of state.tokens) {
      if (type !== "inline" || children === null) continue;
      const hidden: boolean[] = [];
      for (const token of children) {
        if (token.type === "link_open") {
          const href = options.rewriteLink(from, token.attrGet("href") ?? "");
          hidden.push(href === undefined);
          if (href !== undefined) token.attrSet("href", href);
          else Object.assign(token, { type: "file_open", tag: "span", attrs: [["class", "file"]] });
        } else if (token.type === "link_close" && hidden.pop()) {
          Object.assign(token, { type: "file_close", tag: "span" });
        } else if (token.type === "image") {
          const src = token.attrGet("src") ?? "";
          if (!/^(?:[a-z]+:|\.?\/)/i.test(src)) token.attrSet("src", `./${src}`);
        }
      }
    }
  });
}

/** Comments of pages are for their authors. */
function removeComments(markdown: MarkdownIt): void {
  markdown.core.ruler.before("block", "toolcrib-comments", (state) => {
    state.src = state.src.replace(/^<!--[\s\S]*?-->$/gm, (text) => text.replace(/[^\n]/g, ""));
  });
}

/** Heads of tables without a text are no heads for people who hear them; code without a fence looks like other code. */
function adaptTokens(markdown: MarkdownIt): void {
  markdown.core.ruler.push("toolcrib-tokens", ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === "th_open" && tokens[at + 1]?.content === "") {
        token.tag = "td";
        Object.assign(tokens[at + 2] ?? {}, { tag: "td" });
      } else if (token.type === "code_block") {
        Object.assign(token, { type: "fence", info: "text", tag: "code", markup: "```" });
      }
    }
  });
}

/** Vue must not read `{{ }}` in texts and in code within them. */
function escapeInterpolations(markdown: MarkdownIt): void {
  markdown.renderer.rules.code_inline = (tokens, index) =>
    `<code v-pre>${markdown.utils.escapeHtml(tokens[index]?.content ?? "")}</code>`;
  markdown.renderer.rules.text = (tokens, index) =>
    markdown.utils.escapeHtml(tokens[index]?.content ?? "").replaceAll("{", "&#123;");
}

export default defineConfig({
  title: "Toolcrib",
  description: "An MCP gateway: one endpoint for every tool of an AI agent, found, governed and accounted for",
  lang: "en",
  base: settings.base,
  srcDir: "..",
  outDir: "./dist",
  cacheDir: "./node_modules/.cache/vitepress",
  srcExclude: [...options.excluded],
  rewrites: options.rewrite,
  cleanUrls: false,
  metaChunk: true,
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    html: false,
    linkify: false,
    anchor: { slugify: headingSlug },
    headers: { slugify: headingSlug, level: [2, 3] },
    toc: { slugify: headingSlug },
    languageAlias: { starlark: "python", star: "python", cedar: "swift" },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(markdown) {
      removeComments(markdown);
      adaptTokens(markdown);
      rewriteLinks(markdown);
      escapeInterpolations(markdown);
    },
  },
  vite: {
    // Pages are outside this folder, and find Vue only here.
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: modulePath("vue/server-renderer/index.mjs") },
        { find: /^vue$/, replacement: modulePath("vue/dist/vue.runtime.esm-bundler.js") },
      ],
    },
    server: { fs: { allow: [root] } },
  },
  themeConfig: {
    nav: options.navigation.map(({ text, link = "/" }) => ({ text, link })),
    sidebar: options.sidebars as never,
    outline: { level: [2, 3], label: "On this page" },
    search: {
      provider: "local",
      options: {
        // All words count: of many pages that have one of them, few are meant.
        miniSearch: { searchOptions: { combineWith: "AND", fuzzy: 0.15, prefix: true } },
        // The long sections of the changelog have every word.
        _render: (text, env, markdown) =>
          env.relativePath === "CHANGELOG.md" ? "" : markdown.render(text, env),
      },
    },
    docFooter: { prev: "Previous", next: "Next" },
  },
  transformPageData(page) {
    // The home page is a page of Markdown too, without what stands beside others.
    if (page.relativePath !== "index.md") return;
    Object.assign(page.frontmatter, { aside: false, prev: false, next: false, pageClass: "home" });
  },
});
