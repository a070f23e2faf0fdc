import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";

const file = new URL("./aigo-models.schema.json", import.meta.url);
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(JSON.parse(readFileSync(file, "utf8")), "aigo-models");

/**
 * Validates a value as AI GO! does and returns the errors. `ModelOutput` is AI GO!'s envelope; `ResponseOutput` is the
 * output of a response.
 */
export function aigoProblems(
  model: "ModelOutput" | "ResponseOutput",
  value: unknown,
): readonly string[] {
  const validate = ajv.getSchema(`aigo-models#/$defs/${model}`);
  if (validate === undefined) throw new Error(`${model} is not in the schema`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
