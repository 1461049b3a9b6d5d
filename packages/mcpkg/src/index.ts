// For other packages here.
export { archiveNameOf, digestArchive } from "./archive-names.ts";
export { judgeResult } from "./evaluate/judge-result.ts";
export { mapInputs, withDefaults } from "./evaluate/map-inputs.ts";
export { exportTools } from "./export/export-tools.ts";
export type { ExportFormat } from "./export/runtime-rules.ts";
export { evaluatePath } from "./json-path/evaluate-path.ts";
export { firstNameOf } from "./json-path/parse-path.ts";
export { PathUse } from "./json-path/path-budget.ts";
export type { Endpoint, Manifest } from "./manifest/manifest-shape.ts";
export { isToolId, toolIdOfName } from "./manifest/names.ts";
export { type PackageReach, packageReach } from "./manifest/package-reach.ts";
export { type Command, parseCommand } from "./manifest/parse-command.ts";
export { programsOf, reachOf, readProgram, type StarlarkEndpoint } from "./manifest/starlark-programs.ts";
export type { PackageTest } from "./manifest/test-shape.ts";
export { McpkgError } from "./mcpkg-error.ts";
export { type OpenedPackage, openPackage } from "./open-package.ts";
export type { PackageFile, PackageFiles } from "./package-files.ts";
export { packageMaxBytes } from "./package-limits.ts";
export { type ParsedPackage, parsePackage, type ToolPackage } from "./parse-package.ts";
export { readPackageFolder } from "./read-folder.ts";
export { isDigest, isSha256 } from "./sha256.ts";
export {
  checkSignature,
  openInToto,
  type SignatureState,
  signaturePath,
  signInToto,
  signPackage,
} from "./signature/package-signature.ts";
export { keyIdOf, newPublisherKey, readPrivateKey, readPublicKey } from "./signature/publisher-key.ts";
export { readStatement, signStatement } from "./signature/signed-statement.ts";
export { type ProgramPackage, writeProgramPackage } from "./write-program-package.ts";
export { readArchive } from "./zip/read-archive.ts";
export { writeArchive } from "./zip/write-archive.ts";
