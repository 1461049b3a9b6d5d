/**
 * The resources of a JSON Schema: which schema a reference names. Reads `$id`, `$anchor` and
 * `$dynamicAnchor` where a dialect has schemas, and follows JSON Pointers anywhere. Documents that
 * are not part of the schema are found in a map only: nothing is ever fetched.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";

/** A schema with a URI of its own (JSON Schema Core, section 4.3.5), and what it names. */
export interface SchemaResource {
  readonly uri: string;
  readonly root: JsonValue;
  readonly isDraft7: boolean;
  readonly anchors: Map<string, JsonValue>;
  readonly dynamicAnchors: Map<string, JsonValue>;
}

/** A schema that a reference names, and the resource that it is part of. */
export interface ResolvedSchema {
  readonly schema: JsonValue;
  readonly resource: SchemaResource;
}

/** Returns the document with a URI, without a fragment. */
export type FindDocument = (uri: string) => JsonValue | undefined;

const ofSchema = [
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const ofSchemas = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const ofSchemasByName = [
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
];

/** The schemas directly in `schema`. */
function partsOf(schema: JsonObject): readonly JsonObject[] {
  const parts: unknown[] = ofSchema.map((key) => schema[key]);
  for (const key of ofSchemas) {
    const list = schema[key];
    if (Array.isArray(list)) parts.push(...list);
  }
  for (const key of ofSchemasByName) {
    const byName = schema[key];
    if (isJsonObject(byName)) parts.push(...Object.values(byName));
  }
  return parts.filter(isJsonObject);
}

/** Whether `$schema` names draft-06 or draft-07; undefined where it names nothing. */
export function dialectOf(schema: JsonValue): "draft7" | "2020-12" | undefined {
  if (!isJsonObject(schema) || typeof schema["$schema"] !== "string") return undefined;
  return /draft-0[67]/.test(schema["$schema"]) ? "draft7" : "2020-12";
}

/** Stands for the URI of a schema without `$id`. */
const defaultUri = "schema://root/";
/** Documents that one schema can refer to. */
const documentsMaxCount = 100;

/** The resources of a schema and of the documents that it refers to. */
export class SchemaResources {
  readonly #byUri = new Map<string, SchemaResource>();
  readonly #resourceOf = new Map<JsonObject, SchemaResource>();
  readonly #find: FindDocument;
  readonly #visit: (schema: JsonObject, resource: SchemaResource) => void;
  readonly root: ResolvedSchema;
  #documents = 0;

  /** @param visit is called once for each schema that is found, before it is used. */
  constructor(
    schema: JsonObject,
    isDraft7: boolean,
    find: FindDocument,
    visit: (schema: JsonObject, resource: SchemaResource) => void,
  ) {
    this.#find = find;
    this.#visit = visit;
    this.root = { schema, resource: this.#add(defaultUri, schema, isDraft7) };
    this.root = { schema, resource: this.resourceOf(schema, this.root.resource) };
  }

  /** The resource of a schema; `outer` is that of the schema around it, for one that is not known yet. */
  resourceOf(schema: JsonObject, outer: SchemaResource): SchemaResource {
    const known = this.#resourceOf.get(schema);
    if (known !== undefined) return known;
    this.#index(schema, outer);
    return this.#resourceOf.get(schema) ?? outer;
  }

  /** Resolves a reference of a schema in `resource`. @throws {Error} when it names nothing. */
  resolve(reference: string, resource: SchemaResource): ResolvedSchema {
    const [uri, fragment] = this.#split(reference, resource.uri);
    const target = this.#byUri.get(uri) ?? this.#load(uri, resource.isDraft7);
    if (target === undefined) throw new Error(`can't resolve reference ${reference}`);
    if (fragment === "") return { schema: target.root, resource: target };
    if (fragment.startsWith("/")) return this.#follow(fragment, target, reference);
    const schema = target.anchors.get(fragment) ?? target.dynamicAnchors.get(fragment);
    if (schema === undefined) throw new Error(`can't resolve reference ${reference}`);
    return { schema, resource: target };
  }

  #split(reference: string, base: string): readonly [uri: string, fragment: string] {
    if (!URL.canParse(reference, base)) throw new Error(`can't resolve reference ${reference}`);
    const url = new URL(reference, base);
    const fragment = decode(url.hash.slice(1));
    url.hash = "";
    return [url.href.replace(/#$/, ""), fragment];
  }

  #load(uri: string, isDraft7: boolean): SchemaResource | undefined {
    const document = this.#find(uri);
    if (document === undefined) return undefined;
    this.#documents += 1;
    if (this.#documents > documentsMaxCount)
      throw new Error(`it refers to more than ${documentsMaxCount} documents`);
    return this.#add(uri, document, isDraft7);
  }

  #add(uri: string, root: JsonValue, outerIsDraft7: boolean): SchemaResource {
    const dialect = dialectOf(root);
    const resource: SchemaResource = {
      uri,
      root,
      isDraft7: dialect === undefined ? outerIsDraft7 : dialect === "draft7",
      anchors: new Map(),
      dynamicAnchors: new Map(),
    };
    this.#byUri.set(uri, resource);
    if (isJsonObject(root)) this.#index(root, resource);
    return resource;
  }

  /** Finds what `schema` and all schemas in it name. */
  #index(schema: JsonObject, outer: SchemaResource): void {
    const open: { readonly schema: JsonObject; readonly outer: SchemaResource }[] = [{ schema, outer }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (this.#resourceOf.has(next.schema)) continue;
      const resource = this.#identify(next.schema, next.outer);
      this.#resourceOf.set(next.schema, resource);
      this.#visit(next.schema, resource);
      for (const part of partsOf(next.schema)) open.push({ schema: part, outer: resource });
    }
  }

  /** Reads the names of one schema and returns its resource. */
  #identify(schema: JsonObject, outer: SchemaResource): SchemaResource {
    const { $id: id, $ref: ref, $anchor: anchor, $dynamicAnchor: dynamicAnchor } = schema;
    let resource = outer;
    // In draft-07 a reference hides everything next to it.
    if (typeof id === "string" && !(outer.isDraft7 && typeof ref === "string")) {
      const [uri, fragment] = this.#split(id, outer.uri);
      if (!id.startsWith("#")) {
        const dialect = dialectOf(schema);
        resource =
          this.#byUri.get(uri)?.root === schema
            ? (this.#byUri.get(uri) as SchemaResource)
            : {
                uri,
                root: schema,
                isDraft7: dialect === undefined ? outer.isDraft7 : dialect === "draft7",
                anchors: new Map(),
                dynamicAnchors: new Map(),
              };
        this.#byUri.set(uri, resource);
      }
      if (resource.isDraft7 && fragment !== "") resource.anchors.set(fragment, schema);
    }
    if (resource.isDraft7) return resource;
    if (typeof anchor === "string") resource.anchors.set(anchor, schema);
    if (typeof dynamicAnchor === "string") resource.dynamicAnchors.set(dynamicAnchor, schema);
    return resource;
  }

  /** Follows a JSON Pointer (RFC 6901). */
  #follow(pointer: string, start: SchemaResource, reference: string): ResolvedSchema {
    let schema: JsonValue | undefined = start.root;
    let resource = start;
    for (const part of pointer.split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (Array.isArray(schema)) schema = /^(?:0|[1-9][0-9]*)$/.test(key) ? schema[Number(key)] : undefined;
      else schema = isJsonObject(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined;
      // A schema on the way can be a resource of its own.
      if (isJsonObject(schema)) resource = this.#resourceOf.get(schema) ?? resource;
    }
    if (schema === undefined) throw new Error(`can't resolve reference ${reference}`);
    return { schema, resource: isJsonObject(schema) ? this.resourceOf(schema, resource) : resource };
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
