/** The section `search`: whether and from whom search learns. */

import { flag, list, record, text, type ValueOf } from "@toolcrib/document";
import type { SearchConfig } from "./config-types.ts";

export const searchShape = record({
  description: "Search of tools.",
  fields: {
    learn: flag(
      "Whether a search teaches its words to the tool that its client calls next. Default: true. The words are kept in the home; toolcrib search forget erases them.",
    ),
    learn_except: list(
      text({ description: "Name of a client, as in policy.clients.", maxLength: 256, examples: ["ci"] }),
      { description: "Clients from which nothing is learned.", maxItems: 1000 },
    ),
  },
  hints: {
    learning: "did you mean learn?",
    enabled: "write learn: false to turn learning off",
    except: "did you mean learn_except?",
    mode: "write it below serve: serve: { mode: … }",
  },
});

/** `search` as written. */
type SearchDocument = ValueOf<typeof searchShape>;

export function toSearchConfig(document: SearchDocument | undefined): SearchConfig {
  return { learns: document?.learn ?? true, learnsExcept: document?.learn_except ?? [] };
}
