/**
 * The parts of our pictures: escaped text, and one style for all. A picture has a background of
 * its own, in light and dark, so it is readable on any page; where it moves, it stands still for
 * people who prefer that.
 */

/** Font of names and numbers, and of commands. */
const fonts = {
  text: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", Helvetica, Arial, sans-serif',
  code: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
};

const light = {
  ground: "#f6f7f5",
  box: "#ffffff",
  line: "#9aa3a0",
  ink: "#1d2125",
  soft: "#4a5259",
  accent: "#0b5c6b",
  bar: "#8b9794",
  stop: "#9b2c20",
};
const dark: typeof light = {
  ground: "#1b1f22",
  box: "#262c30",
  line: "#737d7c",
  ink: "#e4e6e3",
  soft: "#b3b9b8",
  accent: "#7cc7d4",
  bar: "#69757a",
  stop: "#f0a196",
};

const variables = (colors: typeof light) =>
  Object.entries(colors)
    .map(([name, color]) => `--${name}:${color}`)
    .join(";");

const style = `
svg{${variables(light)};font-family:${fonts.text}}
@media (prefers-color-scheme:dark){svg{${variables(dark)}}}
.ground{fill:var(--ground)}
.box{fill:var(--box);stroke:var(--line)}
.key{fill:var(--box);stroke:var(--accent);stroke-width:2}
.arrow{fill:none;stroke:var(--soft);stroke-width:1.5}
.stop{fill:none;stroke:var(--stop);stroke-width:1.5}
.head{fill:var(--soft)}
.stophead{fill:var(--stop)}
text{fill:var(--ink);font-size:13px}
.title{font-weight:600;font-size:15px}
.soft{fill:var(--soft)}
.stoptext{fill:var(--stop)}
.code{font-family:${fonts.code};font-size:12px}
.bar{fill:var(--bar)}
.own{fill:var(--accent)}
.strong{font-weight:600}`;

/** Escapes text for SVG. */
export function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** A picture: its size, its name, what it shows in words, and its elements. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly description: string;
  readonly elements: readonly string[];
  /** Rules that only this picture needs. */
  readonly extraStyle?: string;
}

/** Writes a picture as a file. */
export function toSvg({ width, height, title, description, elements, extraStyle = "" }: Picture): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeText(title)}</title>`,
    `<desc id="description">${escapeText(description)}</desc>`,
    `<style>${style}${extraStyle}</style>`,
    `<rect class="ground" width="${width}" height="${height}" rx="8"/>`,
    ...elements,
    "</svg>",
    "",
  ].join("\n");
}

/** One line of text. */
export function textAt(x: number, y: number, text: string, className = "", anchor = "start"): string {
  const attributes = `${className === "" ? "" : ` class="${className}"`}${anchor === "start" ? "" : ` text-anchor="${anchor}"`}`;
  return `<text x="${x}" y="${y}"${attributes}>${escapeText(text)}</text>`;
}
