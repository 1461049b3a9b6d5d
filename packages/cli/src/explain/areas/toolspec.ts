/** Explanations of the codes of the package toolspec. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library, pairFiles, toolspecFiles } from "../samples.ts";

export const explanations: Explanations = {
  MANIFEST_BARE_WORD: {
    cause: "A word without quotes, such as yes or on, is true to readers of YAML 1.1 and text to others.",
    files: pairFiles({ manifest: [["name: acme\n", "name: acme\ndisplayName: yes\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Put it in quotes.",
  },
  MANIFEST_BUILDER_INVALID: {
    cause: "The builder says how an image is made; this one is unknown.",
    files: pairFiles({ manifest: [["builder: toolpack", "builder: cargo"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one of those that the message lists.",
  },
  MANIFEST_CATEGORY_INVALID: {
    cause: "Categories come from a list, so that the catalog can be browsed by them.",
    files: pairFiles({ manifest: [["name: acme\n", "name: acme\ncategory: stuff\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one that the message lists.",
  },
  MANIFEST_CREDENTIAL_DUPLICATE: {
    cause: "Two credentials have the same id, and a configuration names them by it.",
    files: pairFiles({
      manifest: [
        [
          "tools:\n",
          '  - { id: token, type: api_key, inject: { header: X-Key, format: "{token}" } }\ntools:\n',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Give each a unique id.",
  },
  MANIFEST_CREDENTIAL_TYPE_INVALID: {
    cause: "The type of a credential is not one of those that are known.",
    files: pairFiles({ manifest: [["type: api_key", "type: password"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one that the message lists; user and password together are basic.",
  },
  MANIFEST_DIGEST_INVALID: {
    cause: "A digest names exactly one image: sha256: and 64 hexadecimal digits.",
    files: pairFiles({ manifest: [["digest: sha256:0b1c", "digest: 0b1c"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Copy the digest from the build or registry of the image.",
  },
  MANIFEST_DIGEST_PLACEHOLDER: {
    cause: "The digest of an image has only zeros: no image was built. --require-digests refuses that.",
    files: pairFiles({
      manifest: [
        [
          "0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0",
          "0000000000000000000000000000000000000000000000000000000000000000",
        ],
      ],
    }),
    run: "toolcrib lint-manifests acme --require-digests",
    fix: "Build the image, as the hint shows.",
  },
  MANIFEST_DUPLICATE_KEY: {
    cause: "A field occurs twice in a map.",
    files: pairFiles({ manifest: [["tier: sealed\n", "tier: sealed\ntier: entrusted\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two.",
  },
  MANIFEST_EGRESS_DENIED: {
    cause: "The denylist of lint-manifests has a host of the egress list.",
    files: { ...pairFiles({}), "denied.txt": "*.acme.example\n" },
    run: "toolcrib lint-manifests acme --denylist denied.txt",
    fix: "Remove the host.",
  },
  MANIFEST_EGRESS_INVALID: {
    cause: "An entry of an egress list is a host, or *. before one. Anything wider would allow too much.",
    files: pairFiles({ manifest: [["egress: [api.acme.example]", 'egress: [api.acme.example, "*"]']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write host names, each as narrow as possible.",
  },
  MANIFEST_ENTRYPOINT_INVALID: {
    cause: "The entrypoint is the absolute path of a program in the image.",
    files: pairFiles({ manifest: [["entrypoint: /app/server", "entrypoint: server"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a path that begins with /.",
  },
  MANIFEST_FIELD_REQUIRED: {
    cause: "A field that every manifest needs is missing.",
    files: pairFiles({ manifest: [["tier: sealed\n", ""]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add it.",
  },
  MANIFEST_FILE_DUPLICATE: {
    cause: "Two files are the manifest of the same name and version, such as .yaml and .json.",
    files: pairFiles({}),
    before: ["cp acme/manifests/acme/0.1.0.yaml acme/manifests/acme/0.1.0.yml"],
    run: "toolcrib lint-manifests acme",
    fix: "Remove one of the two.",
  },
  MANIFEST_FILE_MISPLACED: {
    cause: "Manifests are manifests/NAME/VERSION.yaml, so that they are found without reading them.",
    files: pairFiles({ manifest: [["version: 0.1.0", "version: 0.2.0"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Move the file, or correct name and version in it.",
  },
  MANIFEST_FILE_TOO_LARGE: {
    cause: "A manifest has more than 1 MiB.",
    files: pairFiles({}),
    before: ["yes '# more' | head -c 1100000 >> acme/manifests/acme/0.1.0.yaml"],
    run: "toolcrib lint-manifests acme",
    fix: "Write less.",
  },
  MANIFEST_INJECT_COLLIDES: {
    cause: "Two credentials would be sent in the same place, and only one would arrive.",
    files: pairFiles({
      manifest: [
        [
          "tools:\n",
          '  - { id: other, type: api_key, inject: { header: Authorization, format: "Token {token}" } }\ntools:\n',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two, or send it elsewhere.",
  },
  MANIFEST_INJECT_ENTRUSTED: {
    cause:
      "In the entrusted tier the program gets the secret itself, in a variable, so inject has env and nothing else.",
    files: pairFiles({ manifest: [["tier: sealed", "tier: entrusted"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write inject: { env: NAME }, or use the sealed tier.",
  },
  MANIFEST_INJECT_ENV: {
    cause: "The variable for a credential has no valid name.",
    files: pairFiles({
      manifest: [
        ['inject: { header: Authorization, format: "Bearer {token}" }', 'inject: { env: "my token" }'],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write upper-case letters, digits and _, such as ACME_TOKEN.",
  },
  MANIFEST_INJECT_FORMAT: {
    cause: "The format of a header has no {token}, so the secret would not be in it.",
    files: pairFiles({ manifest: [["Bearer {token}", "Bearer"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write {token} once where the secret belongs.",
  },
  MANIFEST_INJECT_HEADER: {
    cause: "The header cannot carry a credential: its name is not one, or the client itself sets it.",
    files: pairFiles({ manifest: [["header: Authorization", "header: Content-Length"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the header that the API documents.",
  },
  MANIFEST_INJECT_PATH_PREFIX: {
    cause: "A path prefix begins with / and has {token} once.",
    files: pairFiles({
      manifest: [
        [
          'inject: { header: Authorization, format: "Bearer {token}" }',
          'inject: { pathPrefix: "bot{token}" }',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a prefix such as /bot{token}.",
  },
  MANIFEST_INJECT_PLACE: {
    cause: "A credential goes to one place, and this one has two.",
    files: pairFiles({
      manifest: [
        [
          'header: Authorization, format: "Bearer {token}"',
          'header: Authorization, format: "Bearer {token}", query: key',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one, or declare a second credential.",
  },
  MANIFEST_INJECT_SEALED: {
    cause: "In the sealed tier the egress inserts the secret, so the manifest has to say where.",
    files: pairFiles({
      manifest: [['inject: { header: Authorization, format: "Bearer {token}" }', "inject: {}"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write header and format, query or pathPrefix.",
  },
  MANIFEST_LOADER_VARIABLE: {
    cause: "The variable of a credential chooses the code that a program loads, such as NODE_OPTIONS.",
    files: pairFiles({
      manifest: [
        [
          'inject: { header: Authorization, format: "Bearer {token}" }',
          'inject: { header: Authorization, format: "Bearer {token}" }\n    placeholderEnv: NODE_OPTIONS',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Name the variable in which the server reads its credential.",
  },
  MANIFEST_NAME_INVALID: {
    cause:
      "A name is lower-case letters, digits and inner hyphens: it is a folder, a namespace and part of a URL.",
    files: pairFiles({ manifest: [["name: acme", "name: Acme_API"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a name such as acme-api, here, in the toolspec and in the path.",
  },
  MANIFEST_NEEDS_VERSION_2: {
    cause:
      "A field of schemaVersion 2 is used in a manifest of version 1, which older programs would misread.",
    files: pairFiles({
      manifest: [
        ["schemaVersion: 2", "schemaVersion: 1"],
        ['header: Authorization, format: "Bearer {token}"', "query: key"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write schemaVersion: 2.",
  },
  MANIFEST_PACKAGE_INVALID: {
    cause: "source.package is a folder within the repository.",
    files: pairFiles({ manifest: [["tag: v0.1.0 }", "tag: v0.1.0, package: ../other }"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a path without .. from the root of the repository.",
  },
  MANIFEST_PLACEHOLDER_ENV: {
    cause:
      "The variable for a placeholder has no valid name, is used twice, or belongs to the entrusted tier.",
    files: pairFiles({
      manifest: [
        [
          'inject: { header: Authorization, format: "Bearer {token}" }',
          'inject: { header: Authorization, format: "Bearer {token}" }\n    placeholderEnv: "a b"',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the name of the variable in which the server reads its credential.",
  },
  MANIFEST_REQUIREMENT_INVALID: {
    cause:
      "An entry of requires is one value that an adopted server does not work without: the value of a variable, or an argument. APIs have variables in their toolspec instead.",
    files: pairFiles({
      manifest: [["credentials:", "requires:\n  - { variable: ACME_URL, argument: URL }\ncredentials:"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write variable: NAME or argument: NAME; for an API, declare variables in its toolspec.",
  },
  MANIFEST_SCHEMA_VERSION: {
    cause: "The version of the format is not one that this Toolcrib knows.",
    files: pairFiles({ manifest: [["schemaVersion: 2", "schemaVersion: 9"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write 1 or 2, or update Toolcrib for a later format.",
  },
  MANIFEST_SOURCE_UNUSABLE: {
    cause:
      "A manifest adopts a server, and its source, version, entrypoint or lock is none that its builder can fetch.",
    files: pairFiles({
      manifest: [
        ["builder: toolpack", "builder: node"],
        ["tag: v0.1.0", "tag: main"],
        ["github.com/acme/acme", "npm:@acme/acme"],
      ],
    }),
    run: "toolcrib lint-manifests acme",
    fix: "Name an exact version of a package of npm, PyPI or a Go module.",
  },
  MANIFEST_SYNTAX: {
    cause: "The file is neither YAML nor JSON that can be read.",
    files: pairFiles({ manifest: [["tier: sealed", "tier: [sealed"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct the place that the message shows.",
  },
  MANIFEST_TIER_INVALID: {
    cause: "The tier says who inserts the secret: sealed (the egress) or entrusted (the program).",
    files: pairFiles({ manifest: [["tier: sealed", "tier: open"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write sealed, unless the program must have the secret itself.",
  },
  MANIFEST_TOOLSPEC_MISSING: {
    cause: "builder: toolpack makes a server from a toolspec, and there is none.",
    files: pairFiles({}),
    before: ["rm -r acme/toolspecs"],
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the toolspec, as the hint shows.",
  },
  MANIFEST_TOOL_ABSENT: {
    cause: "The manifest names a tool that the server does not have, as lint-manifests --live found.",
    did: "A server renamed a tool.",
    prints: 'The server has no tool "list_repo"\nthe server has list_repos',
    unrun: "setup",
    tested: "packages/toolspec/test/adopted.test.ts",
    fix: "Correct the name: toolcrib lint-manifests --live FILE --write.",
  },
  MANIFEST_TOOL_DUPLICATE: {
    cause: "Two tools have the same name.",
    files: pairFiles({
      manifest: [
        [
          "  - { name: get_repo, default: true }",
          "  - { name: get_repo, default: true }\n  - { name: get_repo, default: false }",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two.",
  },
  MANIFEST_TOOL_UNDECLARED: {
    cause: "The server has a tool that the manifest does not name, so nobody gets it.",
    did: "A server has a new tool.",
    prints:
      'The server has the tool "add_repo", which the manifest does not name: it is not offered\nadd {name: add_repo, default: false}',
    unrun: "setup",
    tested: "packages/toolspec/test/adopted.test.ts",
    fix: "Add it to the manifest, with default: false unless most people need it.",
  },
  MANIFEST_TOO_COMPLEX: {
    cause: "A manifest nests too deep, or aliases of YAML expand to too many values.",
    files: {
      "manifest.yaml":
        "a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n",
    },
    run: "toolcrib lint-manifests manifest.yaml",
    fix: "Write the values out.",
  },
  MANIFEST_UNKNOWN_FIELD: {
    cause: "A field that manifests do not have, often a misspelled one.",
    files: pairFiles({ manifest: [["tier: sealed\n", "tier: sealed\nlabel: x\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct it as the hint says, or remove it.",
  },
  MANIFEST_VALUE_INVALID: {
    cause: "A value is not allowed in its field.",
    files: pairFiles({ manifest: [["name: acme\n", 'name: acme\ndisplayName: ""\n']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a value that the message allows.",
  },
  MANIFEST_VENDOR_INVALID: {
    cause: "A vendor is a group of accounts, named in lower-case letters, digits and hyphens.",
    files: pairFiles({ manifest: [["type: api_key", 'type: oauth2\n    vendor: "Acme Inc"']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a name such as acme.",
  },
  MANIFEST_VENDOR_REQUIRED: {
    cause: "A credential of type oauth2 belongs to a group of accounts, and none is named.",
    files: pairFiles({ manifest: [["type: api_key", "type: oauth2"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add vendor: NAME.",
  },
  MANIFEST_VERSION_INVALID: {
    cause: "A version is MAJOR.MINOR.PATCH.",
    files: pairFiles({ manifest: [["version: 0.1.0", "version: v1"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a version such as 0.1.0.",
  },
  MANIFEST_WRONG_TYPE: {
    cause: "A value has another type than its field takes.",
    files: pairFiles({ manifest: [["name: acme\n", "name: acme\ndisplayName: [acme]\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the type that the message names.",
  },
  TOOLSPEC_ARGUMENT_INVALID: {
    cause: "The arguments of a call do not match the parameters of the tool.",
    files: {
      ...toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
      "token.txt": "abc\n",
    },
    before: ["toolcrib secret set acme-token < token.txt"],
    run: "toolcrib call acme:get_repo '{\"id\": []}' --json",
    fix: "Give the arguments that the message names; toolcrib describe TOOL shows all.",
  },
  TOOLSPEC_AUTH_FORBIDDEN: {
    cause: "With the sealed tier the manifest says where the secret goes, so the toolspec has no auth.",
    files: pairFiles({
      toolspec: [["tools:\n", 'auth: { header: Authorization, format: "Bearer {token}" }\ntools:\n']],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove auth.",
  },
  TOOLSPEC_AUTH_FORMAT: {
    cause: "The format of auth has no {token}, so the secret would not be in it.",
    files: pairFiles({
      toolspec: [["tools:\n", "auth: { header: Authorization, format: Bearer }\ntools:\n"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write {token} where the secret belongs.",
  },
  TOOLSPEC_AUTH_HEADER: {
    cause: "The header of auth cannot carry a credential.",
    files: pairFiles({ toolspec: [["tools:\n", 'auth: { header: Host, format: "{token}" }\ntools:\n']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the header that the API documents.",
  },
  TOOLSPEC_AUTH_REQUIRED: {
    cause: "With the entrusted tier the toolspec says where the credential goes, and it does not.",
    files: pairFiles({
      manifest: [
        ['inject: { header: Authorization, format: "Bearer {token}" }', "inject: { env: ACME_TOKEN }"],
        ["tier: sealed", "tier: entrusted"],
      ],
      toolspec: [],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add auth with header and format.",
  },
  TOOLSPEC_AUTH_UNUSED: {
    cause: "A warning: the toolspec has auth, and the manifest no credential.",
    files: pairFiles({
      manifest: [
        [
          'credentials:\n  - id: token\n    type: api_key\n    inject: { header: Authorization, format: "Bearer {token}" }\n',
          "",
        ],
        ["tier: sealed", "tier: entrusted"],
      ],
      toolspec: [["tools:\n", 'auth: { header: Authorization, format: "Bearer {token}" }\ntools:\n']],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove auth, or declare the credential in the manifest.",
  },
  TOOLSPEC_BARE_WORD: {
    cause: "A word without quotes, such as no or on, is false or true to readers of YAML 1.1.",
    files: pairFiles({ toolspec: [["description: Get one repository", "description: no"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Put it in quotes.",
  },
  TOOLSPEC_BASE_URL_INVALID: {
    cause: "A base URL is https:// and a host only, so that the host can be checked.",
    files: pairFiles({ toolspec: [["https://api.acme.example", "http://api.acme.example"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write https://HOST, and put paths into the tools.",
  },
  TOOLSPEC_BODY_INVALID: {
    cause:
      "The parameters of the body do not fit its encoding: raw sends exactly one, and some fields belong to multipart only.",
    files: pairFiles({
      toolspec: [
        ["method: GET\n    path: /repos/{id}", "method: POST\n    encoding: raw\n    path: /repos/{id}"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Change the encoding, or the parameters.",
  },
  TOOLSPEC_BODY_NOT_ALLOWED: {
    cause: "A GET has no body, so a parameter cannot be in it.",
    files: pairFiles({
      toolspec: [["required: true }", "required: true }\n      - { name: q, in: body, type: string }"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write in: query, or another method.",
  },
  TOOLSPEC_CREDENTIAL_UNFIT: {
    cause: "The value of a credential cannot be sent in its place, such as a line break in a header.",
    did: "A token was stored with the line break of its file.",
    prints:
      'Cannot send credential "token": its value contains a line break\nstore it again, without line breaks around it',
    unrun: "setup",
    tested: "packages/toolspec/test/plan-request.test.ts",
    fix: "Store it again in one line: toolcrib secret set NAME.",
  },
  TOOLSPEC_DUPLICATE_KEY: {
    cause: "A field occurs twice in a map.",
    files: pairFiles({ toolspec: [["name: acme\n", "name: acme\nname: acme\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two.",
  },
  TOOLSPEC_EGRESS_DENIED: {
    cause: "The host of a request, made from variables, is not in the egress list of the manifest.",
    files: {
      ...library(
        'const { value: toolspec } = parseToolspec({ name: "t", text: readFileSync("acme/toolspecs/acme/0.1.0.yaml", "utf8") });',
        'planRequest(toolspec.tools[0], toolspec, { id: "7" }, { egress: [], credentials: [], variables: { tenant: "evil" } });',
      ),
      ...pairFiles({
        toolspec: [
          [
            "https://api.acme.example\n",
            "https://{tenant}.acme.example\nvariables: { tenant: { description: The tenant } }\n",
          ],
        ],
      }),
    },
    did: "An embedding program calls a toolspec with the name of a host that the manifest does not have.",
    run: "node program.mjs",
    fix: "Correct the variable.",
  },
  TOOLSPEC_ENCODING_INVALID: {
    cause: "The encoding of a body is not one that is known.",
    files: pairFiles({ toolspec: [["method: GET", "method: POST\n    encoding: xml"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one that the message lists.",
  },
  TOOLSPEC_EXAMPLE_FAILS: {
    cause: "An example states arguments and the request that they produce; it produces another one.",
    files: pairFiles({
      toolspec: [
        [
          "    path: /repos/{id}",
          '    path: /repos/{id}\n    examples:\n      - { args: { id: "7" }, request: { method: GET, url: https://api.acme.example/repos/8 } }',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct the example, or the tool.",
  },
  TOOLSPEC_FIELD_REQUIRED: {
    cause: "A field that every toolspec or tool needs is missing.",
    files: pairFiles({ toolspec: [["    method: GET\n", ""]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add it.",
  },
  TOOLSPEC_FILE_DUPLICATE: {
    cause: "Two files are the toolspec of the same name and version.",
    files: pairFiles({}),
    before: ["cp acme/toolspecs/acme/0.1.0.yaml acme/toolspecs/acme/0.1.0.yml"],
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two.",
  },
  TOOLSPEC_FILE_MISPLACED: {
    cause: "Toolspecs are toolspecs/NAME/VERSION.yaml, so that they are found without reading them.",
    files: pairFiles({ toolspec: [["version: 0.1.0", "version: 0.2.0"]] }),
    before: ["rm -r acme/manifests"],
    run: "toolcrib lint-toolspecs acme",
    fix: "Move the file, or correct name and version in it.",
  },
  TOOLSPEC_FILE_TOO_LARGE: {
    cause: "A toolspec has more than 1 MiB.",
    files: pairFiles({}),
    before: ["yes '# more' | head -c 5100000 >> acme/toolspecs/acme/0.1.0.yaml"],
    run: "toolcrib lint-toolspecs acme",
    fix: "Divide it into several APIs, or select operations.",
  },
  TOOLSPEC_HEADER_COLLIDES: {
    cause:
      "A parameter has the name of the header in which the credential is sent, so a model could replace it.",
    files: pairFiles({
      toolspec: [
        ["required: true }", "required: true }\n      - { name: authorization, in: header, type: string }"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove the parameter.",
  },
  TOOLSPEC_HEADER_DUPLICATE: {
    cause: "Two header parameters differ in case only, and are one header.",
    files: pairFiles({
      toolspec: [
        [
          "required: true }",
          "required: true }\n      - { name: X-Id, in: header, type: string }\n      - { name: x-id, in: header, type: string }",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove one of the two.",
  },
  TOOLSPEC_HEADER_FORBIDDEN: {
    cause: "The header is one that the client itself sets, such as Host.",
    files: pairFiles({
      toolspec: [["required: true }", "required: true }\n      - { name: Host, in: header, type: string }"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove the parameter.",
  },
  TOOLSPEC_HEADER_INVALID: {
    cause: "The name of a parameter in a header is no header name.",
    files: pairFiles({
      toolspec: [
        ["required: true }", 'required: true }\n      - { name: "my header", in: header, type: string }'],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write letters, digits and hyphens.",
  },
  TOOLSPEC_HOST_NOT_ALLOWED: {
    cause:
      "The host of the base URL is not in the egress list of the manifest, so each call would be refused.",
    files: pairFiles({ toolspec: [["https://api.acme.example", "https://api.other.example"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct the host, or add it to entitlements.egress of the manifest.",
  },
  TOOLSPEC_JSON_PATH_INVALID: {
    cause: "A path is not JSONPath (RFC 9535), or uses match() or search(), whose time has no bound.",
    files: pairFiles({
      toolspec: [
        [
          "    path: /repos/{id}",
          '    path: /repos/{id}\n    pagination: { kind: cursor, param: page, next: "$.next[" }',
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write a path such as $.next or $.items[0].id.",
  },
  TOOLSPEC_MANIFEST_MISSING: {
    cause: "A toolspec has no manifest, which says what it may reach and which credentials it has.",
    files: pairFiles({}),
    before: ["rm -r acme/manifests"],
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the manifest, as the hint shows.",
  },
  TOOLSPEC_METHOD_INVALID: {
    cause: "Tools are sent with GET, POST, PUT, PATCH or DELETE.",
    files: pairFiles({ toolspec: [["method: GET", "method: FETCH"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one of them.",
  },
  TOOLSPEC_NAME_INVALID: {
    cause: "A name is lower-case letters, digits and inner hyphens.",
    files: pairFiles({ toolspec: [["name: acme", "name: Acme"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the name of the manifest.",
  },
  TOOLSPEC_NAME_MISMATCH: {
    cause: "The name of a toolspec is not that of its manifest beside it.",
    files: pairFiles({ toolspec: [["name: acme", "name: other"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the same name in both.",
  },
  TOOLSPEC_NEEDS_VERSION_2: {
    cause: "A field of schemaVersion 2 is used in a toolspec of version 1.",
    files: pairFiles({
      toolspec: [
        ["schemaVersion: 2", "schemaVersion: 1"],
        ["    path: /repos/{id}", "    path: /repos/{id}\n    pagination: { kind: page, param: page }"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write schemaVersion: 2, or remove the field.",
  },
  TOOLSPEC_PAGINATION_INVALID: {
    cause: "The pagination names a parameter that cannot page, or lacks what its kind needs.",
    files: pairFiles({
      toolspec: [
        ["    path: /repos/{id}", "    path: /repos/{id}\n    pagination: { kind: page, param: id }"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Name a query or body parameter of the type that the message asks for.",
  },
  TOOLSPEC_PARAM_DUPLICATE: {
    cause:
      "Two parameters have the same name. They are one namespace, whatever part of the request they are in.",
    files: pairFiles({
      toolspec: [["required: true }", "required: true }\n      - { name: id, in: query, type: string }"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove or rename one of the two.",
  },
  TOOLSPEC_PARAM_IN_INVALID: {
    cause: "A parameter is in the path, the query, the body or a header.",
    files: pairFiles({ toolspec: [["in: path", "in: cookie"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one of them; cookies are not sent.",
  },
  TOOLSPEC_PARAM_TYPE_INVALID: {
    cause: "The type is one of JSON: string, integer, number, boolean, object or array.",
    files: pairFiles({ toolspec: [["type: string, required", "type: text, required"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one of them.",
  },
  TOOLSPEC_PATH_INVALID: {
    cause: "A path begins with / and has legal characters only; a query belongs into parameters.",
    files: pairFiles({ toolspec: [["path: /repos/{id}", "path: repos/{id}"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write it as the message says.",
  },
  TOOLSPEC_PATH_PARAM_MISSING: {
    cause: "The path has a placeholder for which no parameter exists.",
    files: pairFiles({ toolspec: [["path: /repos/{id}", "path: /owners/{owner}/repos/{id}"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add the parameter with in: path, as the hint shows.",
  },
  TOOLSPEC_PATH_PARAM_OPTIONAL: {
    cause: "A part of a path cannot be left out, so its parameter is required.",
    files: pairFiles({ toolspec: [["required: true", "required: false"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write required: true.",
  },
  TOOLSPEC_PATH_PARAM_UNUSED: {
    cause: "A parameter is in: path, and the path has no placeholder for it.",
    files: pairFiles({ toolspec: [["path: /repos/{id}", "path: /repos"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write {id} into the path, or another in.",
  },
  TOOLSPEC_QUERY_COLLIDES: {
    cause: "A parameter is the query parameter in which the credential is sent, so a model could replace it.",
    files: pairFiles({
      manifest: [['header: Authorization, format: "Bearer {token}"', "query: key"]],
      toolspec: [["required: true }", "required: true }\n      - { name: key, in: query, type: string }"]],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Remove the parameter.",
  },
  TOOLSPEC_REQUEST_TOO_LARGE: {
    cause: "The URL, a header or the body of a request would be larger than is sent.",
    files: toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
    before: [
      "echo abc > token.txt",
      "toolcrib secret set acme-token < token.txt",
      "printf '{\"id\": \"%s\"}' $(printf '%070000d' 7) > arguments.json",
    ],
    run: "toolcrib call acme:get_repo - --json < arguments.json",
    fix: "Pass less in one call.",
  },
  TOOLSPEC_SCHEMA_VERSION: {
    cause: "The version of the format is not one that this Toolcrib knows.",
    files: pairFiles({ toolspec: [["schemaVersion: 2", "schemaVersion: 9"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write 1 or 2, or update Toolcrib.",
  },
  TOOLSPEC_STYLE_INVALID: {
    cause: "The style says how lists and objects are written; it is unknown or does not fit the type.",
    files: pairFiles({
      toolspec: [
        ["required: true }", "required: true }\n      - { name: q, in: query, type: string, style: tabs }"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write one that the message lists.",
  },
  TOOLSPEC_SYNTAX: {
    cause: "The file is neither YAML nor JSON that can be read.",
    files: pairFiles({ toolspec: [["tools:\n", "tools: [\n"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct the place that the message shows.",
  },
  TOOLSPEC_TOOLS_EMPTY: {
    cause: "A toolspec without tools describes nothing.",
    files: pairFiles({
      toolspec: [
        [
          "tools:\n  - name: get_repo\n    description: Get one repository\n    method: GET\n    path: /repos/{id}\n    params:\n      - { name: id, in: path, type: string, required: true }\n",
          "tools: []\n",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the tools that the manifest lists.",
  },
  TOOLSPEC_TOOL_DUPLICATE: {
    cause: "Two tools have the same name.",
    files: pairFiles({
      toolspec: [
        [
          "      - { name: id, in: path, type: string, required: true }\n",
          "      - { name: id, in: path, type: string, required: true }\n  - { name: get_repo, description: Again, method: GET, path: /again }\n",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Give each its own name, here and in the manifest.",
  },
  TOOLSPEC_TOOL_MISSING: {
    cause: "The manifest lists a tool that the toolspec does not have.",
    files: pairFiles({
      manifest: [
        [
          "  - { name: get_repo, default: true }",
          "  - { name: get_repo, default: true }\n  - { name: add_repo, default: false }",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add it to the toolspec, or remove it from the manifest.",
  },
  TOOLSPEC_TOOL_NAME_INVALID: {
    cause: "The name of a tool is one line without control characters, and not too long.",
    files: pairFiles({ toolspec: [["name: get_repo", 'name: "get\\nrepo"']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write letters, digits and _.",
  },
  TOOLSPEC_TOOL_NAME_UNFIT: {
    cause: "A warning: some clients refuse names with other characters than letters, digits, _ - and a dot.",
    files: pairFiles({ toolspec: [["name: get_repo", "name: get repo"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the name of the hint, here and in the manifest.",
  },
  TOOLSPEC_TOOL_UNDECLARED: {
    cause: "The toolspec has a tool that the manifest does not list.",
    files: pairFiles({
      toolspec: [
        [
          "      - { name: id, in: path, type: string, required: true }\n",
          "      - { name: id, in: path, type: string, required: true }\n  - { name: ping, description: Ping, method: GET, path: /ping }\n",
        ],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Add it to the tools of the manifest, as the hint shows.",
  },
  TOOLSPEC_TOO_COMPLEX: {
    cause: "A toolspec nests too deep, or aliases of YAML expand to too many values.",
    files: {
      "acme.toolspec.yaml":
        "a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n",
    },
    run: "toolcrib lint-toolspecs acme.toolspec.yaml",
    fix: "Write the values out.",
  },
  TOOLSPEC_UNKNOWN_FIELD: {
    cause: "A field that toolspecs do not have, often a misspelled one.",
    files: pairFiles({ toolspec: [["    method: GET", "    verb: GET\n    method: GET"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Correct it as the hint says, or remove it.",
  },
  TOOLSPEC_VALUE_HOSTILE: {
    cause: "A value would change the path, the origin or the headers of the request, such as ../ in a path.",
    files: {
      ...toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }"),
      "token.txt": "abc\n",
    },
    before: ["toolcrib secret set acme-token < token.txt"],
    run: "toolcrib call acme:get_repo --arg id=.. --json",
    fix: "Pass an id, not a path.",
  },
  TOOLSPEC_VALUE_INVALID: {
    cause: "A value is not allowed in its field, such as limits that contradict each other.",
    files: pairFiles({
      toolspec: [
        ["required: true }", "required: true }\n      - { name: count, in: query, type: integer, enum: [] }"],
      ],
    }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write what the message allows.",
  },
  TOOLSPEC_VARIABLE_INVALID: {
    cause: "A variable of the base URL is not declared, or a declared one is not used.",
    files: pairFiles({ toolspec: [["https://api.acme.example", "https://{tenant}.acme.example"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Declare it in variables, as the hint shows, or remove it.",
  },
  TOOLSPEC_VARIABLE_UNSET: {
    cause: "A variable of the base URL has no value, or one that makes a forbidden host.",
    files: {
      ...library(
        'const { value: toolspec } = parseToolspec({ name: "t", text: readFileSync("acme/toolspecs/acme/0.1.0.yaml", "utf8") });',
        'planRequest(toolspec.tools[0], toolspec, { id: "7" }, { egress: [], credentials: [], variables: {} });',
      ),
      ...pairFiles({
        toolspec: [
          [
            "https://api.acme.example\n",
            "https://{tenant}.acme.example\nvariables: { tenant: { description: The tenant } }\n",
          ],
        ],
      }),
    },
    did: "An embedding program calls a toolspec with {tenant} without variables.",
    run: "node program.mjs",
    fix: "Give it a value in letters, digits, hyphens and dots.",
  },
  TOOLSPEC_VERSION_INVALID: {
    cause: "A version is MAJOR.MINOR.PATCH.",
    files: pairFiles({ toolspec: [["version: 0.1.0", 'version: "1"']] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the version of the manifest.",
  },
  TOOLSPEC_VERSION_MISMATCH: {
    cause: "The version of a toolspec is not that of its manifest beside it.",
    files: pairFiles({ toolspec: [["version: 0.1.0", "version: 0.2.0"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the same version in both.",
  },
  TOOLSPEC_WRONG_TYPE: {
    cause: "A value has another type than its field takes.",
    files: pairFiles({ toolspec: [["description: Get one repository", "description: [x]"]] }),
    run: "toolcrib lint-toolspecs acme",
    fix: "Write the type that the message names.",
  },
};
