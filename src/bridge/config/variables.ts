import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import { isSecretName } from "../../domain/is-secret-name.ts";
import { isObject } from "../../domain/json.ts";
import { optionsAt, wrongOption } from "../check-options.ts";
import type { Environment } from "../../platform/environment.ts";
import { readTemplate, type TemplatePart } from "./template.ts";

/** Variables by name, each with a text or where to find it. */
export type Variables = readonly Variable[];

/** Also a header, which is named like a variable. */
export interface Variable {
  readonly name: string;
  /** Where it stands in the configuration. */
  readonly path: string;
  readonly from: Reference;
}

/** A secret stands in no configuration: only where it is. */
export type Reference =
  | { readonly text: string }
  | { readonly env: string }
  | { readonly file: string }
  /** A text with variables in it. */
  | { readonly parts: readonly TemplatePart[] };

export function readVariables(value: unknown, path: string): Variables {
  if (value === undefined) return [];
  if (!isObject(value)) throw wrongOption(path, `${path} is no object of variables by name`);
  return Object.entries(value).map(([name, from]) => {
    const at = `${path}.${name}`;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw wrongOption(at, `${at} is no name of a variable`);
    }
    return readVariable(from, at, name);
  });
}

export function readVariable(value: unknown, path: string, name: string): Variable {
  return { name, path, from: readReference(value, path, name) };
}

function readReference(value: unknown, path: string, name: string): Reference {
  if (typeof value === "string") {
    const parts = readTemplate(value, path);
    if (parts.some((part) => "env" in part)) return { parts };
    if (!isSecretName(name)) return { text: parts.map(textOf).join("") };
    const message = `${path} looks like a secret; give it as { env: NAME }, { file: PATH } or a text with \${NAME} in it`;
    throw wrongOption(path, message);
  }
  const { env, file } = optionsAt(value, path, ["env", "file"]);
  if (typeof env === "string" && file === undefined) return { env };
  if (typeof file === "string" && env === undefined) return { file };
  throw wrongOption(path, `${path} wants a text, or one of { env: NAME } and { file: PATH }`);
}

function textOf(part: TemplatePart): string {
  return "text" in part ? part.text : "";
}

export interface FoundEnvironment {
  readonly environment: Environment;
  readonly secrets: readonly string[];
}

/** The environment with the variables in it. A reference that leads nowhere is said, never what another leads to. */
export async function withVariables(
  variables: Variables,
  environment: Environment,
  folder: string,
): Promise<FoundEnvironment> {
  const found = new Map<string, string>();
  const secrets: string[] = [];
  for (const variable of variables) {
    const { value, secrets: more } = await valueOf(variable, { environment, folder });
    found.set(variable.name, value);
    secrets.push(...more);
  }
  return { environment: { ...environment, ...Object.fromEntries(found) }, secrets };
}

export interface ReferencePlace {
  readonly environment: Environment;
  /** That paths begin in. */
  readonly folder: string;
}

export interface FoundValue {
  readonly value: string;
  /** What of it nobody else should see. */
  readonly secrets: readonly string[];
}

export async function valueOf(
  { name, path, from }: Variable,
  { environment, folder }: ReferencePlace,
): Promise<FoundValue> {
  if ("text" in from) return { value: from.text, secrets: [] };
  if ("file" in from) {
    const value = await contentOf(resolve(folder, from.file), path);
    return { value, secrets: [value] };
  }
  const variable = (wanted: string): FoundValue => {
    const value = Object.hasOwn(environment, wanted) ? environment[wanted] : undefined;
    if (value === undefined || value === "") {
      throw missing(path, `the variable ${wanted} is not set`);
    }
    // Folders and the like stay: results are full of them.
    return { value, secrets: isSecretName(name) || isSecretName(wanted) ? [value] : [] };
  };
  if ("env" in from) return variable(from.env);
  const found = from.parts.map((part) =>
    "env" in part ? variable(part.env) : { value: part.text, secrets: [] },
  );
  return {
    value: found.map(({ value }) => value).join(""),
    secrets: found.flatMap(({ secrets }) => secrets),
  };
}

async function contentOf(file: string, path: string): Promise<string> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MOST_BYTES) throw new Error("It holds no secret");
    return (await readFile(file, "utf8")).trim();
  } catch {
    throw missing(path, `${file} cannot be read`);
  }
}

const MOST_BYTES = 65_536;

function missing(path: string, reason: string): SpanlineError {
  const message = `${path} has no value: ${reason}`;
  return new SpanlineError("no_credentials", message, { details: { path } });
}
