// biome-ignore-all format: generated, one piece
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of users
/** What the examples print; written by `npm test -- packages/cli/test/explain-examples.process.test.ts --update`. */

/** The output of each example that a command produces, by code. */
export const recorded: { readonly [code: string]: string } = {
  CEDAR_ANNOTATION:
    "team.cedar:1:2: error CEDAR_ANNOTATION\nUnknown annotation @mesage\n1 | @mesage(\"ask the team\")\n     ^^^^^^\nhint: did you mean @message?",
  CEDAR_ID_DUPLICATE:
    "team.cedar:3:5: error CEDAR_ID_DUPLICATE\nTwo policies of this file have the id \"all\"\n3 | @id(\"all\")\n        ^^^^^\nhint: give each its own @id\n\nteam.cedar:4:29: error CEDAR_INVALID\nUnrecognized action `Action::\"manage\"`\n4 | forbid(principal, action in Action::\"manage\", resource);\n                                ^^^^^^^^^^^^^^^^\nhint: did you mean `Action::\"save\"`?",
  CEDAR_INVALID:
    "team.cedar:1:53: error CEDAR_INVALID\nAttribute `owner` on entity type `Resource` not found\n1 | permit(principal, action, resource) when { resource.owner == \"ada\" };\n                                                        ^^^^^\nhint: did you mean `name`?",
  CEDAR_SUSPICIOUS:
    "team.cedar:1:61: warning CEDAR_SUSPICIOUS\nString `\"pаyload\"` contains mixed scripts\n1 | permit(principal, action, resource) when { resource.name == \"pаyload\" };\n                                                                ^^^^^^^^^\n\nOK team.cedar",
  CEDAR_SYNTAX:
    "team.cedar:1:36: error CEDAR_SYNTAX\nUnexpected end of input\n1 | permit(principal, action, resource)\n                                       ^\nhint: expected `;` or identifier",
  CEDAR_TEMPLATE:
    "team.cedar:1:21: error CEDAR_TEMPLATE\n?principal and ?resource belong to templates, which are not supported\n1 | permit(principal == ?principal, action, resource);\n                        ^^^^^^^^^^\nhint: write a policy for each client and tool",
  CEDAR_TOOL_ID:
    "team.cedar:1:39: error CEDAR_TOOL_ID\nThe policy \"1\" names the tool \"github__list_issues\", which is a name on the wire and no id\n1 | permit(principal, action, resource == Tool::\"github__list_issues\");\n                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: did you mean Tool::\"github:list_issues\"?\n\nOK toolcrib.yaml",
  CEDAR_UNMATCHED:
    "team.cedar:1:21: warning CEDAR_UNMATCHED\nThe policy \"1\" is about Client::\"cly\", and no client has this name\n1 | permit(principal == Client::\"cly\", action, resource);\n                        ^^^^^^^^^^^^^\nhint: did you mean \"cli\"?\n\nOK toolcrib.yaml\nOK team.cedar",
  CEDAR_VALUE_UNKNOWN:
    "team.cedar:1:98: error CEDAR_VALUE_UNKNOWN\ntrust_state is never \"unverifed\"\n1 | forbid(principal, action, resource) when { resource has server && resource.server.trust_state == \"unverifed\" };\n                                                                                                     ^^^^^^^^^^^\nhint: did you mean \"unverified\"?",
  CLI_ARGUMENTS_INVALID:
    "<arguments>:1:11: error CLI_ARGUMENTS_INVALID\nThis is not JSON: expected a value\n1 | {\"query\": milk}\n              ^\n\nerror CLI_ARGUMENTS_INVALID: Cannot read the arguments: they are not valid JSON\nhint: put them in 'single quotes' with \"double quotes\" inside, or use --arg NAME=VALUE",
  CLI_CALL_NOT_FOUND:
    "error CLI_CALL_NOT_FOUND: The audit trail has no call \"0197c0de\"\nhint: see toolcrib audit list; each home has its own trail (--home)",
  CLI_CLIENT_NOT_FOUND:
    "error CLI_CLIENT_NOT_FOUND: No client called \"absent\" has received labelled data\nhint: see toolcrib labels show",
  CLI_CODE_NOT_FOUND:
    "error CLI_CODE_NOT_FOUND: No error code \"CONFIG_URL_INSECUR\" exists\nhint: did you mean CONFIG_URL_INSECURE? toolcrib explain lists all",
  CLI_CONFIG_INVALID:
    "toolcrib.yaml:1:18: error CONFIG_TRANSPORT_KIND\ntransport.kind missing or invalid: the server has no transport\n1 | tool_servers: [{ id: notes }]\n                     ^^\nhint: add transport: { kind: stdio, command: … } or transport: { kind: streamable_http, url: … }\n\nerror CLI_CONFIG_INVALID: The configuration has an error: toolcrib.yaml\nhint: fix the errors listed above",
  CLI_CONFIG_NOT_FOUND:
    "error CLI_CONFIG_NOT_FOUND: No configuration: there is no toolcrib.yaml in /home/ada or /home/ada/.toolcrib\nhint: create one with toolcrib init, or name one with --config FILE",
  CLI_CONNECTION_NOT_FOUND:
    "error CLI_CONNECTION_NOT_FOUND: Cursor is not connected to this home\nhint: no client is connected",
  CLI_FILE_EXISTS:
    "error CLI_FILE_EXISTS: toolcrib.yaml already exists\nhint: edit it, or overwrite it with --force",
  CLI_FILE_UNUSABLE:
    "error CLI_FILE_UNUSABLE: Cannot read absent.star: the file does not exist",
  CLI_IMPORT_FAILED:
    "error OPENAPI_OPERATION_MISSING\nThe document has no operations\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  CLI_PACKAGE_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\nerror CLI_PACKAGE_INVALID: The package \"echo\" has 1 error(s)",
  CLI_PACKAGE_UNTESTED:
    "manifest.json: warning MCPKG_FILE_UNUSED\n\"tests/echo.test.json\" is not in \"tests\", so it never runs\nhint: add it to tests\n\nerror CLI_PACKAGE_UNTESTED: The package demo.echo 0.1.0 has no tests\nhint: write tests/NAME.test.json and name it in tests of the manifest",
  CLI_PROGRAM_FAILED:
    "Traceback (most recent call last):\n  program.star:2:16: in <toplevel>\nprogram.star:2:16: error CLI_PROGRAM_FAILED\nlist index 5 out of range [-2:1]\n2 | result = values[5]\n                   ^",
  CLI_PROGRAM_INVALID:
    "program.star:1:13: error STARLARK_SYNTAX\ngot newline, want primary expression\n1 | result = 1 +\n                ^\nhint: the expression continues; put the rest on this line or use parentheses\n\nerror CLI_PROGRAM_INVALID: Cannot run program.star: it has errors",
  CLI_PROGRAM_UNUSABLE:
    "error CLI_PROGRAM_UNUSABLE: Cannot run \"absent-program\": spawn absent-program ENOENT\nhint: write the program and its arguments after --",
  CLI_TOOLSPEC_NOT_FOUND:
    "error CLI_TOOLSPEC_NOT_FOUND: The catalog has no toolspec \"githob\"\nhint: did you mean github?",
  CLI_TOOL_NOT_FOUND:
    "error CLI_TOOL_NOT_FOUND: Unknown tool: \"notes:serch\"\nhint: see toolcrib list",
  CLI_USAGE:
    "error CLI_USAGE: Unknown command 'serch'\nhint: did you mean search?",
  CONFIG_AUTH_EXPOSED:
    "toolcrib.yaml:1:38: error CONFIG_AUTH_EXPOSED\nserve.auth none is refused on \"0.0.0.0:7420\": other machines can reach that address\n1 | serve: { listen: 0.0.0.0:7420, auth: none }\n                                         ^^^^\nhint: write auth: token, or listen on 127.0.0.1",
  CONFIG_CA_FILE_INVALID:
    "toolcrib.yaml:1:22: error CONFIG_CA_FILE_INVALID\nCannot use \"/home/ada/ca.pem\": it does not exist (ENOENT)\n1 | egress: { ca_files: [ca.pem] }\n                         ^^^^^^\nhint: name a file with certificates in PEM (-----BEGIN CERTIFICATE-----)",
  CONFIG_COMMAND_NOT_FOUND:
    "toolcrib.yaml:3:40: warning CONFIG_COMMAND_NOT_FOUND\nCommand \"mcp-server-absent\" is not found on this machine, or is not executable\n3 |     transport: { kind: stdio, command: mcp-server-absent }\n                                           ^^^^^^^^^^^^^^^^^\nhint: install it, use its absolute path, or start Toolcrib with a PATH that contains it\n\nOK toolcrib.yaml",
  CONFIG_COMMAND_REQUIRED:
    "toolcrib.yaml:3:18: error CONFIG_COMMAND_REQUIRED\ntransport.command required for stdio\n3 |     transport: { kind: stdio }\n                     ^^^^\nhint: add command: with the path to the executable",
  CONFIG_COMMAND_SUSPICIOUS:
    "toolcrib.yaml:3:40: warning CONFIG_COMMAND_SUSPICIOUS\ntransport.command must be only the executable, but contains a space\n3 |     transport: { kind: stdio, command: \"npx -y mcp-notes\" }\n                                           ^^^^^^^^^^^^^^^^^^\nhint: write command: npx and the rest as args\n\ntoolcrib.yaml:3:40: warning CONFIG_COMMAND_NOT_FOUND\nCommand \"npx -y mcp-notes\" is not found on this machine, or is not executable\n3 |     transport: { kind: stdio, command: \"npx -y mcp-notes\" }\n                                           ^^^^^^^^^^^^^^^^^^\nhint: put the arguments into args: command: npx, args: [\"-y\", \"mcp-notes\"]\n\nOK toolcrib.yaml",
  CONFIG_CONFLATED_TARGET:
    "toolcrib.yaml:3:9: error CONFIG_CONFLATED_TARGET\nconflated tool_server and provider target: \"notes\" is also the id of the provider target at toolcrib.yaml:1:30\n3 |   - id: notes\n            ^^^^^\nhint: use distinct ids for tool servers and provider targets",
  CONFIG_DUPLICATE_KEY:
    "toolcrib.yaml:2:1: error CONFIG_DUPLICATE_KEY\nDuplicate field \"tool_servers\": it is given before in the same map\n2 | tool_servers: []\n    ^^^^^^^^^^^^\nhint: remove one of the two",
  CONFIG_FIELD_MISPLACED:
    "toolcrib.yaml:4:5: error CONFIG_FIELD_MISPLACED\nField \"tools\" belongs to a server with transport.manifest\n4 |     tools: all\n        ^^^^^\nhint: remove it: policy.allow and policy.deny decide which tools are offered",
  CONFIG_FIELD_REQUIRED:
    "toolcrib.yaml:2:5: error CONFIG_FIELD_REQUIRED\nField \"id\" is required in \"tool_servers[0]\"\n2 |   - transport: { kind: stdio, command: node }\n        ^^^^^^^^^\nhint: add id",
  CONFIG_FILE_UNREADABLE:
    "absent.yaml: error CONFIG_FILE_UNREADABLE\nCannot read the configuration: the file does not exist\nhint: check the path, and that the user who runs Toolcrib can read the file",
  CONFIG_FOREIGN_DISABLED:
    "mcp.json:1:19: warning CONFIG_FOREIGN_DISABLED\nServer \"notes\" is disabled in its file and ignored\n1 | { \"mcpServers\": { \"notes\": { \"command\": \"node\", \"disabled\": true } } }\n                      ^^^^^^^\n\nOK mcp.json",
  CONFIG_FOREIGN_FIELD:
    "mcp.json:1:49: warning CONFIG_FOREIGN_FIELD\nField \"autoApprove\" of server \"notes\" has no effect here\n1 | { \"mcpServers\": { \"notes\": { \"command\": \"node\", \"autoApprove\": [\"x\"] } } }\n                                                    ^^^^^^^^^^^^^\nhint: set allowed tools in the section policy of Toolcrib's own configuration\n\nOK mcp.json",
  CONFIG_HEADER_NOT_ALLOWED:
    "toolcrib.yaml:3:86: error CONFIG_HEADER_NOT_ALLOWED\nHeader \"Host\" cannot be declared: only Toolcrib sets it\n3 |     transport: { kind: streamable_http, url: https://mcp.example.com/mcp, headers: { Host: other.example.com } }\n                                                                                         ^^^^\nhint: remove it",
  CONFIG_IDLE_UNUSED:
    "toolcrib.yaml:4:5: error CONFIG_IDLE_UNUSED\nidle_seconds has no effect: the server does not start lazily\n4 |     idle_seconds: 60\n        ^^^^^^^^^^^^\nhint: write start: lazy, or remove idle_seconds",
  CONFIG_ID_COLLISION:
    "toolcrib.yaml:3:11: error CONFIG_ID_COLLISION\nIds \"my_notes\" and \"my-notes\" (toolcrib.yaml:2:11) differ only in case or separators\n3 |   - { id: my_notes, transport: { kind: stdio, command: node } }\n              ^^^^^^^^\nhint: rename one of the two, or give both the same id if the later one replaces the earlier one",
  CONFIG_ID_DUPLICATE:
    "toolcrib.yaml:3:11: error CONFIG_ID_DUPLICATE\nDuplicate id \"notes\": the tool server in line 2 has the same id\n3 |   - { id: notes, transport: { kind: stdio, command: node } }\n              ^^^^^\nhint: give each tool server of a file a different id",
  CONFIG_ID_INVALID:
    "toolcrib.yaml:2:11: error CONFIG_ID_INVALID\nId \"my notes\" cannot be used: letters, digits and _ . - are allowed\n2 |   - { id: my notes, transport: { kind: stdio, command: node } }\n              ^^^^^^^^\nhint: write a name such as my-notes",
  CONFIG_ID_NORMALIZED:
    "mcp.json:1:19: warning CONFIG_ID_NORMALIZED\nServer \"My Notes\" gets the id \"My-Notes\": its name is not valid in tool names\n1 | { \"mcpServers\": { \"My Notes\": { \"command\": \"node\" } } }\n                      ^^^^^^^^^^\n\nOK mcp.json",
  CONFIG_INLINE_SECRET:
    "toolcrib.yaml:3:67: error CONFIG_INLINE_SECRET\ninline secret not allowed: environment variable \"GITHUB_TOKEN\" contains a literal\n3 |     transport: { kind: stdio, command: node, env: { GITHUB_TOKEN: ****************************************** } }\n                                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write GITHUB_TOKEN: { secret_key_ref: { env: GITHUB_TOKEN } } and set that variable, or secret_key_ref: NAME for a secret in the store of Toolcrib",
  CONFIG_INVALID_VALUE:
    "toolcrib.yaml:4:18: error CONFIG_INVALID_VALUE\n\"tool_servers[0].trust_state\" must be unverified, verified or certified, but is \"trusted\"\n4 |     trust_state: trusted\n                     ^^^^^^^\nhint: write trust_state: verified",
  CONFIG_MANIFEST_NOT_FOUND:
    "toolcrib.yaml:3:41: error CONFIG_MANIFEST_NOT_FOUND\nCannot read \"absent.yaml\": the file does not exist\n3 |     transport: { kind: stdio, manifest: ./absent.yaml }\n                                            ^^^^^^^^^^^^^\nhint: write the path of a manifest, or a name that toolcrib catalog list shows",
  CONFIG_POLICY_FLOOR:
    "toolcrib.yaml:6:36: error CONFIG_POLICY_FLOOR\nTool server \"notes\" is below the policy floor: network_egress: allow (toolcrib.yaml:6:36) is less than deny, which toolcrib.yaml:1:36 requires\n6 |     containment: { network_egress: allow }\n                                       ^^^^^\nhint: write network_egress: deny, or change the floor where it is set",
  CONFIG_POLICY_UNREADABLE:
    "toolcrib.yaml:1:19: error CONFIG_POLICY_UNREADABLE\nCannot read the policy file \"absent.cedar\": the file does not exist\n1 | policy: { files: [absent.cedar] }\n                      ^^^^^^^^^^^^\nhint: check the path, and that the user who runs Toolcrib can read the file",
  CONFIG_RESOURCE_HOST:
    "toolcrib.yaml:3:5: warning CONFIG_RESOURCE_HOST\nRequests to \"tools.example.com\" are refused, which serve.auth.resource names: it is not in serve.allowed_hosts\n3 |     resource: https://tools.example.com/mcp\n        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write allowed_hosts: [tools.example.com], unless a proxy replaces the Host header\n\nOK toolcrib.yaml",
  CONFIG_RULE_UNMATCHED:
    "toolcrib.yaml:1:18: warning CONFIG_RULE_UNMATCHED\nRule \"ntoes:*\" matches nothing known: no tool server and no toolspec is called \"ntoes\"\n1 | policy: { deny: [\"ntoes:*\"] }\n                     ^^^^^^^^^\nhint: did you mean \"notes:*\"?\n\nOK toolcrib.yaml",
  CONFIG_SCOPE_MISSING:
    "toolcrib.yaml:4:36: error CONFIG_SCOPE_MISSING\nnetwork_egress: scoped needs its scope: egress_allow is absent\n4 |     containment: { network_egress: scoped }\n                                       ^^^^^^\nhint: add egress_allow: [api.example.com], or write network_egress: deny",
  CONFIG_SCOPE_UNUSED:
    "toolcrib.yaml:4:42: error CONFIG_SCOPE_UNUSED\negress_allow has no effect: network_egress is \"deny\"\n4 |     containment: { network_egress: deny, egress_allow: [api.example.com] }\n                                             ^^^^^^^^^^^^\nhint: write network_egress: scoped, or remove egress_allow",
  CONFIG_SYNTAX:
    "toolcrib.yaml:3:1: error CONFIG_SYNTAX\nThe indentation does not match the preceding lines\n3 |    transport: {}\n    ^\nhint: indent the fields of one map, and the items of one list, by the same number of spaces",
  CONFIG_TOOLSPEC_NOT_FOUND:
    "toolcrib.yaml:2:21: error CONFIG_TOOLSPEC_NOT_FOUND\nCannot read \"absent\": the file does not exist\n2 | toolspecs: [{ path: ./absent }]\n                        ^^^^^^^^\nhint: write the path of a manifest, of a toolspec, or of a folder with one pair",
  CONFIG_TRANSPORT_KIND:
    "toolcrib.yaml:3:24: error CONFIG_TRANSPORT_KIND\ntransport.kind missing or invalid: it is \"http\", allowed are stdio, sse or streamable_http\n3 |     transport: { kind: http, url: https://mcp.example.com/mcp }\n                           ^^^^\nhint: write kind: streamable_http",
  CONFIG_UNKNOWN_FIELD:
    "toolcrib.yaml:3:46: error CONFIG_UNKNOWN_FIELD\nUnknown field \"arg\" in \"tool_servers[0].transport\"\n3 |     transport: { kind: stdio, command: node, arg: [x] }\n                                                 ^^^\nhint: did you mean args?",
  CONFIG_URL_CREDENTIALS:
    "toolcrib.yaml:3:46: error CONFIG_URL_CREDENTIALS\ntransport.url cannot contain a user name or password\n3 |     transport: { kind: streamable_http, url: \"https://********@mcp.example.com/mcp\" }\n                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: remove the text before the @ and write headers: { Authorization: { secret_key_ref: NAME } }",
  CONFIG_URL_INSECURE:
    "toolcrib.yaml:3:46: error CONFIG_URL_INSECURE\ntransport.url cannot be http to \"mcp.example.com\": http is allowed to this machine only\n3 |     transport: { kind: streamable_http, url: http://mcp.example.com/mcp }\n                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: write https, or allow_http: true if you trust the network",
  CONFIG_URL_INVALID:
    "toolcrib.yaml:3:46: error CONFIG_URL_INVALID\nCannot read transport.url: it is not a complete URL\n3 |     transport: { kind: streamable_http, url: mcp.example.com/mcp }\n                                                 ^^^^^^^^^^^^^^^^^^^\nhint: write a scheme and a host: https://host/path",
  CONFIG_URL_REQUIRED:
    "toolcrib.yaml:3:18: error CONFIG_URL_REQUIRED\ntransport.url required for streamable_http\n3 |     transport: { kind: streamable_http }\n                     ^^^^\nhint: add url: with the endpoint, such as https://host/mcp",
  CONFIG_VARIABLE_NOT_AVAILABLE:
    "toolcrib.yaml:3:60: warning CONFIG_VARIABLE_NOT_AVAILABLE\nVariables are not replaced here: \"${LEVEL}\" is literal text\n3 |     transport: { kind: stdio, command: node, env: { LEVEL: \"${LEVEL}\" } }\n                                                               ^^^^^^^^^^\nhint: write LEVEL: { secret_key_ref: { env: LEVEL } }\n\nOK toolcrib.yaml",
  CONFIG_WRONG_TYPE:
    "toolcrib.yaml:3:52: error CONFIG_WRONG_TYPE\n\"tool_servers[0].transport.args\" must be a list, but is a string\n3 |     transport: { kind: stdio, command: node, args: --stdio }\n                                                       ^^^^^^^\nhint: write it as a list: [\"--stdio\"]",
  INSTALL_LOCK_INVALID:
    "error INSTALL_LOCK_INVALID: Cannot use \"/home/ada/mcp.lock\": it is not JSON\nhint: restore it from version control; or delete it, and write that of the installed packages with: toolcrib lock",
  INSTALL_NOT_FOUND:
    "error INSTALL_NOT_FOUND: The package demo.absent is not installed in /home/ada\nhint: toolcrib info lists what is installed",
  INSTALL_NO_REGISTRY:
    "error INSTALL_NO_REGISTRY: Cannot install \"demo.echo\": no registry is configured\nhint: add registries to toolcrib.yaml, or name one with --registry; ./demo.echo is the folder of this name",
  INSTALL_PACKAGE_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\nerror INSTALL_PACKAGE_INVALID: Cannot install \"./echo\": the package has 1 error(s), the first is: \"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"",
  INSTALL_SOURCE_INVALID:
    "error INSTALL_SOURCE_INVALID: Cannot install \"demo.echo@latest-ish\": \"latest-ish\" is no range of versions\nhint: write a version or a range, such as demo.echo@1.2.0 or demo.echo@^1.2",
  INSTALL_SOURCE_UNUSABLE:
    "error INSTALL_SOURCE_UNUSABLE: Cannot read \"./absent.mcpkg\": there is no such file or folder",
  MANIFEST_BARE_WORD:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/manifests/acme/0.1.0.yaml:3:14: warning MANIFEST_BARE_WORD\nA YAML 1.1 reader takes \"yes\" without quotes for true\n3 | displayName: yes\n                 ^^^\nhint: write it in quotes: \"yes\"\n\n0 error(s), 1 warning(s)",
  MANIFEST_BUILDER_INVALID:
    "acme/manifests/acme/0.1.0.yaml:9:12: error MANIFEST_BUILDER_INVALID\n\"image.builder\" must be go-static, node, python or toolpack, but is \"cargo\"\n9 |   builder: cargo\n               ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_CATEGORY_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:11: error MANIFEST_CATEGORY_INVALID\n\"category\" must be ai, analytics, comms, CRM, data, design, dev-tools, documents, e-commerce, finance, HR/ATS, marketing, productivity, search, social, storage or support, but is \"stuff\"\n3 | category: stuff\n              ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_CREDENTIAL_DUPLICATE:
    "acme/manifests/acme/0.1.0.yaml:16:11: error MANIFEST_CREDENTIAL_DUPLICATE\nDuplicate credential \"token\": line 13 has the same id\n16 |   - { id: token, type: api_key, inject: { header: X-Key, format: \"{token}\" } }\n               ^^^^^\nhint: give each credential a unique id\n\n1 error(s), 0 warning(s)",
  MANIFEST_CREDENTIAL_TYPE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:14:11: error MANIFEST_CREDENTIAL_TYPE_INVALID\n\"credentials[0].type\" must be oauth2, api_key, basic or custom_env, but is \"password\"\n14 |     type: password\n               ^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_DIGEST_INVALID:
    "acme/manifests/acme/0.1.0.yaml:7:11: error MANIFEST_DIGEST_INVALID\n\"image.digest\" must be sha256: and 64 hexadecimal digits in lower case, but is \"0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0\"\n7 |   digest: 0b1c2d3e4f5061728394a5b6c7d8e9f00b1c2d3e4f5061728394a5b6c7d8e9f0\n              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_DUPLICATE_KEY:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_DUPLICATE_KEY\nDuplicate field \"tier\": it is given before in the same map\n11 | tier: entrusted\n     ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  MANIFEST_EGRESS_INVALID:
    "acme/manifests/acme/0.1.0.yaml:11:44: error MANIFEST_EGRESS_INVALID\nCannot allow \"*\": a wildcard is \"*.\" at the beginning and matches one label\n11 | entitlements: { egress: [api.acme.example, \"*\"] }\n                                                ^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_ENTRYPOINT_INVALID:
    "acme/manifests/acme/0.1.0.yaml:8:15: error MANIFEST_ENTRYPOINT_INVALID\n\"image.entrypoint\" must be an absolute path, but is \"server\"\n8 |   entrypoint: server\n                  ^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_FIELD_REQUIRED:
    "acme/manifests/acme/0.1.0.yaml:1:1: error MANIFEST_FIELD_REQUIRED\nField \"tier\" is required in the manifest\n1 | schemaVersion: 2\n    ^^^^^^^^^^^^^\nhint: add tier\n\n1 error(s), 0 warning(s)",
  MANIFEST_FILE_MISPLACED:
    "acme/manifests/acme/0.1.0.yaml:3:10: error MANIFEST_FILE_MISPLACED\n\"version\" is \"0.2.0\", but the file name is \"0.1.0\"\n3 | version: 0.2.0\n             ^^^^^\nhint: write version: 0.1.0, or move the file\n\nacme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_MISMATCH\n\"version\" is \"0.1.0\", but \"0.2.0\" in the manifest acme/manifests/acme/0.1.0.yaml\n3 | version: 0.1.0\n             ^^^^^\nhint: write version: 0.2.0\n\n2 error(s), 0 warning(s)",
  MANIFEST_INJECT_COLLIDES:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/manifests/acme/0.1.0.yaml:16:51: warning MANIFEST_INJECT_COLLIDES\nCredentials \"token\" and \"other\" are both sent in the header \"Authorization\": the last one is\n16 |   - { id: other, type: api_key, inject: { header: Authorization, format: \"Token {token}\" } }\n                                                       ^^^^^^^^^^^^^\nhint: remove one of the two, or give it another header\n\n0 error(s), 1 warning(s)",
  MANIFEST_INJECT_ENTRUSTED:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has no inject.env: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                   ^^^^^^\nhint: write inject: { env: NAME }\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has inject.header: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                   ^^^^^^\nhint: remove header; auth in the toolspec states where the secret goes\n\nacme/manifests/acme/0.1.0.yaml:15:38: error MANIFEST_INJECT_ENTRUSTED\nCredential \"token\" has inject.format: the entrusted tier takes env and nothing else\n15 |     inject: { header: Authorization, format: \"Bearer {token}\" }\n                                          ^^^^^^\nhint: remove format; auth in the toolspec states where the secret goes\n\nacme/toolspecs/acme/0.1.0.yaml:4:1: error TOOLSPEC_AUTH_REQUIRED\n\"auth\" is required: the manifest is of the entrusted tier and does not say where its credential goes\n4 | baseUrl: https://api.acme.example\n    ^^^^^^^\nhint: add auth: { header: Authorization, format: \"Bearer {token}\" }\n\n4 error(s), 0 warning(s)",
  MANIFEST_INJECT_ENV:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: { env: \"my token\" }\n                   ^^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has inject.env: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: { env: \"my token\" }\n                   ^^^\nhint: remove env\n\nacme/manifests/acme/0.1.0.yaml:15:20: error MANIFEST_INJECT_ENV\n\"credentials[0].inject.env\" must be the name of an environment variable, but is \"my token\"\n15 |     inject: { env: \"my token\" }\n                        ^^^^^^^^^^\n\n3 error(s), 0 warning(s)",
  MANIFEST_INJECT_FORMAT:
    "acme/manifests/acme/0.1.0.yaml:15:46: error MANIFEST_INJECT_FORMAT\n\"inject.format\" of credential \"token\" must contain {token}\n15 |     inject: { header: Authorization, format: ******** }\n                                                  ^^^^^^^^\nhint: write the text around the token: format: \"Bearer {token}\"\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_HEADER:
    "acme/manifests/acme/0.1.0.yaml:15:23: error MANIFEST_INJECT_HEADER\nCannot send credential \"token\" in the header \"Content-Length\": it is set by the client itself\n15 |     inject: { header: Content-Length, format: \"Bearer {token}\" }\n                           ^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_PATH_PREFIX:
    "acme/manifests/acme/0.1.0.yaml:15:27: error MANIFEST_INJECT_PATH_PREFIX\n\"inject.pathPrefix\" of credential \"token\" must begin with \"/\"\n15 |     inject: { pathPrefix: \"bot{token}\" }\n                               ^^^^^^^^^^^^\nhint: write the prefix of every path: pathPrefix: \"/bot{token}\"\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_PLACE:
    "acme/manifests/acme/0.1.0.yaml:15:64: error MANIFEST_INJECT_PLACE\nCredential \"token\" has inject.header and inject.query, but goes to one place\n15 |     inject: { header: Authorization, format: \"Bearer {token}\", query: key }\n                                                                    ^^^^^\nhint: remove query, or declare a second credential\n\n1 error(s), 0 warning(s)",
  MANIFEST_INJECT_SEALED:
    "acme/manifests/acme/0.1.0.yaml:15:13: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, query, or pathPrefix, and no env\n15 |     inject: {}\n                 ^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\n1 error(s), 0 warning(s)",
  MANIFEST_LOADER_VARIABLE:
    "acme/manifests/acme/0.1.0.yaml:16:21: error MANIFEST_LOADER_VARIABLE\nCredential \"token\" has placeholderEnv: NODE_OPTIONS, a variable that chooses the code that a program loads when it starts\n16 |     placeholderEnv: NODE_OPTIONS\n                         ^^^^^^^^^^^^\nhint: name the variable in which the server reads its credential\n\n1 error(s), 0 warning(s)",
  MANIFEST_NAME_INVALID:
    "acme/manifests/acme/0.1.0.yaml:2:7: error MANIFEST_NAME_INVALID\n\"name\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme_API\"\n2 | name: Acme_API\n          ^^^^^^^^\nhint: write acme-api\n\n1 error(s), 0 warning(s)",
  MANIFEST_NEEDS_VERSION_2:
    "acme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_NEEDS_VERSION_2\nField \"query\" belongs to schemaVersion 2, and this manifest is of schemaVersion 1\n15 |     inject: { query: key }\n                   ^^^^^\nhint: write schemaVersion: 2, or send the credential in a header\n\nacme/manifests/acme/0.1.0.yaml:15:15: error MANIFEST_INJECT_SEALED\nCredential \"token\" has no inject.header and inject.format: the sealed tier takes header and format, and no env\n15 |     inject: { query: key }\n                   ^^^^^\nhint: write inject: { header: Authorization, format: \"Bearer {token}\" }\n\n2 error(s), 0 warning(s)",
  MANIFEST_PACKAGE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:4:61: error MANIFEST_PACKAGE_INVALID\n\"source.package\" must be a folder within the repository, without .., but is \"../other\"\n4 | source: { repo: github.com/acme/acme, tag: v0.1.0, package: ../other }\n                                                                ^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_PLACEHOLDER_ENV:
    "acme/manifests/acme/0.1.0.yaml:16:21: error MANIFEST_PLACEHOLDER_ENV\n\"credentials[0].placeholderEnv\" must be the name of an environment variable, but is \"a b\"\n16 |     placeholderEnv: \"a b\"\n                         ^^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_SCHEMA_VERSION:
    "acme/manifests/acme/0.1.0.yaml:1:16: error MANIFEST_SCHEMA_VERSION\n\"schemaVersion\" must be 1 or 2, but is 9\n1 | schemaVersion: 9\n                   ^\nhint: write schemaVersion: 1\n\n1 error(s), 0 warning(s)",
  MANIFEST_SYNTAX:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_SYNTAX\nThe indentation does not match the preceding lines\n11 | entitlements: { egress: [api.acme.example] }\n     ^\nhint: indent the fields of one map, and the items of one list, by the same number of spaces\n\n1 error(s), 0 warning(s)",
  MANIFEST_TIER_INVALID:
    "acme/manifests/acme/0.1.0.yaml:10:7: error MANIFEST_TIER_INVALID\n\"tier\" must be sealed or entrusted, but is \"open\"\n10 | tier: open\n           ^^^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_TOOL_DUPLICATE:
    "acme/manifests/acme/0.1.0.yaml:18:13: error MANIFEST_TOOL_DUPLICATE\nDuplicate tool \"get_repo\": line 17 has the same name\n18 |   - { name: get_repo, default: false }\n                 ^^^^^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  MANIFEST_UNKNOWN_FIELD:
    "acme/manifests/acme/0.1.0.yaml:11:1: error MANIFEST_UNKNOWN_FIELD\nUnknown field \"label\" in the manifest\n11 | label: x\n     ^^^^^\nhint: allowed: schemaVersion, name, version, source, image, tier, entitlements, credentials, tools, displayName, description, category, icon\n\n1 error(s), 0 warning(s)",
  MANIFEST_VALUE_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:14: error MANIFEST_VALUE_INVALID\n\"displayName\" is empty\n3 | displayName: \"\"\n                 ^^\nhint: write a value, or remove the field\n\n1 error(s), 0 warning(s)",
  MANIFEST_VENDOR_INVALID:
    "acme/manifests/acme/0.1.0.yaml:15:13: error MANIFEST_VENDOR_INVALID\n\"credentials[0].vendor\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme Inc\"\n15 |     vendor: \"Acme Inc\"\n                 ^^^^^^^^^^\nhint: write acme-inc\n\n1 error(s), 0 warning(s)",
  MANIFEST_VENDOR_REQUIRED:
    "acme/manifests/acme/0.1.0.yaml:14:11: error MANIFEST_VENDOR_REQUIRED\nCredential \"token\" is of type oauth2 and has no vendor\n14 |     type: oauth2\n               ^^^^^^\nhint: add vendor: NAME, such as google\n\n1 error(s), 0 warning(s)",
  MANIFEST_VERSION_INVALID:
    "acme/manifests/acme/0.1.0.yaml:3:10: error MANIFEST_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH without leading zeros, but is \"v1\"\n3 | version: v1\n             ^^\n\n1 error(s), 0 warning(s)",
  MANIFEST_WRONG_TYPE:
    "acme/manifests/acme/0.1.0.yaml:3:14: error MANIFEST_WRONG_TYPE\n\"displayName\" must be a string, but is a list\n3 | displayName: [acme]\n                 ^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_ARCHIVE_INVALID:
    "error MCPKG_ARCHIVE_INVALID: Cannot read the archive: the file is no ZIP archive\nhint: of a package or bundle that is not packed, pass the folder with its manifest.json, not a file in it",
  MCPKG_ASSERTION_INVALID:
    "tests/echo.test.json:10:5: error MCPKG_ASSERTION_INVALID\nThe assertion for \"$.message\" has no condition; it must have exactly one\n10 |     {\n         ^\nhint: write one of equals, notEquals, exists and notExists\n\n1 error(s), 0 warning(s)",
  MCPKG_CHAIN_INVALID:
    "manifest.json:39:20: error MCPKG_CHAIN_INVALID\nStep \"one\" uses \"two\", which is no step, no outputKey and not input\n39 |         \"message\": \"$.two.text\"\n                        ^^^^^^^^^^^^\nhint: known at this step: input\n\n1 error(s), 0 warning(s)",
  MCPKG_COMMAND_INVALID:
    "manifest.json:11:16: error MCPKG_COMMAND_INVALID\nCannot run \"../tool\": \"../tool\" is neither node, python or dotnet nor the path of a file in the package, such as ./bin/tool\n11 |     \"command\": \"../tool\"\n                    ^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_DUPLICATE_KEY:
    "manifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"name\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add name\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"version\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add version\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"description\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add description\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"capabilities\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add capabilities\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"input_schema\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add input_schema\n\nmanifest.json:1:3: error MCPKG_FIELD_REQUIRED\nField \"output_schema\" is required in the manifest\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n      ^^^^^^^^\nhint: add output_schema\n\nmanifest.json:1:26: error MCPKG_DUPLICATE_KEY\nDuplicate field \"toolId\": it is given before in the same map\n1 | { \"toolId\": \"demo.echo\", \"toolId\": \"demo.echo2\" }\n                             ^^^^^^^^\nhint: remove one of the two\n\n7 error(s), 0 warning(s)",
  MCPKG_ENDPOINT_INVALID:
    "manifest.json:12:12: error MCPKG_ENDPOINT_INVALID\nA URL begins with https://, and not with ftp://\n12 |     \"url\": \"ftp://example.com/echo\"\n                ^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_FIELD_REQUIRED:
    "manifest.json:2:3: error MCPKG_FIELD_REQUIRED\nField \"description\" is required in the manifest\n2 |   \"toolId\": \"demo.echo\",\n      ^^^^^^^^\nhint: add description\n\n1 error(s), 0 warning(s)",
  MCPKG_FILE_MISSING:
    "manifest.json:36:12: warning MCPKG_FILE_UNUSED\n\"tests/echo.test.json\" is not in \"tests\", so it never runs\n36 |   \"tests\": [\n                ^\nhint: add it to tests\n\nmanifest.json:37:5: error MCPKG_FILE_MISSING\nThe package has no file \"tests/absent.test.json\"\n37 |     \"tests/absent.test.json\"\n         ^^^^^^^^^^^^^^^^^^^^^^^^\nhint: paths are relative to the manifest, with / between their parts\n\n1 error(s), 1 warning(s)",
  MCPKG_FILE_UNUSED:
    "demo.echo 0.1.0 is valid: 3 files, 1 test, not signed\nmanifest.json:36:12: warning MCPKG_FILE_UNUSED\n\"tests/other.test.json\" is not in \"tests\", so it never runs\n36 |   \"tests\": [\n                ^\nhint: add it to tests\n\n0 error(s), 1 warning(s)",
  MCPKG_JSON_PATH_INVALID:
    "tests/echo.test.json:11:15: error MCPKG_JSON_PATH_INVALID\n\"$.message[\" is not a JSONPath: unclosed bracketed selection ('.message[':10)\n11 |       \"path\": \"$.message[\",\n                   ^^^^^^^^^^^^\nhint: see RFC 9535, such as $.status or $.items[0].id\n\n1 error(s), 0 warning(s)",
  MCPKG_REGISTRY_PLACE_INVALID:
    "error MCPKG_REGISTRY_PLACE_INVALID: Cannot use the registry \"ftp://registry.example/\": it must be an https URL\nhint: write https://HOST/PATH/, or the path of a folder",
  MCPKG_SCHEMA_INVALID:
    "manifest.json:15:13: error MCPKG_SCHEMA_INVALID\nThe type of \"input_schema\" must be \"object\", but is \"string\"\n15 |     \"type\": \"string\"\n                 ^^^^^^^^\nhint: arguments are an object\n\ntests/echo.test.json:3:12: error MCPKG_TEST_INPUT_INVALID\nThe input of the test does not match the input schema: it must be string\n3 |   \"input\": {\n               ^\n\n2 error(s), 0 warning(s)",
  MCPKG_SYNTAX:
    "manifest.json:1:34: error MCPKG_SYNTAX\nCannot read this JSON value\n1 | { \"toolId\": \"demo.echo\", \"name\": }\n                                     ^\nhint: texts stand in double quotes; the rest is true, false, null, a number, {…} or […]\n\n1 error(s), 0 warning(s)",
  MCPKG_TEST_INPUT_INVALID:
    "tests/echo.test.json:3:12: error MCPKG_TEST_INPUT_INVALID\nThe input of the test does not match the input schema: it must have required property 'message'\n3 |   \"input\": {\n               ^\n\n1 error(s), 0 warning(s)",
  MCPKG_TOOL_ID_INVALID:
    "manifest.json:2:13: error MCPKG_TOOL_ID_INVALID\n\"toolId\" must be two or more parts of a-z, 0-9 and _ with dots between, such as acme.crm.search, but is \"Echo\"\n2 |   \"toolId\": \"Echo\",\n                ^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_UNKNOWN_FIELD:
    "demo.echo 0.1.0 is valid: 2 files, 1 test, not signed\nmanifest.json:39:3: warning MCPKG_UNKNOWN_FIELD\nUnknown member \"descripton\": it has no effect\n39 |   \"descripton\": \"Echo\"\n       ^^^^^^^^^^^^\nhint: did you mean description?\n\n0 error(s), 1 warning(s)",
  MCPKG_VALUE_INVALID:
    "manifest.json:11:15: error MCPKG_VALUE_INVALID\n\"endpoint.method\" must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, but is \"FETCH\"\n11 |     \"method\": \"FETCH\",\n                   ^^^^^^^\n\n1 error(s), 0 warning(s)",
  MCPKG_VERSION_INVALID:
    "manifest.json:4:14: error MCPKG_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH, such as 1.0.0, but is \"1.0\"\n4 |   \"version\": \"1.0\",\n                 ^^^^^\nhint: write 1.0.0\n\n1 error(s), 0 warning(s)",
  MCPKG_WRONG_TYPE:
    "manifest.json:6:19: error MCPKG_WRONG_TYPE\n\"capabilities\" must be a list, but is a string\n6 |   \"capabilities\": \"demo\",\n                      ^^^^^^\nhint: write it as a list: [\"demo\"]\n\n1 error(s), 0 warning(s)",
  OPENAPI_BODY_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:7: warning OPENAPI_BODY_UNFIT\nThe body of operation \"find\" is left out: GET is sent without one\n8 |       requestBody: { content: { application/json: { schema: { type: object } } } }\n          ^^^^^^^^^^^",
  OPENAPI_CREDENTIAL_HIDDEN:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nsends api_key in the query, as api_key\nhides api_key in the query of 1 tool: the credential api_key\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  toolcrib secret set shop-api-key\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\n        credentials:\n          api_key: {secret_key_ref: shop-api-key}\napi.yaml:8:20: warning OPENAPI_CREDENTIAL_HIDDEN\nQuery parameter \"api_key\" of 1 tool is hidden: it is the credential \"api_key\", which is sent in the query, as api_key\n8 |       parameters: [{ name: api_key, in: query, schema: { type: string } }]\n                       ^\nhint: if it is an argument, import with --keep-argument api_key",
  OPENAPI_CREDENTIAL_MISSING:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest",
  OPENAPI_CREDENTIAL_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\napi.yaml:5:34: warning OPENAPI_CREDENTIAL_UNFIT\nCannot use security scheme \"session\": cookies are not sent\n5 | components: { securitySchemes: { session: { type: apiKey, in: cookie, name: sid } } }\n                                     ^^^^^^^\nhint: a credential is sent in a header or in the query; set one up by hand if the API takes another\n\napi.yaml:8:5: warning OPENAPI_CREDENTIAL_UNFIT\nOperation \"find\" needs \"session\", but none can be sent\n8 |     get: { operationId: find, responses: { \"200\": { description: ok } } }\n        ^^^\nhint: import these operations under another --name",
  OPENAPI_NAME_MISSING:
    "api.yaml:2:9: error OPENAPI_NAME_MISSING\nThe title \"…\" cannot be converted to a name for the manifest\n2 | info: { title: \"…\", version: \"1\" }\n            ^^^^^\nhint: give one with --name\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_OPERATION_DEPRECATED:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:5: warning OPENAPI_OPERATION_DEPRECATED\nOperation \"oldFind\" is deprecated and left out\n8 |     get: { operationId: oldFind, deprecated: true, responses: { \"200\": { description: ok } } }\n        ^^^\nhint: import it with --operation \"oldFind\"",
  OPENAPI_OPERATION_LIMIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:7:5: warning OPENAPI_OPERATION_LIMIT\n2 operations are chosen; the first 1 are imported\n7 |     post: { operationId: add, responses: { \"200\": { description: ok } } }\n        ^^^^\nhint: select operations with --tag, --path or --operation; --list shows what there is",
  OPENAPI_OPERATION_MISSING:
    "error OPENAPI_OPERATION_MISSING\nThe document has no operation \"fnd\"\nhint: did you mean find?\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_OPERATION_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:7:5: warning OPENAPI_OPERATION_UNFIT\nOperation \"probe\" is left out: tools are sent with GET, POST, PUT, PATCH or DELETE, not HEAD\n7 |     head: { operationId: probe, responses: { \"200\": { description: ok } } }\n        ^^^^",
  OPENAPI_PARAMETER_CHANGED:
    "TOOL  REQUEST\nget   GET /items/{id}\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:6:5: warning OPENAPI_PARAMETER_CHANGED\nPlaceholder \"{id}\" of operation \"get\" has no parameter and is treated as a text\n6 |     get: { operationId: get, responses: { \"200\": { description: ok } } }\n        ^^^",
  OPENAPI_PARAMETER_UNFIT:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:20: warning OPENAPI_PARAMETER_UNFIT\nParameter \"id\" of operation \"find\" is left out: its path has no such placeholder\n8 |       parameters: [{ name: id, in: path, required: true, schema: { type: string } }]\n                       ^",
  OPENAPI_REFERENCE:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:8:20: warning OPENAPI_REFERENCE\nCannot follow $ref \"#/components/parameters/limit\": its target does not exist\n8 |       parameters: [{ $ref: \"#/components/parameters/limit\" }]\n                       ^\nhint: copy the referenced part into this document",
  OPENAPI_SERVER_CHANGED:
    "TOOL  REQUEST\nfind  GET /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  toolcrib toolspec test toolspecs/shop/0.1.0.yaml\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:3:1: warning OPENAPI_SERVER_CHANGED\nServer \"http://api.shop.example\" uses http, and is called with https\n3 | servers: [{ url: http://api.shop.example }]\n    ^^^^^^^\nhint: give another with --base-url",
  OPENAPI_SERVER_UNFIT:
    "error OPENAPI_SERVER_UNFIT\nThe document has no server that can be converted to a base URL\nhint: give the base URL with --base-url https://HOST/PATH\n\napi.yaml:3:1: warning OPENAPI_SERVER_UNFIT\nCannot use a server: \"/v1\" is relative, and the URL of the document is not known\n3 | servers: [{ url: /v1 }]\n    ^^^^^^^\nhint: give the base URL with --base-url https://HOST/PATH\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_SYNTAX:
    "api.yaml:3:6: error OPENAPI_SYNTAX\n\",\" or \"}\" belongs here\n3 | paths: {}\n         ^\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  OPENAPI_TYPE_NARROWED:
    "TOOL  REQUEST\nadd   POST /items\n\n1 tool\nreaches api.shop.example\nwrote manifests/shop/0.1.0.yaml\nwrote toolspecs/shop/0.1.0.yaml\n\nnext:\n  add to toolcrib.yaml:\n\n    toolspecs:\n      - path: ./toolspecs/shop/0.1.0.yaml\n        # tools: all   # 1 more: the tools that change data\nwarning OPENAPI_CREDENTIAL_MISSING\nThe document declares no credential\nhint: if the API needs one, add it to credentials of the manifest\n\napi.yaml:11:51: warning OPENAPI_TYPE_NARROWED\nParameter \"tags\" of operation \"add\" may be array and object; the tool takes it as array\n11 |             schema: { type: object, properties: { tags: { type: [array, object] } } }\n                                                       ^^^^\nhint: change the type in the toolspec if another type is needed",
  OPENAPI_VERSION:
    "api.yaml:1:1: error OPENAPI_VERSION\nCannot import a document of Swagger \"2.0\": OpenAPI 3.0 and 3.1 are supported\n1 | swagger: \"2.0\"\n    ^^^^^^^\nhint: convert it to OpenAPI 3 first, with a converter such as swagger2openapi\n\nerror CLI_IMPORT_FAILED: Cannot import \"api.yaml\"",
  POLICY_TEST_INVALID:
    "team.policy-test.yaml:1:11: error POLICY_TEST_INVALID\nField \"expect\" is required in \"tests[0]\"\n1 | tests: [{ client: ci, tool: \"github:list_issues\", expects: allow }]\n              ^^^^^^\nhint: add expect\n\nteam.policy-test.yaml:1:51: error POLICY_TEST_INVALID\nUnknown field \"expects\" in \"tests[0]\"\n1 | tests: [{ client: ci, tool: \"github:list_issues\", expects: allow }]\n                                                      ^^^^^^^\nhint: did you mean expect?\n0 passed, 0 failed",
  POLICY_TEST_SYNTAX:
    "team.policy-test.yaml:1:20: error POLICY_TEST_SYNTAX\nA quoted text, list or map is not closed\n1 | tests: [{ client: ci\n                       ^\nhint: look for a missing quote, bracket, comma or colon\n0 passed, 0 failed",
  POLICY_TEST_UNMATCHED:
    "team.policy-test.yaml:1:30: warning POLICY_TEST_UNMATCHED\nNo tool server and no toolspec has the id \"gitub\"\n1 | tests: [{ client: cli, tool: \"gitub:list_issues\", expect: deny }]\n                                 ^^^^^^^^^^^^^^^^^^^\nhint: did you mean \"github:list_issues\"?\n1 passed, 0 failed",
  SECRETS_NAME_INVALID:
    "error SECRETS_NAME_INVALID: Cannot use this name for a secret\nhint: use at most 128 letters, digits, _ - and . characters, with no . at either end",
  SECRETS_NOT_FOUND:
    "error SECRETS_NOT_FOUND: Cannot find secret \"absent\" in the secret store\nhint: see toolcrib secret list; remove variables and plain files yourself",
  SECRETS_UNUSABLE:
    "error SECRETS_UNUSABLE: Cannot use standard input: it is empty\nhint: write the secret into it",
  SERVER_IMPORT_CONTAINMENT:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: docker\n      args: [run, \"-i\", \"--rm\", \"docker.io/example/notes:1.0.0\"]\n    trust_state: unverified\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json: warning SERVER_IMPORT_CONTAINMENT\ndocker asks a daemon to start the container: the containment of the entry does not apply inside it, and an unverified server may not reach the daemon\nhint: prefer a package of another type, or raise trust_state and containment deliberately",
  SERVER_IMPORT_DEPRECATED:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: npx\n      args: [\"-y\", \"mcp-notes@1.0.0\"]\n    trust_state: unverified\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json:1:85: warning SERVER_IMPORT_DEPRECATED\nThe server is deprecated: its publisher does not offer it any more\n1 | { \"name\": \"io.example/notes\", \"description\": \"Notes\", \"version\": \"1.0.0\", \"status\": \"deprecated\",\n                                                                                        ^^^^^^^^^^^^",
  SERVER_IMPORT_DUPLICATE_KEY:
    "server.json:1:31: error SERVER_IMPORT_DUPLICATE_KEY\nDuplicate field \"name\": it is given before in the same map\n1 | { \"name\": \"io.example/notes\", \"name\": \"io.example/other\", \"version\": \"1.0.0\" }\n                                  ^^^^^^\nhint: remove one of the two\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_FIELD_REQUIRED:
    "server.json:1:3: error SERVER_IMPORT_FIELD_REQUIRED\nField \"name\" is required in the server.json\n1 | { \"description\": \"Notes\", \"version\": \"1.0.0\" }\n      ^^^^^^^^^^^^^\nhint: add name\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_LOADER_VARIABLE:
    "server.json: error SERVER_IMPORT_LOADER_VARIABLE\nThe file sets the variable NODE_OPTIONS, which chooses the code that programs load when they start: it is not imported\nhint: leave it out by using another version of the server, or set it deliberately: --set NODE_OPTIONS=VALUE\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_SECRET_EXPOSED:
    "Would add io.example/notes 1.0.0 to toolcrib.yaml:\n\ntool_servers:\n  - id: notes\n    name: io.example/notes\n    description: Notes\n    transport:\n      kind: stdio\n      command: npx\n      args: [\"-y\", \"mcp-notes@1.0.0\"]\n      env:\n        NOTES_TOKEN: { secret_key_ref: notes-notes-token }\n    trust_state: unverified\n\nStore each secret before the server starts:\n  toolcrib secret set notes-notes-token   # variable NOTES_TOKEN\n\nThe server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.\nserver.json: warning SERVER_IMPORT_SECRET_EXPOSED\nThe file contains the value of variable NOTES_TOKEN, which it calls a secret: it is not copied\nhint: store it, and name it: --secret NOTES_TOKEN=NAME",
  SERVER_IMPORT_SYNTAX:
    "server.json:1:29: error SERVER_IMPORT_SYNTAX\nExpected a field name in double quotes\n1 | { \"name\": \"io.example/notes\",\n                                ^\nhint: write \"name\": value\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  SERVER_IMPORT_UNPINNED:
    "server.json: error SERVER_IMPORT_UNPINNED\nThe package mcp-notes has no exact version (latest): each start could run another program\nhint: ask its publisher for an exact version, or write the entry yourself\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_UNSUPPORTED:
    "server.json: error SERVER_IMPORT_UNSUPPORTED\nThe package has the type \"floppy\" and the identifier \"notes\"; npm, pypi, nuget and oci with a name can be imported\nhint: choose another package or endpoint of the file: --list shows them\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_VALUE_INVALID:
    "server.json: error SERVER_IMPORT_VALUE_INVALID\nThe server has no input \"color\"\nhint: the findings and --list name its inputs\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_VALUE_MISSING:
    "server.json: error SERVER_IMPORT_VALUE_MISSING\nvariable NOTES_FOLDER needs a value\nhint: write --set NOTES_FOLDER=VALUE\n\nerror CLI_IMPORT_FAILED: Cannot import io.example/notes 1.0.0: it needs something that only you can decide\nhint: see the errors above; nothing was written",
  SERVER_IMPORT_WRONG_TYPE:
    "server.json:1:87: error SERVER_IMPORT_WRONG_TYPE\n\"packages\" must be a list, but is a map\n1 | { \"name\": \"io.example/notes\", \"description\": \"Notes\", \"version\": \"1.0.0\", \"packages\": {} }\n                                                                                          ^^\n\nerror CLI_IMPORT_FAILED: Cannot import \"server.json\"",
  STARLARK_BAD_ARGUMENTS:
    "program.star:1:18: error STARLARK_BAD_ARGUMENTS\npositional argument may not follow named\n1 | print(sep = \"-\", \"a\", \"b\")\n                     ^^^\nhint: the order is positional, named, *args, **kwargs\n\nprogram.star:1:23: error STARLARK_BAD_ARGUMENTS\npositional argument may not follow named\n1 | print(sep = \"-\", \"a\", \"b\")\n                          ^^^\nhint: the order is positional, named, *args, **kwargs",
  STARLARK_BAD_LOAD:
    "program.star:1:19: error STARLARK_BAD_LOAD\nload: names with leading underscores are not exported: _secret\n1 | load(\"lib.star\", \"_secret\")\n                      ^^^^^^^",
  STARLARK_BAD_PARAMETERS:
    "program.star:1:23: error STARLARK_BAD_PARAMETERS\nrequired parameter may not follow optional\n1 | def greet(name = \"x\", greeting):\n                          ^^^^^^^^\nhint: the order is required, optional, *args, keyword-only, **kwargs",
  STARLARK_BAD_TARGET:
    "program.star:1:1: error STARLARK_BAD_TARGET\ncan't assign to callexpr\n1 | len(x) = 3\n    ^^^^^^\nhint: assign to a name, an element x[i], a field x.f, or a list of those; == compares",
  STARLARK_MISPLACED:
    "program.star:1:1: error STARLARK_MISPLACED\nreturn statement not within a function\n1 | return 1\n    ^^^^^^\nhint: put the code into a def",
  STARLARK_NOT_IN_DIALECT:
    "program.star:2:5: error STARLARK_NOT_IN_DIALECT\nthis Starlark dialect does not support while loops\n2 |     while True:\n        ^^^^^\nhint: loop over a range: for _ in range(1000): with a break",
  STARLARK_PYTHON_HABIT:
    "program.star:1:5: error STARLARK_PYTHON_HABIT\nundefined: null\n1 | x = null\n        ^^^^\nhint: write None",
  STARLARK_REASSIGNED:
    "program.star:2:1: error STARLARK_REASSIGNED\ncannot reassign global total declared at program.star:1:1\n2 | total = 2\n    ^^^^^\nhint: choose another name, or put the code into a function",
  STARLARK_SYNTAX:
    "program.star:1:7: error STARLARK_SYNTAX\nconditional expression without else clause\n1 | x = 1 if True\n          ^^\nhint: write 1 if True else None",
  STARLARK_UNDEFINED_NAME:
    "program.star:2:7: error STARLARK_UNDEFINED_NAME\nundefined: cuont (did you mean count?)\n2 | print(cuont)\n          ^^^^^\nhint: write count",
  STARLARK_UNFINISHED:
    "program.star:2:1: error STARLARK_UNFINISHED\ngot end of file, want ']'\n2 | \n    ^\nhint: \"[\" of line 1 is not closed, or a comma is missing before this",
  TOOLSPEC_AUTH_FORBIDDEN:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Authorization, format: \"Bearer {token}\" }\n    ^^^^\nhint: remove auth\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_FORMAT:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Authorization, format: ****** }\n    ^^^^\nhint: remove auth\n\nacme/toolspecs/acme/0.1.0.yaml:5:40: error TOOLSPEC_AUTH_FORMAT\n\"auth.format\" must contain {token}\n5 | auth: { header: Authorization, format: ****** }\n                                           ^^^^^^\nhint: write the text around the token: format: \"Bearer {token}\"\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_HEADER:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_AUTH_FORBIDDEN\n\"auth\" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent\n5 | auth: { header: Host, format: \"{token}\" }\n    ^^^^\nhint: remove auth\n\nacme/toolspecs/acme/0.1.0.yaml:5:17: error TOOLSPEC_AUTH_HEADER\nCannot send the credential in the header \"Host\": it is set by the client itself\n5 | auth: { header: Host, format: \"{token}\" }\n                    ^^^^\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_REQUIRED:
    "acme/toolspecs/acme/0.1.0.yaml:4:1: error TOOLSPEC_AUTH_REQUIRED\n\"auth\" is required: the manifest is of the entrusted tier and does not say where its credential goes\n4 | baseUrl: https://api.acme.example\n    ^^^^^^^\nhint: add auth: { header: Authorization, format: \"Bearer {token}\" }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_AUTH_UNUSED:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/toolspecs/acme/0.1.0.yaml:5:1: warning TOOLSPEC_AUTH_UNUSED\n\"auth\" has no effect: the manifest declares no credential\n5 | auth: { header: Authorization, format: \"Bearer {token}\" }\n    ^^^^\nhint: remove auth, or declare the credential in the manifest\n\n0 error(s), 1 warning(s)",
  TOOLSPEC_BARE_WORD:
    "lint-toolspecs OK: 1 toolspec(s)\nacme/toolspecs/acme/0.1.0.yaml:7:18: warning TOOLSPEC_BARE_WORD\nA YAML 1.1 reader takes \"no\" without quotes for false\n7 |     description: no\n                     ^^\nhint: write it in quotes: \"no\"\n\n0 error(s), 1 warning(s)",
  TOOLSPEC_BASE_URL_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:4:10: error TOOLSPEC_BASE_URL_INVALID\nCannot use \"http://api.acme.example\" as base URL: the scheme must be https; https://<host> is allowed and nothing else\n4 | baseUrl: http://api.acme.example\n             ^^^^^^^^^^^^^^^^^^^^^^^\nhint: write https://api.acme.example\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_BODY_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:15: error TOOLSPEC_BODY_INVALID\nencoding: raw sends one body parameter unchanged, but the tool has 0\n9 |     encoding: raw\n                  ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_BODY_NOT_ALLOWED:
    "acme/toolspecs/acme/0.1.0.yaml:12:24: error TOOLSPEC_BODY_NOT_ALLOWED\nParameter \"q\" has in: body, but GET has no body: POST, PUT, PATCH and DELETE have one\n12 |       - { name: q, in: body, type: string }\n                            ^^^^\nhint: write in: query, or another method\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_DUPLICATE_KEY:
    "acme/toolspecs/acme/0.1.0.yaml:3:1: error TOOLSPEC_DUPLICATE_KEY\nDuplicate field \"name\": it is given before in the same map\n3 | name: acme\n    ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_ENCODING_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:15: error TOOLSPEC_ENCODING_INVALID\n\"tools[0].encoding\" must be json, form, multipart or raw, but is \"xml\"\n9 |     encoding: xml\n                  ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_EXAMPLE_FAILS:
    "acme/toolspecs/acme/0.1.0.yaml:11:59: error TOOLSPEC_EXAMPLE_FAILS\nExample 1 of tool \"get_repo\" fails: expected url \"https://api.acme.example/repos/8\", but it is \"https://api.acme.example/repos/7\"\n11 |       - { args: { id: \"7\" }, request: { method: GET, url: https://api.acme.example/repos/8 } }\n                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_FIELD_REQUIRED:
    "acme/toolspecs/acme/0.1.0.yaml:6:5: error TOOLSPEC_FIELD_REQUIRED\nField \"method\" is required in \"tools[0]\"\n6 |   - name: get_repo\n        ^^^^\nhint: add method\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_COLLIDES:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_COLLIDES\nParameter \"authorization\" is the header of the credential (case is ignored)\n12 |       - { name: authorization, in: header, type: string }\n                     ^^^^^^^^^^^^^\nhint: remove the parameter: the credential is inserted without it\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:13:17: error TOOLSPEC_HEADER_DUPLICATE\nHeaders \"X-Id\" and \"x-id\" are the same header: case does not count\n13 |       - { name: x-id, in: header, type: string }\n                     ^^^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_FORBIDDEN:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_FORBIDDEN\nCannot send the header \"Host\": it is set by the client itself\n12 |       - { name: Host, in: header, type: string }\n                     ^^^^\nhint: remove the parameter\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HEADER_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_HEADER_INVALID\nParameter \"my header\" has in: header, but is not a header name\n12 |       - { name: \"my header\", in: header, type: string }\n                     ^^^^^^^^^^^\nhint: header names are letters, digits and hyphens\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_HOST_NOT_ALLOWED:
    "acme/toolspecs/acme/0.1.0.yaml:4:10: error TOOLSPEC_HOST_NOT_ALLOWED\nHost \"api.other.example\" is not in the egress list of the manifest, which allows api.acme.example\n4 | baseUrl: https://api.other.example\n             ^^^^^^^^^^^^^^^^^^^^^^^^^\nhint: add api.other.example to entitlements.egress of the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_JSON_PATH_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:10:40: error TOOLSPEC_PAGINATION_INVALID\nCannot page by \"page\": no query or body parameter has that name\n10 |     pagination: { kind: cursor, param: page, next: \"$.next[\" }\n                                            ^^^^\nhint: name a parameter of the tool\n\nacme/toolspecs/acme/0.1.0.yaml:10:52: error TOOLSPEC_JSON_PATH_INVALID\nCannot use \"$.next[\" as JSONPath: unclosed bracketed selection ('$.next[':7)\n10 |     pagination: { kind: cursor, param: page, next: \"$.next[\" }\n                                                        ^^^^^^^^^\nhint: write a path of RFC 9535 without match() and search()\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_METHOD_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:8:13: error TOOLSPEC_METHOD_INVALID\n\"tools[0].method\" must be GET, POST, PUT, PATCH or DELETE, but is \"FETCH\"\n8 |     method: FETCH\n                ^^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NAME_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_NAME_INVALID\n\"name\" must be lower-case letters, digits and inner hyphens, without underscores, but is \"Acme\"\n2 | name: Acme\n          ^^^^\nhint: write acme\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NAME_MISMATCH:
    "acme/toolspecs/acme/0.1.0.yaml:2:7: error TOOLSPEC_NAME_MISMATCH\n\"name\" is \"other\", but \"acme\" in the manifest acme/manifests/acme/0.1.0.yaml\n2 | name: other\n          ^^^^^\nhint: write name: acme\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_NEEDS_VERSION_2:
    "acme/toolspecs/acme/0.1.0.yaml:10:5: error TOOLSPEC_NEEDS_VERSION_2\nField \"pagination\" belongs to schemaVersion 2, and this toolspec is of schemaVersion 1\n10 |     pagination: { kind: page, param: page }\n         ^^^^^^^^^^\nhint: write schemaVersion: 2, or remove the field\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PAGINATION_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:10:19: error TOOLSPEC_PAGINATION_INVALID\nkind: page needs the JSONPath of the items of a page\n10 |     pagination: { kind: page, param: id }\n                       ^^^^\nhint: add next\n\nacme/toolspecs/acme/0.1.0.yaml:10:38: error TOOLSPEC_PAGINATION_INVALID\nCannot page by \"id\": no query or body parameter has that name\n10 |     pagination: { kind: page, param: id }\n                                          ^^\nhint: name a parameter of the tool\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_PARAM_DUPLICATE\nDuplicate parameter \"id\": line 11 has the same name, and parameters share one namespace\n12 |       - { name: id, in: query, type: string }\n                     ^^\nhint: remove one of the two\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_IN_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:18: error TOOLSPEC_PATH_PARAM_MISSING\nCannot bind \"{id}\" in path \"/repos/{id}\": no parameter with in: path has that name\n9 |     path: /repos/{id}\n                     ^^^^\nhint: write in: path for the parameter id\n\nacme/toolspecs/acme/0.1.0.yaml:11:25: error TOOLSPEC_PARAM_IN_INVALID\n\"tools[0].params[0].in\" must be path, query, body or header, but is \"cookie\"\n11 |       - { name: id, in: cookie, type: string, required: true }\n                             ^^^^^^\nhint: cookies are not sent\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_PARAM_TYPE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:11:37: error TOOLSPEC_PARAM_TYPE_INVALID\n\"tools[0].params[0].type\" must be string, integer, number, boolean, object or array, but is \"text\"\n11 |       - { name: id, in: path, type: text, required: true }\n                                         ^^^^\nhint: write type: string\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:9:11: error TOOLSPEC_PATH_INVALID\nCannot use \"repos/{id}\" as path: it must begin with /\n9 |     path: repos/{id}\n              ^^^^^^^^^^\nhint: write /repos/{id}\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_MISSING:
    "acme/toolspecs/acme/0.1.0.yaml:9:19: error TOOLSPEC_PATH_PARAM_MISSING\nCannot bind \"{owner}\" in path \"/owners/{owner}/repos/{id}\": no parameter with in: path has that name\n9 |     path: /owners/{owner}/repos/{id}\n                      ^^^^^^^\nhint: add {name: owner, in: path, type: string, required: true}, or variables: { owner: { description: … } }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_OPTIONAL:
    "acme/toolspecs/acme/0.1.0.yaml:11:55: error TOOLSPEC_PATH_PARAM_OPTIONAL\nParameter \"id\" is part of the path and must be required\n11 |       - { name: id, in: path, type: string, required: false }\n                                                           ^^^^^\nhint: write required: true\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_PATH_PARAM_UNUSED:
    "acme/toolspecs/acme/0.1.0.yaml:11:17: error TOOLSPEC_PATH_PARAM_UNUSED\nParameter \"id\" has in: path, but path \"/repos\" has no placeholder \"{id}\"\n11 |       - { name: id, in: path, type: string, required: true }\n                     ^^\nhint: write {id} into the path, or another in\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_QUERY_COLLIDES:
    "acme/toolspecs/acme/0.1.0.yaml:12:17: error TOOLSPEC_QUERY_COLLIDES\nParameter \"key\" is the query parameter of the credential\n12 |       - { name: key, in: query, type: string }\n                     ^^^\nhint: remove the parameter: the credential is inserted without it\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_SCHEMA_VERSION:
    "acme/toolspecs/acme/0.1.0.yaml:1:16: error TOOLSPEC_SCHEMA_VERSION\n\"schemaVersion\" must be 1 or 2, but is 9\n1 | schemaVersion: 9\n                   ^\nhint: write schemaVersion: 1\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_STYLE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:52: error TOOLSPEC_STYLE_INVALID\n\"tools[0].params[1].style\" must be repeat, comma, brackets or json, but is \"tabs\"\n12 |       - { name: q, in: query, type: string, style: tabs }\n                                                        ^^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_SYNTAX:
    "acme/toolspecs/acme/0.1.0.yaml:6:3: error TOOLSPEC_SYNTAX\nA list or map of several lines is not allowed between brackets\n6 |   - name: get_repo\n      ^^^^^^^^^^^^^^^^\nhint: separate the values between brackets with commas\n\nacme/toolspecs/acme/0.1.0.yaml:7:18: error TOOLSPEC_SYNTAX\nA second `: ` in one line\n7 |     description: Get one repository\n                     ^\nhint: put a text that contains `: ` in quotes, or begin a new line for a nested map\n\nacme/toolspecs/acme/0.1.0.yaml:8:13: error TOOLSPEC_SYNTAX\nA second `: ` in one line\n8 |     method: GET\n                ^\nhint: put a text that contains `: ` in quotes, or begin a new line for a nested map\n\n3 error(s), 0 warning(s)",
  TOOLSPEC_TOOLS_EMPTY:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools: []\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:5:8: error TOOLSPEC_TOOLS_EMPTY\n\"tools\" must not be empty\n5 | tools: []\n           ^^\nhint: add an item\n\n2 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_DUPLICATE:
    "acme/toolspecs/acme/0.1.0.yaml:12:13: error TOOLSPEC_TOOL_DUPLICATE\nDuplicate tool \"get_repo\": the tool in line 6 has the name too\n12 |   - { name: get_repo, description: Again, method: GET, path: /again }\n                 ^^^^^^^^\nhint: give each tool a name of its own, here and in the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_MISSING:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"add_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_NAME_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_NAME_INVALID\n\"tools[0].name\" must be a name of one line, but is \"get\\nrepo\"\n6 |   - name: \"get\\nrepo\"\n              ^^^^^^^^^^^\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_UNDECLARED\nTool \"get\\nrepo\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n6 |   - name: \"get\\nrepo\"\n              ^^^^^^^^^^^\nhint: add {name: get\nrepo, default: false} to the tools of the manifest\n\n3 error(s), 0 warning(s)",
  TOOLSPEC_TOOL_NAME_UNFIT:
    "acme/toolspecs/acme/0.1.0.yaml:5:1: error TOOLSPEC_TOOL_MISSING\nTool \"get_repo\" of the manifest acme/manifests/acme/0.1.0.yaml is missing\n5 | tools:\n    ^^^^^\nhint: add the tool, or remove it from the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: warning TOOLSPEC_TOOL_NAME_UNFIT\nTool name \"get repo\" has characters that MCP clients may refuse: letters, digits, _ - and . are safe\n6 |   - name: get repo\n              ^^^^^^^^\nhint: write get_repo, here and in the manifest\n\nacme/toolspecs/acme/0.1.0.yaml:6:11: error TOOLSPEC_TOOL_UNDECLARED\nTool \"get repo\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n6 |   - name: get repo\n              ^^^^^^^^\nhint: add {name: get repo, default: false} to the tools of the manifest\n\n2 error(s), 1 warning(s)",
  TOOLSPEC_TOOL_UNDECLARED:
    "acme/toolspecs/acme/0.1.0.yaml:12:13: error TOOLSPEC_TOOL_UNDECLARED\nTool \"ping\" is not declared in the manifest acme/manifests/acme/0.1.0.yaml\n12 |   - { name: ping, description: Ping, method: GET, path: /ping }\n                 ^^^^\nhint: add {name: ping, default: false} to the tools of the manifest\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_UNKNOWN_FIELD:
    "acme/toolspecs/acme/0.1.0.yaml:8:5: error TOOLSPEC_UNKNOWN_FIELD\nUnknown field \"verb\" in \"tools[0]\"\n8 |     verb: GET\n        ^^^^\nhint: allowed: name, description, method, path, baseUrl, encoding, params, response, pagination, annotations, examples\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VALUE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:12:56: error TOOLSPEC_VALUE_INVALID\nParameter \"count\" has an empty list of values\n12 |       - { name: count, in: query, type: integer, enum: [] }\n                                                            ^^\nhint: enum lists texts, numbers or booleans, at least one\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VARIABLE_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:4:18: error TOOLSPEC_VARIABLE_INVALID\nCannot resolve \"{tenant}\" in \"https://{tenant}.acme.example\": no variable has that name\n4 | baseUrl: https://{tenant}.acme.example\n                     ^^^^^^^^\nhint: add variables: { tenant: { description: … } }\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VERSION_INVALID:
    "acme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_INVALID\n\"version\" must be MAJOR.MINOR.PATCH without leading zeros, but is \"1\"\n3 | version: \"1\"\n             ^^^\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_VERSION_MISMATCH:
    "acme/toolspecs/acme/0.1.0.yaml:3:10: error TOOLSPEC_VERSION_MISMATCH\n\"version\" is \"0.2.0\", but \"0.1.0\" in the manifest acme/manifests/acme/0.1.0.yaml\n3 | version: 0.2.0\n             ^^^^^\nhint: write version: 0.1.0\n\n1 error(s), 0 warning(s)",
  TOOLSPEC_WRONG_TYPE:
    "acme/toolspecs/acme/0.1.0.yaml:7:18: error TOOLSPEC_WRONG_TYPE\n\"tools[0].description\" must be a string, but is a list\n7 |     description: [x]\n                     ^^^\n\n1 error(s), 0 warning(s)",
};
