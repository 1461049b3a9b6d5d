/**
 * Which template a URI may have come from (RFC 6570, matched backwards). Used
 * only to choose the server that is asked; the server itself decides. Pure.
 */

const templateMaxLength = 2000;

/** Create a test for URIs that `template` can produce; undefined when the template is unusable. */
export function createTemplateMatcher(template: string): ((uri: string) => boolean) | undefined {
  if (template.length > templateMaxLength) return undefined;
  const parts = template.split(/(\{[^{}]*\})/);
  let source = "";
  for (const part of parts) {
    if (!part.startsWith("{")) source += part.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    // Reserved and fragment expansion may hold slashes; query expansion may be empty; the rest is one segment.
    else if (/^\{[+#]/.test(part)) source += "[^\\s]*";
    else if (/^\{[?&]/.test(part)) source += "(?:[?&][^\\s#]*)?";
    else if (/^\{[/.;]/.test(part) || part.endsWith("*}")) source += "[^\\s?#]*";
    else source += "[^/\\s?#]*";
  }
  const expression = new RegExp(`^${source}$`, "u");
  return (uri) => uri.length <= templateMaxLength && expression.test(uri);
}
