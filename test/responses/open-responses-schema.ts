import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../src/data/json.ts";

const file = new URL("./open-responses.schema.json", import.meta.url);
const published = JSON.parse(readFileSync(file, "utf8"));
const { $defs: schemas } = published;

/** Additions of the profile of 2026-04-24; the published schema file describes the profile before it. */
schemas.Message.properties.phase = { enum: ["commentary", "final_answer", null] };
schemas.Compaction = {
  type: "object",
  properties: {
    type: { const: "compaction" },
    id: { type: "string" },
    encrypted_content: { type: "string", minLength: 1 },
    created_by: { type: "string" },
  },
  required: ["type", "id", "encrypted_content"],
};
schemas.CompactResource = {
  type: "object",
  properties: {
    id: { type: "string" },
    object: { const: "response.compaction" },
    created_at: { type: "integer" },
    output: {
      type: "array",
      items: { anyOf: [{ $ref: "#/$defs/ItemField" }, { $ref: "#/$defs/Compaction" }] },
    },
    usage: { $ref: "#/$defs/Usage" },
  },
  required: ["id", "object", "created_at", "output", "usage"],
};
schemas.SocketError = {
  type: "object",
  properties: {
    type: { const: "error" },
    status: { type: "integer", minimum: 400, maximum: 599 },
    error: {
      type: "object",
      properties: { code: { type: "string" }, message: { type: "string" } },
      required: ["code", "message"],
    },
  },
  required: ["type", "status", "error"],
};
schemas.ErrorBody = {
  type: "object",
  properties: { error: { $ref: "#/$defs/ErrorPayload" } },
  required: ["error"],
};

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(published, "open-responses");

export type Shape = "ResponseResource" | "CompactResource" | "SocketError" | "ErrorBody";

/** Validates a value against the published schema and returns the errors. */
export function problemsOf(shape: Shape, value: unknown): readonly string[] {
  return problems(shape, value);
}

/** Validates an event and returns the errors. An event outside the 24 core events is an error as a whole. */
export function eventProblems(event: unknown): readonly string[] {
  const type = isObject(event) ? event["type"] : undefined;
  const name = eventNames.get(type);
  if (name === undefined) return [`${String(type)} is not a core event`];
  return problems(name, event);
}

const eventNames = new Map<unknown, string>(
  Object.keys(schemas)
    .filter((name) => name.endsWith("StreamingEvent"))
    .map((name) => [schemas[name].properties.type.enum[0], name]),
);

function problems(name: string, value: unknown): readonly string[] {
  const validate = ajv.getSchema(`open-responses#/$defs/${name}`);
  if (validate === undefined) throw new Error(`${name} is not in the schema`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${name}${instancePath} ${message}`,
  );
}
