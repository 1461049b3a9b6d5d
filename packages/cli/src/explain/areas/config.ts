// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of users, one piece
/** Explanations of the codes of the package config. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { manifestFile, toolspecFiles } from "../samples.ts";

export const explanations: Explanations = {
  CONFIG_AUTH_EXPOSED: {
    cause:
      "serve.auth: none is refused on an address that other machines can reach: anyone in the network could call every tool.",
    files: {
      "toolcrib.yaml": `serve: { listen: 0.0.0.0:7420, auth: none }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write auth: token (or access tokens: auth: { jwt: … }), or listen on 127.0.0.1.",
  },
  CONFIG_CA_FILE_INVALID: {
    cause: "A file with certificate authorities cannot be read, or has no certificate in PEM.",
    files: {
      "toolcrib.yaml": `egress: { ca_files: [company.pem] }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Name a file with -----BEGIN CERTIFICATE-----; convert one in DER with openssl x509 -inform der.",
  },
  CONFIG_COMMAND_NOT_FOUND: {
    cause:
      "The command of a server or hook is in no folder of PATH, or is not executable; or a hook starts an interpreter with a script that does not exist, so that the calls it is about are denied.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: mcp-server-absent }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Install the program, or write its full path. A gateway that a service manager starts has a shorter PATH than a terminal.",
  },
  CONFIG_COMMAND_REQUIRED: {
    cause: "A server on stdio is a program, and no command says which.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Add command: with the program, and args: with its arguments.",
  },
  CONFIG_COMMAND_SUSPICIOUS: {
    cause: "The command has its arguments in it. No shell splits them, so there is no program of this name.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: "npx -y mcp-notes" }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write command: npx and args: [-y, mcp-notes].",
  },
  CONFIG_CONFLATED_TARGET: {
    cause:
      "A tool server and a provider target have the same id, so a name of a tool would not say which is meant.",
    files: {
      "toolcrib.yaml": `providers: { targets: [{ id: notes }] }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Give them different ids.",
  },
  CONFIG_CREDENTIAL_MISSING: {
    cause: "A toolspec or an adopted server needs the secret of a credential, and its entry names none.",
    files: toolspecFiles(""),
    run: "toolcrib config check",
    fix: "Add what the hint shows, and store the secret.",
  },
  CONFIG_CREDENTIAL_UNKNOWN: {
    cause: "The entry names a credential that its manifest does not have.",
    files: toolspecFiles(", credentials: { key: { secret_key_ref: acme-token } }"),
    run: "toolcrib config check",
    repaired: { files: toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }") },
    fix: "Use a name that the hint lists.",
  },
  CONFIG_DUPLICATE_KEY: {
    cause: "A field is given twice in one map; readers use the first or the last.",
    files: {
      "toolcrib.yaml": `tool_servers: []
tool_servers: []
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Remove one of the two, or merge them.",
  },
  CONFIG_FIELD_MISPLACED: {
    cause: "A field belongs to another kind of transport, and has no effect here.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    tools: all
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Remove it, or change what it belongs to, as the hint says.",
  },
  CONFIG_FIELD_REQUIRED: {
    cause: "A field without which the entry has no meaning is missing.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Add the field that the message names.",
  },
  CONFIG_FILE_TOO_LARGE: {
    cause: "A configuration has at most 1 MiB.",
    before: ["yes '# more' | head -c 1100000 > toolcrib.yaml"],
    run: "toolcrib config check",
    fix: "Split it into several files, and pass all of them.",
  },
  CONFIG_FILE_UNREADABLE: {
    cause: "The file does not exist, is a folder, or may not be read by this user.",
    run: "toolcrib config check absent.yaml",
    fix: "Correct the path or the permissions.",
  },
  CONFIG_FOREIGN_DISABLED: {
    cause: "A warning: the server is disabled in the file of the other program, so it is ignored here too.",
    files: { "mcp.json": '{ "mcpServers": { "notes": { "command": "node", "disabled": true } } }\n' },
    run: "toolcrib config check mcp.json",
    fix: "Enable it in its file, or declare it under tool_servers.",
  },
  CONFIG_FOREIGN_FIELD: {
    cause: "A warning: a field of the other program has no equivalent and no effect here.",
    files: { "mcp.json": '{ "mcpServers": { "notes": { "command": "node", "autoApprove": ["x"] } } }\n' },
    run: "toolcrib config check mcp.json",
    fix: "Nothing, or express the intention with the fields of toolcrib.yaml: toolcrib init --import FILE converts the servers.",
  },
  CONFIG_HEADER_NOT_ALLOWED: {
    cause:
      "Headers that the protocol or Toolcrib sets, such as Host or Mcp-Session-Id, cannot be declared; nor one header twice.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: streamable_http, url: https://mcp.example.com/mcp, headers: { Host: other.example.com } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Remove the header.",
  },
  CONFIG_IDLE_UNUSED: {
    cause:
      "A warning: idle_seconds stops a server that is not used, and works only for one that starts at its first call.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    idle_seconds: 60
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write start: lazy, or remove idle_seconds.",
  },
  CONFIG_ID_COLLISION: {
    cause: "Two ids differ only in case or separators, so their tools are easily confused.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - { id: my-notes, transport: { kind: stdio, command: node } }
  - { id: my_notes, transport: { kind: stdio, command: node } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Rename one of the two.",
  },
  CONFIG_ID_DUPLICATE: {
    cause:
      "Two servers of one file have the same id. In several files, the later one replaces the earlier one.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - { id: notes, transport: { kind: stdio, command: node } }
  - { id: notes, transport: { kind: stdio, command: node } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Give each a different id.",
  },
  CONFIG_ID_INVALID: {
    cause: "The id is the first half of names of tools, which have letters, digits, _ and - only.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - { id: my notes, transport: { kind: stdio, command: node } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write a name such as the one of the hint.",
  },
  CONFIG_ID_NORMALIZED: {
    cause:
      "A warning: the name of a server has characters that names of tools cannot have. Its id is changed.",
    files: { "mcp.json": '{ "mcpServers": { "My Notes": { "command": "node" } } }\n' },
    run: "toolcrib config check mcp.json",
    fix: "Use the id that the message names, or rename the server in its file.",
  },
  CONFIG_INLINE_SECRET: {
    cause:
      "The configuration contains something that looks like a credential. Files of configuration are shared, shown and committed; secrets are named in them only.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node, env: { GITHUB_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345" } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Store it with toolcrib secret set NAME, and write secret_key_ref: NAME. Replace a token that was committed.",
  },
  CONFIG_INVALID_VALUE: {
    cause: "A field has a value that it does not allow.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    trust_state: trusted
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write one of the values that the message names.",
  },
  CONFIG_MANIFEST_INVALID: {
    cause: "The manifest of an adopted server has errors, or describes an API and no server.",
    files: {
      ...manifestFile(["tier:", "teir:"]),
      "toolcrib.yaml":
        "tool_servers:\n  - { id: acme, transport: { kind: stdio, manifest: ./manifest.yaml } }\n",
    },
    run: "toolcrib config check",
    fix: "Fix the listed errors: toolcrib lint-manifests FILE.",
  },
  CONFIG_MANIFEST_LOCK: {
    cause:
      "The lock of an adopted server is missing, or is not the one that its manifest records, so that other code could be started.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - id: notes\n    transport: { kind: stdio, manifest: ./manifest.yaml }\n",
      ...manifestFile(
        ["builder: toolpack", "builder: node"],
        ["tag: v0.1.0", "tag: 1.2.3"],
        ["github.com/acme/acme", "npm:@acme/acme"],
      ),
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Get manifest and lock of one version, or record the lock again: toolcrib lint-manifests --live FILE --write.",
  },
  CONFIG_MANIFEST_NOT_FOUND: {
    cause:
      "A server is adopted through a manifest, and the catalog has none of this name, or the path leads to none.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, manifest: ./absent.yaml }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Use a name of toolcrib catalog list, or the path of a manifest.",
  },
  CONFIG_MANIFEST_UNREADABLE: {
    cause: "The manifest or its lock exists and cannot be read.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - id: notes\n    transport: { kind: stdio, manifest: ./notes.yaml }\n",
    },
    before: ["ln -s notes.yaml notes.yaml"],
    run: "toolcrib config check toolcrib.yaml",
    fix: "Let this user read the file.",
  },
  CONFIG_POLICY_FLOOR: {
    cause: "policy.floor is the least containment of every server, and this one declares less.",
    files: {
      "toolcrib.yaml": `policy: { floor: { network_egress: deny } }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    trust_state: verified
    containment: { network_egress: allow }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Declare what the floor requires, or change the floor where it is set first.",
  },
  CONFIG_POLICY_UNREADABLE: {
    cause:
      "A file of policy.files cannot be read. Without it nobody knows what is permitted, so nothing starts.",
    files: {
      "toolcrib.yaml": `policy: { files: [absent.cedar] }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Correct the path (it is relative to the configuration) or the permissions.",
  },
  CONFIG_RESOURCE_HOST: {
    cause:
      "A warning: serve.auth.resource is the address that clients use, and requests to its host are refused (serve.allowed_hosts).",
    files: {
      "toolcrib.yaml": `serve:
  auth:
    resource: https://tools.example.com/mcp
    jwt: [{ issuer: https://login.example.com }]
tool_servers: []
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write allowed_hosts with the host, unless a proxy before the gateway replaces the Host header.",
  },
  CONFIG_RULE_UNMATCHED: {
    cause:
      "A warning: a rule names a server, tool or client that is not known, so it does nothing. Probably it is misspelled.",
    files: {
      "toolcrib.yaml": `policy: { deny: ["ntoes:*"] }
tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Correct the name, or keep the rule if the server is added later.",
  },
  CONFIG_SCOPE_MISSING: {
    cause: "scoped means that some hosts or paths are allowed, and the list of them is missing.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    containment: { network_egress: scoped }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Add egress_allow with the hosts, or write deny.",
  },
  CONFIG_SCOPE_UNUSED: {
    cause: "A list of hosts or paths is given, and the field that would use it is not scoped.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node }
    containment: { network_egress: deny, egress_allow: [api.example.com] }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write scoped, or remove the list.",
  },
  CONFIG_SECRET_EXPOSED: {
    cause: "A secret file can be read by other users of the machine.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", headers: { Authorization: { secret_key_ref: { file: token.txt } } } }\n',
      "token.txt": "abc\n",
    },
    before: ["chmod 644 token.txt"],
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { before: ["chmod 600 token.txt"] },
    fix: "Run the chmod of the hint, and replace the secret if others may have read it.",
  },
  CONFIG_SECRET_NOT_AVAILABLE: {
    cause: "A secret is in the keychain of the system, which is locked, missing or refuses.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", headers: { Authorization: { secret_key_ref: { keychain: notes } } } }\n',
    },
    run: "PATH=/none toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Unlock the keychain, or use the secret store: toolcrib secret set NAME.",
  },
  CONFIG_SECRET_NOT_FOUND: {
    cause: "No secret exists for a reference: it was not stored yet, or has another name.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", headers: { Authorization: { secret_key_ref: notes-token } } }\n',
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { files: { "token.txt": "abc\n" }, before: ["toolcrib secret set notes-token < token.txt"] },
    fix: "Store it: toolcrib secret set NAME.",
  },
  CONFIG_SECRET_UNREADABLE: {
    cause: "The secret exists and cannot be read or decrypted.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", headers: { Authorization: { secret_key_ref: notes-token } } }\n',
      "token.txt": "abc\n",
    },
    before: ["toolcrib secret set notes-token < token.txt"],
    run: "TOOLCRIB_SECRETS_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { run: "toolcrib list --log-level warn 2>&1 | grep code" },
    fix: "Restore the key or the permissions, or set the secret again. toolcrib secret test tries all.",
  },
  CONFIG_SECRET_UNUSABLE: {
    cause:
      "The value of a secret cannot be used in its place: it is empty, or has a line break where a header cannot.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: notes\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", headers: { Authorization: { secret_key_ref: notes-token } } }\n',
      "token.txt": "abc\ndef\n",
    },
    before: ["toolcrib secret set notes-token < token.txt"],
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { files: { "token.txt": "abc\n" }, before: ["toolcrib secret set notes-token < token.txt"] },
    fix: "Store the value again, in one line.",
  },
  CONFIG_SYNTAX: {
    cause:
      "The file is neither YAML nor JSON that can be read, often because of a tab or a wrong indentation.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
   transport: {}
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Correct the place that the message shows. YAML is indented with spaces.",
  },
  CONFIG_TOOLSPEC_HOST: {
    cause:
      "The variables of a toolspec produce a host that its manifest does not allow. A variable must not lead a token to another host.",
    files: toolspecFiles(
      ", variables: { tenant: evil.example/ }, credentials: { token: { secret_key_ref: acme-token } }",
      {
        manifest: [["[api.acme.example]", '["*.acme.example"]']],
        toolspec: [
          [
            "baseUrl: https://api.acme.example",
            'baseUrl: "https://{tenant}.acme.example"\nvariables:\n  tenant: { description: name of the company }',
          ],
        ],
      },
    ),
    run: "toolcrib config check",
    fix: "Write the name of your tenant only, in letters, digits and hyphens.",
  },
  CONFIG_TOOLSPEC_INVALID: {
    cause: "A manifest or its toolspec has errors, each of which is reported at its place.",
    files: toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }", {
      toolspec: [["method:", "metod:"]],
    }),
    run: "toolcrib config check",
    repaired: { files: toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }") },
    fix: "Fix them; toolcrib lint-toolspecs FOLDER shows them again.",
  },
  CONFIG_TOOLSPEC_NOT_FOUND: {
    cause:
      "The catalog has no toolspec of this name or version, or the path leads to no pair of manifest and toolspec.",
    files: {
      "toolcrib.yaml": `tool_servers: []
toolspecs: [{ path: ./absent }]
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Use a name of toolcrib catalog list, or the path of a folder with a manifest and its toolspec.",
  },
  CONFIG_TOOLSPEC_UNREADABLE: {
    cause: "A manifest or toolspec exists and cannot be read.",
    files: { "toolcrib.yaml": "toolspecs:\n  - { path: ./acme }\n" },
    before: ["ln -s acme acme"],
    run: "toolcrib config check toolcrib.yaml",
    fix: "Let this user read the files.",
  },
  CONFIG_TOOLSPEC_VARIABLE: {
    cause: "A variable of a toolspec is not set, does not exist, or cannot be used in a path.",
    files: toolspecFiles(", credentials: { token: { secret_key_ref: acme-token } }", {
      manifest: [["[api.acme.example]", '["*.acme.example"]']],
      toolspec: [
        [
          "baseUrl: https://api.acme.example",
          'baseUrl: "https://{tenant}.acme.example"\nvariables:\n  tenant: { description: name of the company }',
        ],
      ],
    }),
    run: "toolcrib config check",
    fix: "Set it in variables of the entry.",
  },
  CONFIG_TOOL_UNKNOWN: {
    cause: "The manifest has no tool of this name, or none that is offered by default.",
    files: toolspecFiles(", tools: [get_rep], credentials: { token: { secret_key_ref: acme-token } }"),
    run: "toolcrib config check",
    repaired: {
      files: toolspecFiles(", tools: [get_repo], credentials: { token: { secret_key_ref: acme-token } }"),
    },
    fix: "Use a name that the hint lists, or write tools: all.",
  },
  CONFIG_TOO_COMPLEX: {
    cause: "The file nests too deep, or aliases of YAML expand to too many values.",
    files: {
      "toolcrib.yaml":
        "a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n",
    },
    run: "toolcrib config check",
    fix: "Write the values out, or less of them.",
  },
  CONFIG_TRANSPORT_KIND: {
    cause: "transport.kind is missing, or is not stdio, sse or streamable_http.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: http, url: https://mcp.example.com/mcp }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write one of the three; most remote servers are streamable_http.",
  },
  CONFIG_UNKNOWN_FIELD: {
    cause: "A field that the configuration does not have. It would silently do nothing.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node, arg: [x] }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Correct it as the hint says; the JSON Schema lists all fields (toolcrib config schema).",
  },
  CONFIG_URL_CREDENTIALS: {
    cause: "A URL with user and password ends up in logs.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: streamable_http, url: "https://ada:pass@mcp.example.com/mcp" }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Remove the part before @, store the secret, and send it in headers with secret_key_ref.",
  },
  CONFIG_URL_INSECURE: {
    cause: "http to another machine can be read and changed on its way, with tokens and results.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: streamable_http, url: http://mcp.example.com/mcp }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write https. In a network that you trust, allow_http: true.",
  },
  CONFIG_URL_INVALID: {
    cause: "The URL of a transport cannot be read, or has another scheme than http and https.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: streamable_http, url: mcp.example.com/mcp }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write a complete URL: https://HOST/PATH.",
  },
  CONFIG_URL_REQUIRED: {
    cause: "A transport over the network has no URL.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: streamable_http }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Add url: with the endpoint of the server, often ending in /mcp.",
  },
  CONFIG_VARIABLE_NOT_AVAILABLE: {
    cause: "Text such as ${NAME} is not replaced in toolcrib.yaml, so the server would get the text itself.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node, env: { LEVEL: "\${LEVEL}" } }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write NAME: { secret_key_ref: { env: NAME } }, or the value.",
  },
  CONFIG_VARIABLE_NOT_SET: {
    cause: "The file of another program has ${NAME}, and the environment does not have the variable.",
    files: {
      "mcp.json":
        '{ "mcpServers": { "notes": { "command": "node", "args": ["notes.js"], "env": { "TOKEN": "${NOTES_TOKEN}" } } } }\n',
    },
    run: "toolcrib --config mcp.json list --log-level warn 2>&1 | grep code",
    fix: "Set the variable where the gateway is started, or import the servers and store secrets: toolcrib init --import FILE.",
  },
  CONFIG_WRONG_TYPE: {
    cause: "A value has another type than its field takes, such as text instead of a list.",
    files: {
      "toolcrib.yaml": `tool_servers:
  - id: notes
    transport: { kind: stdio, command: node, args: --stdio }
`,
    },
    run: "toolcrib config check toolcrib.yaml",
    fix: "Write the type that the message names: args: [--stdio].",
  },
};
