import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import { optionsAt, wrongOption } from "../check-options.ts";
import type { Environment } from "../../platform/environment.ts";

/** Variables by name, each with a text or where to find it. */
export type Variables = readonly (readonly [name: string, from: Reference])[];

/** A secret stands in no configuration: only where it is. */
export type Reference =
  | { readonly text: string }
  | { readonly env: string }
  | { readonly file: string };

export function readVariables(value: unknown, path: string): Variables {
  if (value === undefined) return [];
  if (!isObject(value)) throw wrongOption(path, `${path} is no object of variables by name`);
  return Object.entries(value).map(([name, from]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw wrongOption(`${path}.${name}`, `${path}.${name} is no name of a variable`);
    }
    return [name, readReference(from, `${path}.${name}`, name)] as const;
  });
}

export function readReference(value: unknown, path: string, name: string): Reference {
  if (typeof value === "string") {
    if (!SECRET.test(name)) return { text: value };
    const message = `${path} looks like a secret; give it as { env: NAME } or { file: PATH }`;
    throw wrongOption(path, message);
  }
  const { env, file } = optionsAt(value, path, ["env", "file"]);
  if (typeof env === "string" && file === undefined) return { env };
  if (typeof file === "string" && env === undefined) return { file };
  throw wrongOption(path, `${path} wants a text, or one of { env: NAME } and { file: PATH }`);
}

const SECRET = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|^AUTHORIZATION|^COOKIE)$/i;

/** The environment with the variables in it. A reference that leads nowhere is said, never what another leads to. */
export async function withVariables(
  variables: Variables,
  environment: Environment,
  folder: string,
): Promise<Environment> {
  const found = new Map<string, string>();
  for (const [name, from] of variables) {
    found.set(name, await valueOf(name, from, { environment, folder }));
  }
  return { ...environment, ...Object.fromEntries(found) };
}

export interface ReferencePlace {
  readonly environment: Environment;
  /** That paths begin in. */
  readonly folder: string;
}

export async function valueOf(
  name: string,
  from: Reference,
  { environment, folder }: ReferencePlace,
): Promise<string> {
  if ("text" in from) return from.text;
  if ("env" in from) {
    const text = Object.hasOwn(environment, from.env) ? environment[from.env] : undefined;
    if (text !== undefined && text !== "") return text;
    throw missing(name, `the variable ${from.env} is not set`);
  }
  const file = resolve(folder, from.file);
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MOST_BYTES) throw new Error("It holds no secret");
    return (await readFile(file, "utf8")).trim();
  } catch {
    throw missing(name, `${file} cannot be read`);
  }
}

const MOST_BYTES = 65_536;

function missing(name: string, reason: string): SpanlineError {
  const message = `${name} has no value: ${reason}`;
  return new SpanlineError("no_credentials", message, { details: { path: name } });
}
