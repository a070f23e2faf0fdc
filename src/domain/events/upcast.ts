import type { SessionEvent } from "./session-event.ts";
import { EVENT_MANIFEST } from "./event-manifest.ts";
import { isObject } from "../../data/json.ts";

/** Converts the fields of an event from one version to the next. */
export type Upcast = (event: EventFields) => EventFields;

export interface EventFields {
  readonly [name: string]: unknown;
}

export interface EventVersions {
  /** The current version of each event type. */
  readonly manifest: { readonly [type: string]: { readonly version: number } };
  /** Conversion steps per type. The first converts version 1 to 2. */
  readonly upcasts: { readonly [type: string]: readonly Upcast[] };
}

export const EVENT_VERSIONS: EventVersions = { manifest: EVENT_MANIFEST, upcasts: {} };

/** An event from a log, in its stored version. */
export interface StoredEvent {
  readonly type: string;
  readonly version: number;
  readonly event: unknown;
}

/** Whether this version of Spanline can read an event of the stored version. */
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
 * Converts a stored event to the current version. An event from a newer Spanline becomes `provider.unknown` with its
 * raw content. Returns undefined if the value is not an event.
 *
 * Fields are not validated: the log is written by Spanline only.
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

/** Own properties only: a type read from a file may be named `constructor`. */
function readOwn<Value>(table: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
