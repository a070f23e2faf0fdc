import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import type { Dialect } from "../../wire/a2a/dialect.ts";
import { withTaskStream } from "../../wire/a2a/encode-task-stream.ts";
import { readExtensions, TASK_STREAM_EXTENSION } from "../../wire/a2a/extensions.ts";
import { formatValue } from "../../text/format-value.ts";

/**
 * Reads the requested version, without its patch number. Undefined if the header and the parameter of the URL are absent. Throws
 * `VERSION_NOT_SUPPORTED` for other versions.
 */
export function readVersion<Version extends string>(
  request: ServedRequest,
  supported: readonly Version[],
): Version | undefined {
  const query = new URLSearchParams(request.query);
  const text = readHeader(request, "a2a-version") ?? query.get("A2A-Version") ?? "";
  if (text === "") return undefined;
  const [, minor] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(text) ?? [];
  const version = supported.find((known) => known === minor);
  if (version !== undefined) return version;
  const message = `A2A-Version is ${formatValue(text)}: expected ${supported.join(" or ")}`;
  throw new A2aError("VERSION_NOT_SUPPORTED", message);
}

/** Adds the entries of the bridge protocol for a client with their extension. */
export function resolveDialect(request: ServedRequest, dialect: Dialect): Dialect {
  return hasTaskStream(request) ? withTaskStream(dialect) : dialect;
}

/** Confirms the activated extension, in the header of the client's version. */
export function createExtensionHeaders(request: ServedRequest): ServedResponse["headers"] {
  if (!hasTaskStream(request)) return {};
  const isLegacy = readHeader(request, "a2a-extensions") === undefined;
  return { [isLegacy ? "x-a2a-extensions" : "a2a-extensions"]: TASK_STREAM_EXTENSION };
}

function hasTaskStream(request: ServedRequest): boolean {
  const header = readHeader(request, "a2a-extensions") ?? readHeader(request, "x-a2a-extensions");
  return readExtensions(header).has(TASK_STREAM_EXTENSION);
}

/** Reads the cursor of a reconnecting reader. Undefined if the header is absent. */
export function readLastSequence(request: ServedRequest): { readonly lastSequence?: number } {
  const text = readHeader(request, "last-event-id");
  if (text === undefined || text === "") return {};
  const sequence = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(sequence)) return { lastSequence: sequence };
  throw createParamsError(
    `Last-Event-ID is ${formatValue(text)}: expected the id of an event of this stream`,
  );
}
