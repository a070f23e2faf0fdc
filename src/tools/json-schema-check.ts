import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../data/json.ts";

/** Says what is wrong with a value by a JSON Schema, for a model to mend; undefined when nothing is. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** Throws when the schema itself is wrong. */
export function createSchemaCheck(schema: JsonObject): SchemaCheck {
  sharedCompiler ??= createSchemaCompiler();
  return sharedCompiler.createCheck(schema);
}

let sharedCompiler: SchemaCompiler | undefined;

export interface SchemaCompiler {
  /** Loads what is needed for a schema, so that nothing later takes longer for that. */
  prepare(schema: JsonObject): void;
  /** Throws when the schema itself is wrong. `what` is what it checks, as its complaints call it. */
  createCheck(schema: JsonObject, subject?: string): SchemaCheck;
  /** Says what is wrong with a schema, as far as can be seen without making a check of it. */
  findProblem(schema: JsonObject): string | undefined;
}

/** Makes checks of schemas, and forgets the schemas: what it made lives as long as somebody has it. */
export function createSchemaCompiler(): SchemaCompiler {
  const engines = new Map<Draft, Ajv2020>();
  const selectEngine = (schema: JsonObject): { engine: Ajv2020; rules: JsonObject } => {
    // A schema that checks asynchronously would let everything through for now.
    const { $schema: declaredDraft, $async: _, ...rules } = schema;
    // In the older ones a list of `items` says what `prefixItems` does now. Whatever else it says it is of: what
    // describes a tool's arguments is the same in all of them.
    const draft =
      typeof declaredDraft === "string" && /\/draft-0[4-7]\//.test(declaredDraft)
        ? "07"
        : "2020-12";
    const engine = engines.get(draft) ?? loadEngine(draft);
    engines.set(draft, engine);
    return { engine, rules };
  };
  return {
    prepare: (schema) => void selectEngine(schema),
    createCheck(schema, subject = "the arguments") {
      const { engine, rules } = selectEngine(schema);
      const validate = engine.compile(rules);
      engine.removeSchema(rules);
      return (value) => {
        if (validate(value)) return undefined;
        return formatErrors(validate.errors, subject);
      };
    },
    findProblem(schema) {
      const { engine, rules } = selectEngine(schema);
      if (engine.validateSchema(rules) === true) return undefined;
      return formatErrors(engine.errors, "the schema");
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

function formatErrors(errors: readonly ErrorObject[] | null | undefined, subject: string): string {
  return (errors ?? [])
    .slice(0, MAX_ERRORS)
    .map((error) => formatError(error, subject))
    .join("; ");
}

const MAX_ERRORS = 5;

function formatError({ instancePath, message, params }: ErrorObject, subject: string): string {
  const where = instancePath === "" ? subject : instancePath.slice(1).replaceAll("/", ".");
  const extra =
    typeof params.additionalProperty === "string" ? ` (${params.additionalProperty})` : "";
  return `${where} ${message ?? "is wrong"}${extra}`;
}
