import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../domain/json.ts";

/** Says what is wrong with a value by a JSON Schema, for a model to mend; undefined when nothing is. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** Throws when the schema itself is wrong. */
export function jsonSchemaCheck(schema: JsonObject): SchemaCheck {
  shared ??= schemaCompiler();
  return shared.check(schema);
}

let shared: SchemaCompiler | undefined;

export interface SchemaCompiler {
  /** Loads what is needed for a schema, so that nothing later takes longer for that. */
  prepareFor(schema: JsonObject): void;
  /** Throws when the schema itself is wrong. `what` is what it checks, as its complaints call it. */
  check(schema: JsonObject, what?: string): SchemaCheck;
  /** Says what is wrong with a schema, as far as can be seen without making a check of it. */
  problemWith(schema: JsonObject): string | undefined;
}

/** Makes checks of schemas, and forgets the schemas: what it made lives as long as somebody has it. */
export function schemaCompiler(): SchemaCompiler {
  const engines = new Map<Draft, Ajv2020>();
  const engineFor = (schema: JsonObject): { engine: Ajv2020; rules: JsonObject } => {
    // A schema that checks asynchronously would let everything through for now.
    const { $schema: said, $async: _, ...rules } = schema;
    // In the older ones a list of `items` says what `prefixItems` does now. Whatever else it says it is of: what
    // describes a tool's arguments is the same in all of them.
    const draft = typeof said === "string" && /\/draft-0[4-7]\//.test(said) ? "07" : "2020-12";
    const engine = engines.get(draft) ?? loadEngine(draft);
    engines.set(draft, engine);
    return { engine, rules };
  };
  return {
    prepareFor: (schema) => void engineFor(schema),
    check(schema, what = "the arguments") {
      const { engine, rules } = engineFor(schema);
      const validate = engine.compile(rules);
      engine.removeSchema(rules);
      return (value) => {
        if (validate(value)) return undefined;
        return complaints(validate.errors, what);
      };
    },
    problemWith(schema) {
      const { engine, rules } = engineFor(schema);
      if (engine.validateSchema(rules) === true) return undefined;
      return complaints(engine.errors, "the schema");
    },
  };
}

type Draft = "07" | "2020-12";

/** Loaded when the first schema is: it takes 40 ms that a start without tools should not pay. */
function loadEngine(draft: Draft): Ajv2020 {
  const load = createRequire(import.meta.url);
  const Engine: new (options: object) => Ajv2020 =
    draft === "07" ? load("ajv").Ajv : load("ajv/dist/2020.js").Ajv2020;
  const engine = new Engine({
    // Schemas have formats and keywords of their own; what is not known does not forbid anything.
    strict: false,
    validateFormats: false,
    allErrors: true,
    // Every object has a `constructor`, which is not the argument of that name.
    ownProperties: true,
    // Two tools may have the same schema, `$id` and all.
    addUsedSchema: false,
  });
  // The schema of schemas is compiled with the first one.
  void engine.validateSchema({});
  return engine;
}

function complaints(errors: readonly ErrorObject[] | null | undefined, what: string): string {
  return (errors ?? [])
    .slice(0, MOST_COMPLAINTS)
    .map((error) => complaint(error, what))
    .join("; ");
}

const MOST_COMPLAINTS = 5;

function complaint({ instancePath, message, params }: ErrorObject, what: string): string {
  const where = instancePath === "" ? what : instancePath.slice(1).replaceAll("/", ".");
  const extra =
    typeof params.additionalProperty === "string" ? ` (${params.additionalProperty})` : "";
  return `${where} ${message ?? "is wrong"}${extra}`;
}
