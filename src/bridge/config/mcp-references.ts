import { isObject } from "../../domain/json.ts";
import type { Given } from "../check-options.ts";
import { readReference, type FoundValue, type Reference } from "./variables.ts";

type Resolve = (reference: Reference, path: string) => unknown;

/**
 * The same settings of MCP servers, a list or by name, with every variable and header read as a reference and put through
 * `resolve`, in their order. Everything else stays as it is, for the check of the settings.
 */
function mapReferences(value: unknown, path: string, resolve: Resolve): unknown {
  if (Array.isArray(value)) {
    return value.map((server: unknown, at) => mapServer(server, `${path}[${at}]`, resolve));
  }
  if (!isObject(value)) return value;
  return mapped(value, (server, name) => mapServer(server, `${path}.${name}`, resolve));
}

function mapServer(server: unknown, path: string, resolve: Resolve): unknown {
  if (!isObject(server)) return server;
  return mapped(server, (part, kind) =>
    kind === "env" || kind === "headers" ? mapPart(part, `${path}.${kind}`, resolve) : part,
  );
}

function mapPart(part: unknown, path: string, resolve: Resolve): unknown {
  if (!isObject(part)) return part;
  return mapped(part, (text, name) => {
    const at = `${path}.${name}`;
    return resolve(readReference(text, at, name), at);
  });
}

function mapped(value: Given, change: (one: unknown, name: string) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one, name)]));
}

/** What a check of the settings sees of a value that is not known yet. */
export function withoutValues(value: unknown, path: string): unknown {
  return mapReferences(value, path, (reference) => ("text" in reference ? reference.text : "-"));
}

export function referencesIn(value: unknown, path: string): readonly Reference[] {
  const found: Reference[] = [];
  mapReferences(value, path, (reference) => found.push(reference));
  return found;
}

export interface Resolved {
  readonly value: unknown;
  readonly secrets: readonly string[];
}

export async function withValues(
  value: unknown,
  path: string,
  find: (path: string, reference: Reference) => Promise<FoundValue>,
): Promise<Resolved> {
  const wanted: Promise<FoundValue>[] = [];
  mapReferences(value, path, (reference, at) => wanted.push(find(at, reference)));
  const found = await Promise.all(wanted);
  const next = found.values();
  return {
    value: mapReferences(value, path, () => next.next().value?.value),
    secrets: found.flatMap(({ secrets }) => secrets),
  };
}
