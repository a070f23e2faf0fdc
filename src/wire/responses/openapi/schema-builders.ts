import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A JSON Schema, limited to the keywords used in the document. */
export type Schema = { readonly [key: string]: unknown };

export function object(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = [],
): Schema {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

export function list(items: Schema, minItems = 0): Schema {
  return { type: "array", items, ...(minItems > 0 && { minItems }) };
}

export function map(additionalProperties: Schema): Schema {
  return { type: "object", additionalProperties };
}

export function string(description: string): Schema {
  return { type: "string", description };
}

export function enumeration(...values: readonly string[]): Schema {
  return { enum: values };
}

export function boolean(description?: string): Schema {
  return { type: "boolean", ...omitUndefined({ description }) };
}

export function count(minimum = 0): Schema {
  return { type: "integer", minimum };
}

export function number(minimum: number, maximum: number): Schema {
  return { type: "number", minimum, maximum };
}

export function nullable(schema: Schema): Schema {
  return { anyOf: [schema, { type: "null" }] };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
