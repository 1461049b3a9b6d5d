/** Explanations of the codes of the package toolpack-image. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library, pairFiles } from "../samples.ts";

export const explanations: Explanations = {
  IMAGE_NAME_INVALID: {
    cause: "The reference of an image needs a name and a tag.",
    files: pairFiles({}),
    run: "toolcrib toolpack build --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --ref registry.example.com/tools --out image.tar",
    fix: "Give a reference with a tag, in lower case.",
  },
  IMAGE_PART_INVALID: {
    cause:
      "A part of the image (Node, Toolcrib itself) is not the one that was recorded, or its archive cannot be read.",
    files: library(
      'const [node] = runtimeParts("linux/amd64");',
      'await readPart(node, Buffer.from("another archive"));',
    ),
    run: "node program.mjs",
    fix: "Use a mirror that has the recorded version, or fetch the parts again: toolcrib toolpack fetch.",
  },
  IMAGE_PATH_CONFLICT: {
    cause:
      "Two files of the image would have the same path, or a path has characters that images cannot have.",
    did: "image.entrypoint of a manifest is a path that the image uses itself.",
    prints:
      'Two files of the image have the path "/app/node"\nchoose another image.entrypoint in the manifest, such as /app/toolpack',
    unrun: "setup",
    tested: "packages/toolpack-image/test/build-image.test.ts",
    fix: "Choose another image.entrypoint in the manifest.",
  },
  IMAGE_SETTING_TAKEN: {
    cause:
      "Two credentials or variables would be the same setting of a bundle, because names of settings have letters and digits only.",
    did: "A bundle of two services has the credentials api-key and api_key.",
    prints:
      "api_key would belong to both github and gitlab\nsuch names differ in letters and digits only: build a bundle of each service, or rename one of the two",
    unrun: "setup",
    tested: "packages/toolpack-image/test/build-bundle.test.ts",
    fix: "Build a bundle of each service, or rename one of them in its manifest.",
  },
  IMAGE_TOOL_NAME_INVALID: {
    cause:
      "In an image of several services, tools have the name of their service before their own. One would be longer than clients accept.",
    did: "Two services are built into one image, and a tool has a name of 60 characters.",
    prints:
      'With the name of its service, "github__a_very_long_name" is longer than 64 characters\nbuild an image of "github" alone: its tools have their own names there',
    unrun: "setup",
    tested: "packages/cli/test/e2e/toolpack-build.process.test.ts",
    fix: "Build an image of this service alone, or rename the tool.",
  },
  IMAGE_TOOL_NAME_TAKEN: {
    cause: "Two services or tools would have the same name in what is built.",
    files: pairFiles({}),
    run: "toolcrib toolpack build --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --ref registry.example.com/tools:1 --out image.tar",
    fix: "Build one version of each service, or rename one.",
  },
  IMAGE_VARIABLE_UNSET: {
    cause:
      "The base URL or a path has a variable, and the command that is written into the package needs its value.",
    files: pairFiles({
      manifest: [["[api.acme.example]", '["*.acme.example"]']],
      toolspec: [
        [
          "baseUrl: https://api.acme.example",
          'baseUrl: "https://{tenant}.acme.example"\nvariables:\n  tenant: { description: name of the company }',
        ],
      ],
    }),
    run: "toolcrib toolpack build --manifest acme/manifests/acme/0.1.0.yaml --toolspec acme/toolspecs/acme/0.1.0.yaml --format mcpkg --out packages",
    fix: "Give it: --variable NAME=VALUE.",
  },
};
