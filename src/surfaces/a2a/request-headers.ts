import type { ServedRequest, ServedResponse } from "../../http/server/http-types.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import type { Dialect, ProtocolVersion } from "../../wire/a2a/dialect.ts";
import { withTaskStream } from "../../wire/a2a/encode-task-stream.ts";
import { readExtensions, TASK_STREAM_EXTENSION } from "../../wire/a2a/extensions.ts";
import { formatValue } from "../../text/format-value.ts";

/**
 * Throws `VERSION_NOT_SUPPORTED` if the client speaks another version than the method. A client may leave the version
 * out.
 */
export function checkVersion(request: ServedRequest, spoken: ProtocolVersion): void {
  const query = new URLSearchParams(request.query);
  const version = readHeader(request, "a2a-version") ?? query.get("A2A-Version") ?? "";
  const expected = spoken === "1.0" ? /^1\.0(?:\.\d+)?$/ : /^0\.3(?:\.\d+)?$/;
  if (version === "" || expected.test(version)) return;
  const message = `A2A-Version is ${formatValue(version)}: expected ${spoken} for this operation`;
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
