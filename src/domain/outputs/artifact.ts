import {
  isObject,
  parseJson,
  toJsonText,
  type JsonObject,
  type JsonValue,
} from "../../data/json.ts";

/** The runtime tool with which an agent shows a table, a chart, a diagram or a reference. */
export const EMIT_ARTIFACT_TOOL = "emit_artifact";

/** The kinds of artifacts, with the MIME type of their spec. */
export const ARTIFACT_TYPES = {
  "vega-lite": "application/vnd.vegalite.v5+json",
  mermaid: "text/vnd.mermaid",
  table: "application/vnd.harn.table+json",
  file: "application/vnd.harn.file+json",
  artifact_manifest: "application/vnd.harn.artifact-manifest+json",
} as const;

export type ArtifactKind = keyof typeof ARTIFACT_TYPES;

export const ARTIFACT_KINDS = [
  "vega-lite",
  "mermaid",
  "table",
  "file",
  "artifact_manifest",
] as const satisfies readonly ArtifactKind[];

/** An artifact before it has an id. */
export interface ArtifactRequest {
  readonly kind: ArtifactKind;
  readonly title: string | null;
  readonly spec: JsonValue;
  /** Text for clients which do not show the kind. */
  readonly fallback: string;
  /** The spec as JSON, in UTF-8 bytes. */
  readonly sizeBytes: number;
  readonly provenance: JsonObject;
  readonly metadata: JsonObject;
}

export interface Artifact extends ArtifactRequest {
  readonly artifactId: string;
  readonly mimeType: string;
}

/** An artifact whose whole record is the blob with its id. */
export interface StoredArtifact extends Artifact {
  /** SHA-256 of the blob. */
  readonly sha256: string;
}

/** Limits, in UTF-8 bytes unless named otherwise. */
export const ARTIFACT_LIMITS = {
  /** Of a spec, if the request names no limit. */
  spec: 256 * 1024,
  /** The largest limit a request may name. */
  hardSpec: 1024 * 1024,
  /** Of each string, of the fallback, and of the metadata and the provenance as JSON. */
  text: 64 * 1024,
  title: 500,
  columns: 50,
  rows: 500,
  manifestItems: 500,
  /** Levels of nesting. */
  depth: 64,
} as const;

/** Limits of the artifacts of one session. The bytes are those of `measureArtifact`, and of handoffs as JSON. */
export const SESSION_ARTIFACT_LIMITS = { count: 20_000, bytes: 256 * 1024 * 1024 } as const;

/** The bytes of an artifact with its texts: a small spec may have a long fallback and large metadata. */
export function measureArtifact({
  sizeBytes,
  fallback,
  metadata,
  provenance,
}: Pick<ArtifactRequest, "sizeBytes" | "fallback" | "metadata" | "provenance">): number {
  return sizeBytes + measureJson([fallback, metadata, provenance]);
}

/** UTF-8 bytes of a value as JSON. */
export function measureJson(value: unknown): number {
  return new TextEncoder().encode(toJsonText(value)).length;
}

/** Specs above this size are not part of the event, which then refers to the stored artifact. UTF-8 bytes. */
export const MAX_INLINE_SPEC = 16 * 1024;

/** The value of `spec` in place of a spec which is only in the stored artifact. */
export function createSpecReference(artifactId: string): JsonObject {
  return { $ref: `artifact:${artifactId}` };
}

export function isSpecReference(spec: JsonValue): boolean {
  if (!isObject(spec)) return false;
  const ref = spec["$ref"];
  return Object.keys(spec).length === 1 && typeof ref === "string" && ref.startsWith("artifact:");
}

/** Encodes an artifact for the blob store. */
export function encodeArtifact(artifact: Artifact): Uint8Array {
  return new TextEncoder().encode(toJsonText({ _type: "artifact", ...artifact }));
}

/** A stored artifact as a file to download. */
export interface ArtifactFile {
  readonly name: string;
  /** A type which no browser runs as a document with scripts. */
  readonly contentType: "application/json" | "text/plain";
  readonly text: string;
}

/**
 * Reads a stored artifact as a file: the code of a diagram as text, any other spec as JSON. Undefined if the bytes are
 * not the artifact with this id.
 */
export function readArtifactFile(bytes: Uint8Array, artifactId: string): ArtifactFile | undefined {
  const parsed = parseJson(new TextDecoder().decode(bytes));
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { _type: type, artifactId: id, kind, spec } = parsed.value;
  if (type !== "artifact" || id !== artifactId || spec === undefined) return undefined;
  const code = kind === "mermaid" && isObject(spec) ? spec["code"] : undefined;
  if (typeof code === "string")
    return { name: `${artifactId}.mmd`, contentType: "text/plain", text: code };
  return createJsonFile(artifactId, spec);
}

export function createJsonFile(artifactId: string, value: unknown): ArtifactFile {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  return { name: `${artifactId}.json`, contentType: "application/json", text };
}

/** The name of a column: the string itself, or the first of `name`, `key`, `id` and `title`. */
export function readColumnName(column: JsonValue): string | undefined {
  if (typeof column === "string") return column.trim() === "" ? undefined : column.trim();
  if (!isObject(column)) return undefined;
  const names = [column["name"], column["key"], column["id"], column["title"]];
  const name = names.find((value) => typeof value === "string" && value.trim() !== "");
  return typeof name === "string" ? name.trim() : undefined;
}

/** A table artifact as texts. Undefined if the spec is not a table, such as a reference. */
export function readTable(spec: JsonValue): TableTexts | undefined {
  if (!isObject(spec)) return undefined;
  const { columns, rows } = spec;
  if (!isList(columns) || !isList(rows)) return undefined;
  const names = columns.map((column) => readColumnName(column) ?? "");
  return {
    columns: names,
    rows: rows.map((row) => names.map((name, at) => readCell(row, name, at))),
  };
}

export interface TableTexts {
  readonly columns: readonly string[];
  /** Each row has as many cells as there are columns. */
  readonly rows: readonly (readonly string[])[];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function readCell(row: JsonValue, name: string, at: number): string {
  const cells: JsonObject = isObject(row) ? row : {};
  const cell = isList(row) ? row[at] : Object.hasOwn(cells, name) ? cells[name] : undefined;
  if (cell === undefined || cell === null) return "";
  return typeof cell === "string" ? cell : toJsonText(cell);
}
