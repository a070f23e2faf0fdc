import { isObject } from "../../domain/json.ts";
import { readReference, type Reference } from "./variables.ts";

type Resolve<Value> = (reference: Reference, path: string, name: string) => Value;

/**
 * The same settings of MCP servers, with every variable and header that is a reference read and put through `resolve`.
 * Everything else stays as it is, for the check of the settings.
 */
function mapReferences(value: unknown, path: string, resolve: Resolve<unknown>): unknown {
  if (!isObject(value)) return value;
  return mapped(value, (server, name) =>
    isObject(server)
      ? mapped(server, (part, kind) =>
          (kind === "env" || kind === "headers") && isObject(part)
            ? mapped(part, (text, key) => {
                const at = `${path}.${name}.${kind}.${key}`;
                return resolve(readReference(text, at, key), at, key);
              })
            : part,
        )
      : server,
  );
}

function mapped(
  value: { readonly [name: string]: unknown },
  change: (one: unknown, name: string) => unknown,
): unknown {
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

export async function withValues(
  value: unknown,
  path: string,
  find: (name: string, reference: Reference) => Promise<string>,
): Promise<unknown> {
  const found = new Map<string, string>();
  const wanted: Promise<void>[] = [];
  mapReferences(value, path, (reference, at, name) => {
    wanted.push(find(name, reference).then((text) => void found.set(at, text)));
  });
  await Promise.all(wanted);
  return mapReferences(value, path, (_, at) => found.get(at));
}
