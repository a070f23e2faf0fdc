import { exceedsDepth, isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { cleanLine } from "../../text/clean-text.ts";
import { formatValue } from "../../text/format-value.ts";
import { formatNames } from "../../text/unknown-name.ts";
import {
  ARTIFACT_KINDS,
  ARTIFACT_LIMITS,
  measureJson,
  type ArtifactKind,
  type ArtifactRequest,
} from "./artifact.ts";
import { formatFallback } from "./format-fallback.ts";
import { ArtifactProblem } from "./artifact-problem.ts";
import { normalizeSpec } from "./normalize-spec.ts";
import { refuseUnsafeText } from "./unsafe-text.ts";

type ReadArtifact =
  | { readonly ok: true; readonly artifact: ArtifactRequest }
  | { readonly ok: false; readonly problem: string };

const REQUEST_KEYS = [
  "kind",
  "spec",
  "title",
  "fallback",
  "metadata",
  "provenance",
  "max_bytes",
] as const;

/** Reads a request for an artifact. The problem names the field. A `fallback` is created if the request has none. */
export function readArtifactRequest(value: unknown): ReadArtifact {
  try {
    return { ok: true, artifact: parseRequest(value) };
  } catch (error) {
    if (error instanceof ArtifactProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** Validates an artifact which a tool emits. Its limit is the hard limit, and its size is measured again. */
export function readEmittedArtifact(value: unknown): ReadArtifact {
  if (!isObject(value)) return readArtifactRequest(value);
  const { sizeBytes: _, ...request } = value;
  return readArtifactRequest({ ...request, max_bytes: ARTIFACT_LIMITS.hardSpec });
}

function parseRequest(value: unknown): ArtifactRequest {
  if (!isJsonObject(value)) throw ArtifactProblem.expected("an artifact", value, "an object");
  const unknownKey = Object.keys(value).find((key) => !isRequestKey(key));
  if (unknownKey !== undefined)
    throw new ArtifactProblem(
      `${formatValue(unknownKey)} is not an option of an artifact: expected ${formatNames(REQUEST_KEYS)}`,
    );
  const kind = readKind(value["kind"]);
  const { spec: givenSpec } = value;
  if (givenSpec === undefined) throw new ArtifactProblem("spec is missing");
  if (exceedsDepth(givenSpec, ARTIFACT_LIMITS.depth))
    throw new ArtifactProblem(`spec is nested deeper than ${ARTIFACT_LIMITS.depth} levels`);
  const sizeLimit = readSizeLimit(value["max_bytes"]);
  // Measured first: the checks of a huge spec would take long.
  refuseSize("spec", givenSpec, sizeLimit);
  const spec = normalizeSpec(kind, givenSpec);
  const sizeBytes = refuseSize("spec", spec, sizeLimit);
  return {
    kind,
    title: readTitle(value["title"]),
    spec,
    fallback: readFallback(value["fallback"]) ?? formatFallback(kind, spec),
    sizeBytes,
    provenance: readDetails("provenance", value["provenance"]),
    metadata: readDetails("metadata", value["metadata"]),
  };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function isRequestKey(key: string): boolean {
  return REQUEST_KEYS.some((known) => known === key);
}

function readKind(value: unknown): ArtifactKind {
  const kind = ARTIFACT_KINDS.find((known) => known === value);
  if (kind !== undefined) return kind;
  throw ArtifactProblem.expected("kind", value, formatNames(ARTIFACT_KINDS));
}

function readSizeLimit(value: JsonValue | undefined): number {
  const { spec, hardSpec } = ARTIFACT_LIMITS;
  if (value === undefined || value === null) return spec;
  const isLimit = typeof value === "number" && Number.isInteger(value) && value >= 1;
  if (isLimit && value <= hardSpec) return value;
  throw ArtifactProblem.expected("max_bytes", value, `1 to ${hardSpec}`);
}

/** Returns the size as JSON in UTF-8 bytes. */
function refuseSize(name: string, value: JsonValue, limit: number): number {
  const bytes = measureJson(value);
  if (bytes <= limit) return bytes;
  throw new ArtifactProblem(`${name} has ${bytes} bytes: expected at most ${limit}`);
}

function readTitle(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string" || value.length > ARTIFACT_LIMITS.title)
    throw ArtifactProblem.expected(
      "title",
      value,
      `a string of at most ${ARTIFACT_LIMITS.title} characters`,
    );
  refuseUnsafeText("title", value);
  const title = cleanLine(value, ARTIFACT_LIMITS.title);
  return title === "" ? null : title;
}

function readFallback(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw ArtifactProblem.expected("fallback", value, "a string");
  refuseUnsafeText("fallback", value);
  return value;
}

function readDetails(name: string, value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw ArtifactProblem.expected(name, value, "an object");
  if (exceedsDepth(value, ARTIFACT_LIMITS.depth))
    throw new ArtifactProblem(`${name} is nested deeper than ${ARTIFACT_LIMITS.depth} levels`);
  refuseSize(name, value, ARTIFACT_LIMITS.text);
  return value;
}
