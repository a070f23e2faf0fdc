import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { object, optional, record, string, type Schema } from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { isObject } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Environment } from "../../platform/environment.ts";
import { isSecretName } from "../../text/is-secret-name.ts";

/** Variables with their values or references. */
export type Variables = readonly Variable[];

/** An environment variable, a header or an access key. */
export interface Variable {
  readonly name: string;
  /** Path in the configuration. */
  readonly path: string;
  readonly source: Reference;
}

/** A value, or a reference to the place of the value. Secrets are never stored in the configuration itself. */
export type Reference =
  | { readonly text: string }
  | { readonly env: string }
  | { readonly file: string }
  /** A string with variables. */
  | { readonly parts: readonly TemplatePart[] };

export const VARIABLES_SCHEMA: Schema<Variables> = (value, path) => {
  const expected = "an object of variables by name";
  const entries = record((entry) => entry, { name: checkVariableName, expected })(value, path);
  return Object.entries(entries).map(([name, entry]) =>
    readVariable(entry, `${path}.${name}`, name),
  );
};

export function checkVariableName(name: string, path: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throwProblem(path, "is not a valid name of a variable: expected letters, digits and _");
}

export function readVariable(value: unknown, path: string, name: string): Variable {
  return { name, path, source: readReference(value, path, name) };
}

function readReference(value: unknown, path: string, name: string): Reference {
  if (typeof value === "string") {
    const parts = readTemplate(value, path);
    if (parts.some((part) => "env" in part)) return { parts };
    if (!isSecretName(name)) return { text: parts.map(templateText).join("") };
    const fix = "write { env: NAME }, { file: PATH } or a string with ${NAME} in it";
    throwProblem(path, "looks like a secret", fix);
  }
  const { env, file } = isObject(value) ? SOURCE(value, path) : {};
  if (env !== undefined && file === undefined) return { env };
  if (file !== undefined && env === undefined) return { file };
  const expected = "a string, { env: NAME } or { file: PATH }";
  return throwInvalid({ path, value, expected, isSecret: true });
}

const SOURCE = object({ env: optional(string()), file: optional(string()) });

function templateText(part: TemplatePart): string {
  return "text" in part ? part.text : "";
}

export interface ResolvedEnvironment {
  readonly environment: Environment;
  readonly secrets: readonly string[];
}

/**
 * Returns the environment with the variables added. Errors name an unresolved reference, never the value of another.
 */
export async function resolveVariables(
  variables: Variables,
  environment: Environment,
  folder: string,
): Promise<ResolvedEnvironment> {
  const values = new Map<string, string>();
  const secrets: string[] = [];
  for (const variable of variables) {
    const { value, secrets: variableSecrets } = await resolveVariable(variable, {
      environment,
      folder,
    });
    values.set(variable.name, value);
    secrets.push(...variableSecrets);
  }
  return { environment: { ...environment, ...Object.fromEntries(values) }, secrets };
}

export interface ReferenceContext {
  readonly environment: Environment;
  /** Base of relative paths. */
  readonly folder: string;
}

export interface ResolvedValue {
  readonly value: string;
  /** Parts of the value that must be masked in output. */
  readonly secrets: readonly string[];
}

/** Resolves a variable. Throws `no_credentials` if the environment variable is not set or the file cannot be read. */
export async function resolveVariable(
  { name, path, source }: Variable,
  { environment, folder }: ReferenceContext,
): Promise<ResolvedValue> {
  if ("text" in source) return { value: source.text, secrets: [] };
  if ("file" in source) {
    const value = await readSecretFile(resolve(folder, source.file), path);
    return { value, secrets: [value] };
  }
  const variable = (variableName: string): ResolvedValue => {
    const value = Object.hasOwn(environment, variableName) ? environment[variableName] : undefined;
    if (value === undefined || value === "") {
      throw missingValueError(path, `the variable ${variableName} is not set`);
    }
    // Ordinary values, such as folders, are not masked, because tool results are full of them.
    return { value, secrets: isSecretName(name) || isSecretName(variableName) ? [value] : [] };
  };
  if ("env" in source) return variable(source.env);
  const resolvedParts = source.parts.map((part) =>
    "env" in part ? variable(part.env) : { value: part.text, secrets: [] },
  );
  return {
    value: resolvedParts.map(({ value }) => value).join(""),
    secrets: resolvedParts.flatMap(({ secrets }) => secrets),
  };
}

async function readSecretFile(file: string, path: string): Promise<string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new Error("The file is too large or is not a regular file");
    return (await readFile(file, "utf8")).trim();
  } catch {
    throw missingValueError(path, `${file} cannot be read`);
  }
}

const MAX_BYTES = 65_536;

function missingValueError(path: string, reason: string): SpanlineError {
  const message = `${path} has no value: ${reason}`;
  return new SpanlineError("no_credentials", message, { details: { path } });
}

/** A piece of text, or a variable. */
type TemplatePart = { readonly text: string } | { readonly env: string };

/** Parses a string in which `${NAME}` is a variable and `$${` is a literal `${`. */
export function readTemplate(text: string, path: string): readonly TemplatePart[] {
  return text
    .split(/(\$?\$\{[^}]*\}?)/)
    .filter((piece) => piece !== "")
    .map((piece): TemplatePart => {
      if (piece.startsWith("$${")) return { text: piece.slice(1) };
      if (!piece.startsWith("${")) return { text: piece };
      const [, env] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(piece) ?? [];
      if (env !== undefined) return { env };
      const problem = "has a ${ without the name of a variable, as in ${NAME}";
      return throwProblem(path, problem, "write $${ for the characters themselves");
    });
}
