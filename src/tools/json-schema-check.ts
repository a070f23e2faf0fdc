import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../data/json.ts";
import { formatChoices } from "../data/schema-error.ts";

/** Returns the problems of a value, worded for a model to fix them; undefined if the value is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** Throws if the schema itself is invalid. */
export function createSchemaCheck(schema: JsonObject): SchemaCheck {
  sharedCompiler ??= createSchemaCompiler();
  return sharedCompiler.createCheck(schema);
}

let sharedCompiler: SchemaCompiler | undefined;

export interface SchemaCompiler {
  /** Loads the engine for a schema in advance, so that later calls are fast. */
  prepare(schema: JsonObject): void;
  /**
   * Throws if the schema itself is invalid. `subject` names the checked value in problems. Default: "the arguments".
   */
  createCheck(schema: JsonObject, subject?: string): SchemaCheck;
  /** Returns the problems of a schema, as far as they are visible without compiling it. */
  findProblem(schema: JsonObject): string | undefined;
}

/** Compiles schemas without keeping them: a compiled check lives only as long as its user. */
export function createSchemaCompiler(): SchemaCompiler {
  const engines = new Map<Draft, Ajv2020>();
  const selectEngine = (schema: JsonObject): { engine: Ajv2020; rules: JsonObject } => {
    // An `$async` schema returns a promise, which would count as valid.
    const { $schema: declaredDraft, $async: _, ...rules } = schema;
    // In drafts 04 to 07 a list in `items` means `prefixItems`. For every other declared draft the 2020-12 rules apply:
    // the keywords for tool arguments are the same.
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

/** Loaded with the first schema: loading takes 40 ms, which a start without tools should not pay. */
function loadEngine(draft: Draft): Ajv2020 {
  const load = createRequire(import.meta.url);
  const Engine: new (options: object) => Ajv2020 =
    draft === "07" ? load("ajv").Ajv : load("ajv/dist/2020.js").Ajv2020;
  const engine = new Engine({
    // Schemas may have custom formats and keywords; unknown ones are ignored.
    strict: false,
    validateFormats: false,
    allErrors: true,
    // Every object inherits a `constructor`, which is not an argument.
    ownProperties: true,
    // Two tools may have the same schema, including its `$id`.
    addUsedSchema: false,
  });
  // Compiles the meta-schema in advance.
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

function formatError(
  { instancePath, keyword, message, params }: ErrorObject,
  subject: string,
): string {
  const where = instancePath === "" ? subject : instancePath.slice(1).replaceAll("/", ".");
  const extra =
    typeof params.additionalProperty === "string" ? ` (${params.additionalProperty})` : "";
  // The engine separates several types by commas only.
  if (keyword === "type") return `${where} must be ${formatTypes(String(params["type"]))}`;
  return `${where} ${message ?? "is wrong"}${extra}`;
}

/** Formats the accepted types as a choice between words, such as `a string or an object`. */
function formatTypes(types: string): string {
  return formatChoices(types.split(",").map((type) => TYPE_WORDS.get(type) ?? type));
}

/** The types of JSON Schema in words for the model. */
const TYPE_WORDS: ReadonlyMap<string, string> = new Map([
  ["array", "an array"],
  ["boolean", "a boolean"],
  ["integer", "a whole number"],
  ["number", "a number"],
  ["object", "an object"],
  ["string", "a string"],
]);
