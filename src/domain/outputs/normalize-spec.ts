import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import { ARTIFACT_LIMITS, readColumnName, type ArtifactKind } from "./artifact.ts";
import { ArtifactProblem } from "./artifact-problem.ts";
import { refuseAddresses, refuseUnsafeTexts } from "./unsafe-text.ts";

/** Checks the spec of an artifact. Only the spec of a diagram changes: its code becomes `{ code }`. */
export function normalizeSpec(kind: ArtifactKind, spec: JsonValue): JsonValue {
  refuseUnsafeTexts("spec", spec);
  switch (kind) {
    case "vega-lite":
      return checkChart(readObject("spec", spec));
    case "mermaid":
      return readDiagram(spec);
    case "table":
      return checkTable(readObject("spec", spec));
    case "file":
      return checkFile(readObject("spec", spec));
    case "artifact_manifest":
      return checkManifest(readObject("spec", spec));
    default:
      return kind satisfies never;
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function readObject(name: string, value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  throw ArtifactProblem.expected(name, value, "an object");
}

function readList(name: string, value: JsonValue | undefined, limit: number): readonly JsonValue[] {
  if (!Array.isArray(value)) throw ArtifactProblem.expected(name, value, "an array");
  if (value.length <= limit) return value;
  throw new ArtifactProblem(`${name} has ${value.length} items: expected at most ${limit}`);
}

const CHART_SCHEMA = "https://vega.github.io/schema/vega-lite/";
const CHART_PARTS = ["layer", "hconcat", "vconcat", "concat"] as const;

function checkChart(spec: JsonObject): JsonObject {
  const { $schema: schema } = spec;
  if (schema !== undefined && !(typeof schema === "string" && schema.startsWith(CHART_SCHEMA)))
    throw ArtifactProblem.expected("spec.$schema", schema, `an address below ${CHART_SCHEMA}`);
  refuseAddresses("spec", spec);
  const isSingle = spec["mark"] !== undefined && spec["encoding"] !== undefined;
  const isComposed = CHART_PARTS.some((part) => {
    const items = spec[part];
    return Array.isArray(items) && items.length > 0;
  });
  const isRepeated = spec["facet"] !== undefined || spec["repeat"] !== undefined;
  if (isSingle || isComposed || isRepeated) return spec;
  throw new ArtifactProblem("spec is not a chart: expected mark and encoding, or a composition");
}

const DIAGRAMS: ReadonlySet<string> = new Set([
  "flowchart",
  "graph",
  "sequencediagram",
  "classdiagram",
  "statediagram",
  "statediagram-v2",
  "erdiagram",
  "journey",
  "gantt",
  "pie",
  "mindmap",
  "timeline",
  "quadrantchart",
  "gitgraph",
  "requirementdiagram",
  "c4context",
  "c4container",
  "c4component",
  "c4dynamic",
  "block-beta",
  "packet-beta",
  "xychart-beta",
  "sankey-beta",
]);

function readDiagram(spec: JsonValue): JsonObject {
  const given = isJsonObject(spec) ? spec["code"] : spec;
  if (typeof given !== "string" || given.trim() === "")
    throw ArtifactProblem.expected("spec.code", given, "the code of a diagram");
  if (isJsonObject(spec)) refuseOtherKeys("spec", spec, ["code"]);
  const code = given.trim();
  // An address in a diagram is a link or an image.
  if (code.includes("://"))
    throw new ArtifactProblem("spec.code has an external reference, which is not allowed");
  const lines = code.split("\n").map((line) => line.trim());
  const first = lines.find((line) => line !== "" && !line.startsWith("%%")) ?? "";
  const [directive = ""] = first.split(/\s/);
  if (DIAGRAMS.has(directive.toLowerCase())) return { code };
  throw ArtifactProblem.expected("the first line of spec.code", directive, "a kind of diagram");
}

function checkTable(spec: JsonObject): JsonObject {
  const columns = readList("spec.columns", spec["columns"], ARTIFACT_LIMITS.columns);
  if (columns.length === 0) throw new ArtifactProblem("spec.columns is empty");
  for (const [at, column] of columns.entries())
    if (readColumnName(column) === undefined)
      throw ArtifactProblem.expected(`spec.columns[${at}]`, column, "a name");
  const rows = readList("spec.rows", spec["rows"], ARTIFACT_LIMITS.rows);
  for (const [at, row] of rows.entries()) {
    const name = `spec.rows[${at}]`;
    if (Array.isArray(row) && row.length > columns.length)
      throw new ArtifactProblem(
        `${name} has ${row.length} cells: expected at most ${columns.length}`,
      );
    if (!isObject(row) && !Array.isArray(row))
      throw ArtifactProblem.expected(name, row, "an array or an object");
  }
  return spec;
}

const FILE_KEYS = ["uri", "name", "mime_type", "size_bytes", "sha256", "description"] as const;

function checkFile(spec: JsonObject): JsonObject {
  refuseOtherKeys("spec", spec, FILE_KEYS);
  checkFileFields("spec", spec);
  return spec;
}

function checkManifest(spec: JsonObject): JsonObject {
  refuseOtherKeys("spec", spec, ["artifacts", "summary"]);
  checkField("spec.summary", spec["summary"], TEXT_FIELD);
  const items = readList("spec.artifacts", spec["artifacts"], ARTIFACT_LIMITS.manifestItems);
  for (const [at, item] of items.entries()) {
    const name = `spec.artifacts[${at}]`;
    const entry = readObject(name, item);
    refuseOtherKeys(name, entry, [...FILE_KEYS, "kind", "title"]);
    checkFileFields(name, entry);
  }
  return spec;
}

interface FieldRule {
  readonly isValid: (value: JsonValue) => boolean;
  readonly expected: string;
}

const TEXT_FIELD: FieldRule = {
  isValid: (value) => typeof value === "string",
  expected: "a string",
};

/** Hosts save a file under its name, so a name is neither a path nor does it hide characters. */
const NAME_FIELD: FieldRule = {
  isValid: (value) =>
    typeof value === "string" && /^(?!\.{1,2}$)[^\p{C}\p{Zl}\p{Zp}/\\]{1,255}$/u.test(value),
  expected: "the name of a file, without a folder",
};

const FILE_FIELDS: { readonly [name: string]: FieldRule } = {
  name: NAME_FIELD,
  mime_type: {
    isValid: (value) => typeof value === "string" && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(value),
    expected: "a MIME type",
  },
  size_bytes: {
    isValid: (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
    expected: "a number of bytes",
  },
  sha256: {
    isValid: (value) => typeof value === "string" && /^[0-9a-f]{64}$/i.test(value),
    expected: "64 hexadecimal digits",
  },
  description: TEXT_FIELD,
  kind: TEXT_FIELD,
  title: TEXT_FIELD,
};

function checkFileFields(name: string, entry: JsonObject): void {
  checkReference(`${name}.uri`, entry["uri"]);
  for (const [field, rule] of Object.entries(FILE_FIELDS))
    checkField(`${name}.${field}`, entry[field], rule);
}

/** An optional field may be absent or null. */
function checkField(
  name: string,
  value: JsonValue | undefined,
  { isValid, expected }: FieldRule,
): void {
  if (value === undefined || value === null || isValid(value)) return;
  throw ArtifactProblem.expected(name, value, expected);
}

/** Content within a file spec would be bytes without a limit of their own. */
function refuseOtherKeys(name: string, value: JsonObject, known: readonly string[]): void {
  const other = Object.keys(value).find((key) => !known.includes(key));
  if (other !== undefined)
    throw new ArtifactProblem(`${name} has the unknown field ${formatValue(other)}`);
}

function checkReference(name: string, value: JsonValue | undefined): void {
  const isReference =
    typeof value === "string" &&
    /^(?:file|artifact|urn):\S/i.test(value) &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value);
  if (!isReference)
    throw ArtifactProblem.expected(name, value, "a reference with file:, artifact: or urn:");
  if (/^file:/i.test(value) && !LOCAL_FILE.test(value))
    throw ArtifactProblem.expected(name, value, "a file of this machine, such as file:///path");
}

/** Two slashes precede the name of a host, also as backslashes: opening the file would connect to the host. */
const LOCAL_FILE = /^file:(?:(?:\/\/(?:localhost)?)?\/(?![\\/])|(?![\\/]))/i;
