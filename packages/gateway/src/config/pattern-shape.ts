/**
 * Tool patterns: globs over `namespace:name` (with a version: `namespace:name:1.0`)
 * and over `namespace__name`. `*` stands for any number of characters, `?` for one.
 */

import { list, reportAt, text } from "@toolcrib/document";
import { looksLikeCredential } from "./credential.ts";
import { quote } from "./display-source.ts";

const toolPattern = text({
  description: 'A tool, such as "github:get_issue", "github:*", "*:delete_*" or "github__get_issue".',
  maxLength: 256,
  examples: ["github:*", "*:delete_*"],
  inspect(value, node, place) {
    const bad = /[^A-Za-z0-9_.:*?-]/.exec(value)?.[0];
    if (bad === undefined) return;
    reportAt(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `Tool pattern ${quote(value)} cannot match: no tool name contains ${quote(bad)}`,
      hint:
        bad === "/" && value.length <= 80 && !looksLikeCredential(value)
          ? `write ${value.replaceAll("/", ":")}`
          : "letters, digits, _ . - : and the wildcards * and ? are allowed",
    });
  },
});

/** A list of tool patterns. */
export const toolPatterns = (description: string) => list(toolPattern, { description, maxItems: 1000 });
