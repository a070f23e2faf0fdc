import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

const file = join(import.meta.dirname, "..", "fixtures", "acp", "shells.schema.json");
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajv.addSchema(JSON.parse(readFileSync(file, "utf8")));

/** The problems of a value about shells, according to the schema. */
export function findShellProblems(name: string, value: unknown): readonly string[] {
  const validate = ajv.getSchema(`shells#/$defs/${name}`);
  if (validate === undefined) throw new Error(`The schema has no ${name}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
