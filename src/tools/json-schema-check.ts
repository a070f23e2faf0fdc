import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../domain/json.ts";

/** Says what is wrong with a value by a JSON Schema, for a model to mend; undefined when nothing is. */
export type SchemaCheck = (value: JsonObject) => string | undefined;

/** Throws when the schema itself is wrong. */
export function jsonSchemaCheck(schema: JsonObject): SchemaCheck {
  // Whatever draft it says it is of: what describes a tool's arguments is the same in all of them.
  const { $schema: _, ...rules } = schema;
  const validate = compiler().compile(rules);
  return (value) => {
    if (validate(value)) return undefined;
    return (validate.errors ?? []).slice(0, MOST_COMPLAINTS).map(complaint).join("; ");
  };
}

const MOST_COMPLAINTS = 5;

let ajv: Ajv2020 | undefined;

/** Loaded when the first schema is: it takes 40 ms that a start without tools should not pay. */
function compiler(): Ajv2020 {
  if (ajv !== undefined) return ajv;
  const loaded: { Ajv2020: new (options: object) => Ajv2020 } = createRequire(import.meta.url)(
    "ajv/dist/2020.js",
  );
  ajv = new loaded.Ajv2020({
    // Schemas have formats and keywords of their own; what is not known does not forbid anything.
    strict: false,
    validateFormats: false,
    allErrors: true,
    // Every object has a `constructor`, which is not the argument of that name.
    ownProperties: true,
    // Two tools may have the same schema, `$id` and all.
    addUsedSchema: false,
  });
  return ajv;
}

function complaint({ instancePath, message, params }: ErrorObject): string {
  const where = instancePath === "" ? "the arguments" : instancePath.slice(1).replaceAll("/", ".");
  const extra =
    typeof params.additionalProperty === "string" ? ` (${params.additionalProperty})` : "";
  return `${where} ${message ?? "is wrong"}${extra}`;
}
