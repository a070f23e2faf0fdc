import { isObject } from "../../data/json.ts";
import type { UncheckedOptions } from "../../domain/option-reader.ts";
import { readVariable, type ResolvedValue, type Reference, type Variable } from "./variables.ts";

/**
 * Walks the settings of MCP servers, an array or an object by name. Yields every environment variable and header,
 * receives its value, and returns the settings with these values. All other settings are unchanged and are validated
 * later.
 */
type Walk = Generator<Variable, unknown, unknown>;

function* walkServers(value: unknown, path: string): Walk {
  if (Array.isArray(value)) {
    const servers: unknown[] = [];
    for (const [at, server] of value.entries()) {
      servers.push(yield* walkServer(server, `${path}[${at}]`));
    }
    return servers;
  }
  if (!isObject(value)) return value;
  return yield* walkMembers(value, (server, name) => walkServer(server, `${path}.${name}`));
}

function* walkServer(server: unknown, path: string): Walk {
  if (!isObject(server)) return server;
  return yield* walkMembers(server, (part, kind) => walkPart(part, kind, `${path}.${kind}`));
}

function* walkPart(part: unknown, kind: string, path: string): Walk {
  if (!isObject(part) || (kind !== "env" && kind !== "headers")) return part;
  return yield* walkMembers(part, function* (member, name): Walk {
    return yield readVariable(member, `${path}.${name}`, name);
  });
}

function* walkMembers(
  value: UncheckedOptions,
  walk: (member: unknown, name: string) => Walk,
): Walk {
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    members.push([name, yield* walk(member, name)]);
  }
  return Object.fromEntries(members);
}

/** Replaces unresolved references by a placeholder, so the settings can be validated before the values are known. */
export function maskReferences(value: unknown, path: string): unknown {
  const walk = walkServers(value, path);
  let step = walk.next();
  while (step.done !== true) {
    const { source } = step.value;
    step = walk.next("text" in source ? source.text : "-");
  }
  return step.value;
}

export function listReferences(value: unknown, path: string): readonly Reference[] {
  return [...walkServers(value, path)].map(({ source: from }) => from);
}

export interface ResolvedServers {
  readonly value: unknown;
  readonly secrets: readonly string[];
}

/** Resolves all references with `find`. Returns the settings with their values, and the secrets among them. */
export async function resolveReferences(
  value: unknown,
  path: string,
  find: (variable: Variable) => Promise<ResolvedValue>,
): Promise<ResolvedServers> {
  const secrets: string[] = [];
  const walk = walkServers(value, path);
  let step = walk.next();
  while (step.done !== true) {
    const resolved = await find(step.value);
    secrets.push(...resolved.secrets);
    step = walk.next(resolved.value);
  }
  return { value: step.value, secrets };
}
