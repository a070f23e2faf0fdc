import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import { optionsAt, wrongOption } from "../check-options.ts";
import type { Environment } from "../../platform/environment.ts";
import { readTemplate, type TemplatePart } from "./template.ts";

/** Variables by name, each with a text or where to find it. */
export type Variables = readonly Variable[];

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
    return { name, path: at, from: readReference(from, at, name) };
  });
}

export function readReference(value: unknown, path: string, name: string): Reference {
  if (typeof value === "string") {
    const parts = readTemplate(value, path);
    if (parts.some((part) => "env" in part)) return { parts };
    if (!SECRET.test(name)) return { text: parts.map(textOf).join("") };
    const message = `${path} looks like a secret; give it as { env: NAME }, { file: PATH } or a text with \${NAME} in it`;
    throw wrongOption(path, message);
  }
  const { env, file } = optionsAt(value, path, ["env", "file"]);
  if (typeof env === "string" && file === undefined) return { env };
  if (typeof file === "string" && env === undefined) return { file };
  throw wrongOption(path, `${path} wants a text, or one of { env: NAME } and { file: PATH }`);
}

const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|^AUTHORIZATION|^COOKIE)$/i;

function textOf(part: TemplatePart): string {
  return "text" in part ? part.text : "";
}

/** The environment with the variables in it. A reference that leads nowhere is said, never what another leads to. */
export async function withVariables(
  variables: Variables,
  environment: Environment,
  folder: string,
): Promise<Environment> {
  const found = new Map<string, string>();
  for (const { name, path, from } of variables) {
    found.set(name, (await valueOf(path, from, { environment, folder })).value);
  }
  return { ...environment, ...Object.fromEntries(found) };
}

export interface ReferencePlace {
  readonly environment: Environment;
  /** That paths begin in. */
  readonly folder: string;
}

export interface FoundValue {
  readonly value: string;
  /** What of it stood in no configuration. */
  readonly secrets: readonly string[];
}

export async function valueOf(
  path: string,
  from: Reference,
  { environment, folder }: ReferencePlace,
): Promise<FoundValue> {
  const variable = (name: string): string => {
    const text = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (text !== undefined && text !== "") return text;
    throw missing(path, `the variable ${name} is not set`);
  };
  if ("text" in from) return { value: from.text, secrets: [] };
  if ("env" in from) return secret(variable(from.env));
  if ("file" in from) return secret(await contentOf(resolve(folder, from.file), path));
  const texts = from.parts.map((part) => ("env" in part ? variable(part.env) : part.text));
  return {
    value: texts.join(""),
    secrets: texts.filter((_, at) => "env" in (from.parts[at] ?? {})),
  };
}

function secret(value: string): FoundValue {
  return { value, secrets: [value] };
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
