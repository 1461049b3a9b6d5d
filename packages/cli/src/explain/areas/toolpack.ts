/** Explanations of the codes of the package toolpack. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library, pairFiles } from "../samples.ts";

export const explanations: Explanations = {
  TOOLPACK_PATH_INVALID: {
    cause:
      "A JSONPath of a toolspec is not valid, or uses match() or search(), whose time has no bound. toolcrib lint-toolspecs finds it before.",
    files: {
      ...library(
        'const { value: manifest } = parseManifest({ name: "m", text: readFileSync("acme/manifests/acme/0.1.0.yaml", "utf8") });',
        'const { value: toolspec } = parseToolspec({ name: "t", text: readFileSync("acme/toolspecs/acme/0.1.0.yaml", "utf8") });',
        "createToolpackSource({ manifest, toolspec }, {});",
      ),
      ...pairFiles({
        toolspec: [["    params:\n", '    response: { fields: { ids: "$..[" } }\n    params:\n']],
      }),
    },
    run: "node program.mjs",
    fix: "Correct the path; toolcrib lint-toolspecs shows the place.",
  },
  TOOLPACK_PATH_TOO_COSTLY: {
    cause:
      "The paths of the tool visit too many values of this response, mostly because of .. over a large document.",
    did: 'results is "$..id", and an API returns a document with millions of values.',
    prints:
      '[the whole response: The JSONPaths of this tool take more than 2000000 steps on this response, at "$..id"]',
    unrun: "load",
    tested: "packages/toolpack/test/hostile-service.security.test.ts",
    fix: "Name the members on the way instead of .. in the toolspec, or ask the API for less.",
  },
  TOOLPACK_TOOL_UNKNOWN: {
    cause: "A toolspec has no tool of this name.",
    files: {
      ...library(
        'const { value: manifest } = parseManifest({ name: "m", text: readFileSync("acme/manifests/acme/0.1.0.yaml", "utf8") });',
        'const { value: toolspec } = parseToolspec({ name: "t", text: readFileSync("acme/toolspecs/acme/0.1.0.yaml", "utf8") });',
        'createToolpackSource({ manifest, toolspec, tools: ["get_repos"] }, {});',
      ),
      ...pairFiles({}),
    },
    did: "An embedding program offers a tool that the toolspec does not have.",
    run: "node program.mjs",
    fix: "Use a name of the toolspec; toolcrib toolspec shows them.",
  },
};
