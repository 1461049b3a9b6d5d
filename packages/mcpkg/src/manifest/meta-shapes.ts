/** The shapes of `meta/publisher.json` and `meta/provenance.json` (MCPKG document, section 7). */

import { record, text } from "@toolcrib/document";

/** The shape of `meta/publisher.json`. */
export const publisherShape = record({
  description: "Who publishes the package.",
  isOpen: true,
  fields: {
    id: { required: text({ description: "Id in a registry.", maxLength: 200 }) },
    name: text({ description: "Name for people.", maxLength: 200 }),
    website: text({ description: "URL.", maxLength: 2048 }),
    contact: text({ description: "Address for people.", maxLength: 2048 }),
  },
});

/** The shape of `meta/provenance.json`. */
export const provenanceShape = record({
  description: "From what the package was built.",
  isOpen: true,
  fields: {
    sourceRepo: text({ description: "URL of the source.", maxLength: 2048 }),
    commit: text({ description: "Revision of the source.", maxLength: 200 }),
    builtAt: text({ description: "RFC 3339 time.", maxLength: 100 }),
    builtBy: text({ description: "Who built it.", maxLength: 200 }),
  },
});
