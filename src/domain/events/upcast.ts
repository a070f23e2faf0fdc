import type { SessionEvent } from "./session-event.ts";
import { EVENT_MANIFEST } from "./event-manifest.ts";
import { isObject } from "../../data/json.ts";

/** Reads the fields of one version of an event as those of the next. */
export type Upcast = (event: EventFields) => EventFields;

export interface EventFields {
  readonly [name: string]: unknown;
}

export interface EventVersions {
  /** The version that is written now of each type. */
  readonly manifest: { readonly [type: string]: { readonly version: number } };
  /** For each type the steps from version 1 on: the first reads 1 as 2. */
  readonly upcasts: { readonly [type: string]: readonly Upcast[] };
}

export const EVENT_VERSIONS: EventVersions = { manifest: EVENT_MANIFEST, upcasts: {} };

/** An event of a log, in the version that it was written in. */
export interface StoredEvent {
  readonly type: string;
  readonly version: number;
  readonly event: unknown;
}

/** Whether this version of Spanline knows what an event of that version says. */
export function isSupportedVersion(
  { type, version }: Pick<StoredEvent, "type" | "version">,
  { manifest, upcasts }: EventVersions,
): boolean {
  const current = readOwn(manifest, type)?.version;
  if (current === undefined || version > current) return false;
  const steps = readOwn(upcasts, type)?.length ?? 0;
  return version >= 1 && steps >= current - 1;
}

/**
 * A stored event in today's version. One that a newer Spanline wrote is kept raw; undefined when it is no event at all.
 *
 * The log is our own, so fields are not looked at one by one.
 */
export function readStoredEvent(
  stored: StoredEvent,
  versions: EventVersions,
): SessionEvent | undefined {
  const { type, version, event } = stored;
  if (!isObject(event) || event["type"] !== type) return undefined;
  if (!isSupportedVersion(stored, versions)) {
    return { type: "provider.unknown", what: "event", name: type, raw: { version, event } };
  }
  const steps = readOwn(versions.upcasts, type)?.slice(version - 1) ?? [];
  const read = steps.reduce((fields: EventFields, step) => step(fields), event);
  return isEvent(read, versions) ? read : undefined;
}

function isEvent(
  fields: EventFields,
  { manifest }: EventVersions,
): fields is EventFields & SessionEvent {
  const { type } = fields;
  return typeof type === "string" && readOwn(manifest, type) !== undefined;
}

/** A type from a file may be called `constructor`. */
function readOwn<Value>(table: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
