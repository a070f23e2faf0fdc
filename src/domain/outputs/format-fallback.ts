import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { pluralize } from "../../text/pluralize.ts";
import { ARTIFACT_LIMITS, readTable, type ArtifactKind } from "./artifact.ts";

const MAX_ROWS = 10;

/** Describes an artifact as text, for clients which do not show its kind. */
export function formatFallback(kind: ArtifactKind, spec: JsonValue): string {
  const fields: JsonObject = isObject(spec) ? spec : {};
  const text = formatKind(kind, fields);
  // Characters have up to 3 bytes each in UTF-8.
  return text.slice(0, ARTIFACT_LIMITS.text / 3).toWellFormed();
}

function formatKind(kind: ArtifactKind, spec: JsonObject): string {
  switch (kind) {
    case "vega-lite":
      return formatChart(spec);
    case "mermaid":
      return typeof spec["code"] === "string" ? spec["code"] : "";
    case "table":
      return formatTable(spec);
    case "file":
      return `File: ${formatReference(spec)}`;
    case "artifact_manifest":
      return formatManifest(spec);
    default:
      return kind satisfies never;
  }
}

function formatChart({ title, mark }: JsonObject): string {
  const type = isObject(mark) ? mark["type"] : mark;
  const chart = `${typeof type === "string" ? type : "composite"} chart`;
  return typeof title === "string" && title.trim() !== "" ? `${title.trim()} (${chart})` : chart;
}

function formatTable(spec: JsonObject): string {
  const { columns, rows } = readTable(spec) ?? { columns: [], rows: [] };
  const omitted = rows.length - MAX_ROWS;
  return [
    columns.join(" | "),
    ...rows.slice(0, MAX_ROWS).map((row) => row.join(" | ")),
    ...(omitted > 0 ? [`… ${pluralize(omitted, "more row")}`] : []),
  ].join("\n");
}

function formatManifest({ summary, artifacts }: JsonObject): string {
  const items: readonly JsonValue[] = Array.isArray(artifacts) ? artifacts : [];
  const lines = items.map((item) => `- ${isObject(item) ? formatReference(item) : ""}`);
  return [typeof summary === "string" ? summary : "Artifacts", ...lines].join("\n");
}

function formatReference({ name, title, uri }: JsonObject): string {
  const label = [title, name].find((value) => typeof value === "string" && value !== "");
  const address = typeof uri === "string" ? uri : "";
  return typeof label === "string" ? `${label} (${address})` : address;
}
