/** `toolcrib toolpack` and its subcommands. */

import type { CliCommandGroup } from "../cli-command.ts";
import { defineCommand } from "../cli-command.ts";
import { command as serve } from "./serve-toolpack.ts";

const platforms = ["linux/amd64", "linux/arm64"] as const;

const platformOption = {
  value: "os/arch",
  isRepeatable: true,
  choices: platforms,
  help: "platform of the image; repeatable (default: linux/amd64)",
} as const;

const mirrorOption = {
  value: "url",
  help: "mirror of Debian, for the libraries of Node (default: the one that apt uses)",
} as const;

export const command: CliCommandGroup = {
  name: "toolpack",
  summary: "serve toolspecs as a tool server without a gateway, and build images, packages and bundles of it",
  defaultCommand: serve.name,
  commands: [
    serve,
    defineCommand({
      name: "build",
      summary: "write services as a container image (OCI), as packages (.mcpkg) or as a bundle (.mcpb)",
      arguments: {
        name: {
          isOptional: true,
          isVariadic: true,
          help: "services of the catalog, as NAME or NAME@VERSION",
        },
      },
      options: {
        manifest: {
          value: "file",
          isRepeatable: true,
          help: "a manifest of your own; repeatable, each with its --toolspec",
        },
        toolspec: { value: "file", isRepeatable: true, help: "the toolspec of the manifest; repeatable" },
        format: {
          value: "format",
          isRepeatable: true,
          choices: ["image", "mcpkg", "mcpb"],
          help: "what to write; repeatable (default: image)",
        },
        out: { value: "dir", help: "new or empty folder to write to (default: ./NAME-VERSION)" },
        tar: { help: "write the image as one tar archive, which runtimes load, instead of a folder" },
        platform: platformOption,
        variable: {
          value: "name=value",
          isRepeatable: true,
          help: "a variable of base URLs, fixed in what is built; with several services SERVICE/NAME=VALUE; repeatable",
        },
        ref: {
          value: "reference",
          help: "name and tag of the image (default: image.ref of the manifest, and its version)",
        },
        updateManifest: {
          help: "write the digest of the image into image.digest of the file given with --manifest",
        },
        sign: { help: "sign packages and the provenance with the publisher key of the home" },
        key: { value: "file", help: "sign them with this Ed25519 key in PEM" },
        debianMirror: mirrorOption,
      },
      examples: [
        "toolcrib toolpack build github slack --format mcpb --out ./bundle",
        "toolcrib toolpack build --manifest repos.yaml --toolspec repos.toolspec.yaml --tar",
      ],
      run: async (context, args, options) =>
        (await import("../toolpack-image/build-toolpack.ts")).buildToolpack(context, args.name, options),
    }),
    defineCommand({
      name: "verify",
      summary: "compare what toolpack build wrote with its signed provenance (exit code 1 if it differs)",
      arguments: { path: { help: "the folder of a build, or one package or bundle of it" } },
      options: {
        key: {
          value: "file",
          help: "the public key of who built it, Ed25519 in PEM (default: the publisher key of the home)",
        },
        provenance: {
          value: "file",
          help: "the signed provenance (default: provenance.dsse.json beside it, or in the folder above)",
        },
      },
      examples: ["toolcrib toolpack verify ./github-1.2.0 --key builder.pem"],
      run: async (context, { path }, options) =>
        (await import("../toolpack-image/verify-build.ts")).verifyBuild(context, path, options),
    }),
    defineCommand({
      name: "fetch",
      summary:
        "download what images are built from, with recorded digests, so that later builds need no network",
      options: { platform: platformOption, debianMirror: mirrorOption },
      run: async (context, _args, options) =>
        (await import("../toolpack-image/fetch-parts.ts")).fetchParts(context, options),
    }),
  ],
};
