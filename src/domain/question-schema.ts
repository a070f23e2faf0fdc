import { isObject, toJsonText, type JsonObject, type JsonValue } from "../data/json.ts";
import { formatNames, formatUnknownName } from "../text/unknown-name.ts";

/**
 * The JSON schemas which a form can show: an object whose fields are strings, numbers, booleans or choices. The same
 * subset is used by the elicitation of ACP and MCP.
 */
const FIELD_TYPES = ["string", "number", "integer", "boolean", "array"] as const;
type FieldType = (typeof FIELD_TYPES)[number];

const OBJECT_KEYS: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "properties",
  "required",
  "additionalProperties",
]);
const ANNOTATION_KEYS = ["type", "title", "description", "default"];
const FIELD_KEYS: { readonly [Type in FieldType]: readonly string[] } = {
  string: [...ANNOTATION_KEYS, "enum", "oneOf", "minLength", "maxLength", "format"],
  number: [...ANNOTATION_KEYS, "minimum", "maximum"],
  integer: [...ANNOTATION_KEYS, "minimum", "maximum"],
  boolean: ANNOTATION_KEYS,
  array: [...ANNOTATION_KEYS, "items", "minItems", "maxItems"],
};
const LIMIT_KEYS = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];
const MAX_FIELDS = 20;
/** Limit of a schema as JSON, in characters: a request must fit into a line. */
const MAX_SCHEMA_LENGTH = 8000;

/** Returns why a schema cannot be shown as a form. Keywords that `findFormProblem` does not check are refused. */
export function findFormSchemaProblem(schema: JsonObject): string | undefined {
  if (toJsonText(schema).length > MAX_SCHEMA_LENGTH)
    return `"schema" is longer than ${MAX_SCHEMA_LENGTH} characters`;
  const { type, properties, required = [] } = schema;
  const unknown = Object.keys(schema).find((key) => !OBJECT_KEYS.has(key));
  if (unknown !== undefined) return `"schema.${unknown}" is not supported`;
  if (type !== "object" || !isObject(properties))
    return '"schema" is not valid: expected {"type": "object", "properties": {…}}';
  const fields = Object.entries(properties);
  if (fields.length === 0 || fields.length > MAX_FIELDS)
    return `"schema.properties" is not valid: expected 1 to ${MAX_FIELDS} fields`;
  if (!isStringList(required) || required.some((name) => !Object.hasOwn(properties, name)))
    return '"schema.required" is not valid: expected names of properties';
  for (const [name, field] of fields) {
    const problem = findFieldSchemaProblem(field);
    if (problem !== undefined) return `"schema.properties.${name}" is not valid: ${problem}`;
  }
  return undefined;
}

function findFieldSchemaProblem(field: JsonValue): string | undefined {
  if (!isObject(field) || !isFieldType(field["type"]))
    return `expected the type ${FIELD_TYPES.join(", ")}`;
  const { type } = field;
  const unknown = Object.keys(field).find((key) => !FIELD_KEYS[type].includes(key));
  if (unknown !== undefined) return `"${unknown}" is not supported for the type ${type}`;
  const badLimit = LIMIT_KEYS.find((key) => key in field && typeof field[key] !== "number");
  if (badLimit !== undefined) return `"${badLimit}" is not a number`;
  const options = type === "array" ? field["items"] : field;
  const hasChoices = isObject(options) && ("enum" in options || "oneOf" in options);
  if (type === "array" && !hasChoices) return '"items" has no choices: expected "enum" or "oneOf"';
  if (hasChoices && listChoices(options) === undefined) return "its choices are not strings";
  return undefined;
}

/** Returns why an answer does not fit the schema of a form. Undefined if it fits. */
export function findFormProblem(schema: JsonObject, answer: JsonValue): string | undefined {
  if (!isObject(answer)) return "expected an object";
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const unknown = Object.keys(answer).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) {
    const names = Object.keys(properties);
    return formatUnknownName("Key", unknown, { names, where: "in the form" });
  }
  const { required } = schema;
  const missing = isStringList(required)
    ? required.find((name) => !Object.hasOwn(answer, name))
    : undefined;
  if (missing !== undefined) return `"${missing}" is missing`;
  for (const [name, value] of Object.entries(answer)) {
    const field = properties[name];
    const problem = isObject(field) ? findFieldProblem(field, value) : undefined;
    if (problem !== undefined) return `"${name}" is not valid: ${problem}`;
  }
  return undefined;
}

/** Returns why a value does not fit a field of a form. Undefined if it fits. */
export function findFieldProblem(field: JsonObject, value: JsonValue): string | undefined {
  switch (field["type"]) {
    case "string": {
      if (typeof value !== "string") return "expected a string";
      const choices = listChoices(field);
      if (choices !== undefined && !choices.includes(value))
        return `expected ${formatNames(choices)}`;
      return findRangeProblem(value.length, [field["minLength"], field["maxLength"]], "characters");
    }
    case "boolean":
      return typeof value === "boolean" ? undefined : "expected true or false";
    case "array": {
      const { items } = field;
      const choices = isObject(items) ? (listChoices(items) ?? []) : [];
      if (!isStringList(value) || value.some((choice) => !choices.includes(choice)))
        return `expected a list of ${formatNames(choices)}`;
      return findRangeProblem(value.length, [field["minItems"], field["maxItems"]], "choices");
    }
    default: {
      if (typeof value !== "number") return "expected a number";
      if (field["type"] === "integer" && !Number.isInteger(value)) return "expected an integer";
      return findRangeProblem(value, [field["minimum"], field["maximum"]], "");
    }
  }
}

function findRangeProblem(
  value: number,
  [least, most]: readonly (JsonValue | undefined)[],
  unit: string,
): string | undefined {
  if (typeof least === "number" && value < least)
    return `expected at least ${least} ${unit}`.trim();
  if (typeof most === "number" && value > most) return `expected at most ${most} ${unit}`.trim();
  return undefined;
}

/** Returns the values of `enum` or `oneOf`. Undefined if there are none, or one of them is not a string. */
function listChoices({ enum: values, oneOf }: JsonObject): readonly string[] | undefined {
  if (values !== undefined) return isStringList(values) && values.length > 0 ? values : undefined;
  if (!Array.isArray(oneOf) || oneOf.length === 0) return undefined;
  const constants = oneOf.flatMap((choice: JsonValue) => {
    const value = isObject(choice) ? choice["const"] : undefined;
    return typeof value === "string" ? [value] : [];
  });
  return constants.length === oneOf.length ? constants : undefined;
}

function isFieldType(value: JsonValue | undefined): value is FieldType {
  return FIELD_TYPES.some((type) => type === value);
}

function isStringList(value: JsonValue | undefined): value is readonly string[] & JsonValue {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
