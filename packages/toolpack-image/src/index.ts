// For other packages here.
export { writeBill } from "./bill-of-materials.ts";
export { buildBundle } from "./build-bundle.ts";
export { type BuiltImage, buildImage, type ImageRuntime } from "./build-image.ts";
export { type BuiltPackage, buildPackages } from "./build-packages.ts";
export { buildGatewayImage, type PackageFile } from "./gateway-image.ts";
export { archiveLayout, digestOf, type FileParts } from "./oci-layout.ts";
export { type ProvenanceSubject, toProvenance } from "./provenance.ts";
export { isArchive, readPart } from "./read-part.ts";
export { type ImagePlatform, type PartFile, type RuntimePart, runtimeParts } from "./runtime-parts.ts";
export { type EnginePackage, nameOf, type Toolpack, type ToolpackEngine, versionOf } from "./toolpack.ts";
export { ToolpackImageError } from "./toolpack-image-error.ts";
export { compareBuild } from "./verify-build.ts";
